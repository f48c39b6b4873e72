"""What a sentence claims, in the pieces that can be checked: ranks, hosts, numbers, times, error names, quotations.

A claim is a piece of text that a reader would take for a fact of the log. Words of the field, advice and plain prose
claim nothing. The extraction errs on the side of claims where wrong answers are wrong: who, how often, which error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from assistant.answers.language import COMMANDS, FIELD, NEGATION, NUMBERS, plain_text
from assistant.answers.notions import load_notions
from assistant.answers.quantities import MEASURED, UNIT

CITATION = re.compile(r"\[([A-Za-z][^\[\]\n]{0,1000})\]")
_ID = re.compile(r"(?:[EST]\d{1,6}|[^\s,;\[\]]+:\d{1,12})")


WINDOW, OVERLAP = 3_000, 500
"""Characters that are read at once; a sentence is rarely longer, and no quotation that is checked is."""


class Sort(StrEnum):
    """What a claim is about; decides how it is looked up."""

    RANK = "rank"
    HOST = "host"
    NUMBER = "number"
    TIME = "time"
    NAME = "name"
    NOTION = "notion"
    """A kind of failure, a party or a state in words, such as `out of memory`: `knowledge/notions.yaml`."""
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable piece of a sentence."""

    sort: Sort
    text: str
    """As it stands in the sentence."""
    value: str
    """As it is looked up: `5` for `rank 5`, the lower-case text for names and quotations."""
    unit: str = ""
    counted: str = ""
    """What a number counts, ranks or nodes."""


_AND = r"\s*(?:,|and|or|&|/|und|oder|sowie|、|和|与|及|或)\s*"
_TO = r"\s*(?:-|\u2013|\u2014|~|\.\.|to|through|bis|到|至)\s*"
_RANK = r"(?:ranks?|Rangs?|R[aä]ngen?|Ränge|进程|秩)"
_ONE = rf"\d{{1,6}}(?:{_TO}\d{{1,6}})?"
_MANY = rf"{_ONE}(?:{_AND}(?:{_RANK}\s*)?{_ONE}(?!\s*(?:{_RANK}|nodes?|times)))*"
_RANKS = re.compile(
    rf"(?i)(?<![A-Za-z0-9_-]){_RANK}(?:\s+(?:no\.?|number|Nr\.?))?[\s_#:=-]*(?P<many>{_MANY})(?![\w.])", re.ASCII
)
_RANKS_AFTER = re.compile(r"(?i)(?<![\w.])(?P<many>\d{1,6})(?:\s*号\s*(?:rank|进程)|(?:st|nd|rd|th) rank)", re.ASCII)
_RANK_WORD = re.compile(rf"(?i)\b(?:rank|Rang)\s+(?P<many>zero|one|null|eins|{'|'.join(NUMBERS)})\b")
_LOCAL_RANK = re.compile(r"(?i)\blocal[\s_-]?ranks?[\s_#:=-]*(\d{1,6})")
_SPAN = re.compile(rf"(\d{{1,6}})(?:{_TO}(\d{{1,6}}))?")
QUOTE = re.compile(
    r"`+([^`\n]{1,400})`+|[\"\u201c\u201e\u201f\u00ab]([^\"\u201c\u201d\u00bb\n]{3,400})[\"\u201d\u201c\u00bb]"
    r"|[\u300c\u300e]([^\u300d\u300f\n]{2,400})[\u300d\u300f]"
)
_WORD_NUMBER = re.compile(
    rf"(?i)(?<![A-Za-z-])(?P<word>{'|'.join(NUMBERS)})\b(?!-)(?:\s+(?P<unit>{UNIT})\b)?"
    r"(?P<counted>\s+(?:other |further |affected |anderen? )?"
    r"(?:ranks?|Ränge|nodes?|hosts?|machines?|Knoten)\b)?"
)
_CHINESE_NUMBER = re.compile(
    r"(?P<word>[两二三四五六七八九十])(?=\s*[个次台块条])\s*[个次台块条]?(?P<counted>\s*(?:其他|的)*\s*(?:ranks?|节点|进程))?"
)
_STAMP = re.compile(
    r"(?<![\d:.])(?:\d{4}-\d{2}-\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?Z?)?"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(?![\d:])"
)
_DOTTED = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}(?::\d{1,5})?(?![\w])", re.ASCII)
_NAME = re.compile(
    r"\b(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Warning|Timeout|Exit|NotMet)\b"  # class names
    r"|SIG[A-Z]{2,6}\b|[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|E[A-Z]{4,14}\b(?<!ERROR)(?<!ERRORS)"  # signals, constants, errno
    r"|S?Xid:? \d{1,6}\b|E[A-Z]\d{4}\b|[A-Z]{2,6}-?\d{3,6}\b|(?i:errno)[ :]{1,2}\d{1,3}\b"  # codes
    r"|[a-z][a-z0-9]*_[a-z0-9_]+(?:\(\))?"  # functions and variables
    r"|[\w./-]*\w\.(?:py|log|err|out|json|txt|cpp|cc|cu|so|pt|bin|yaml|safetensors)\b)",  # files
    re.ASCII,
)
_HOSTLIKE = re.compile(
    r"(?<![\w./:=-])[A-Za-z]+(?:-[A-Za-z0-9]+)*-?[A-Za-z]*\d[\w-]*(?:\.[a-z][\w-]*)*(?![\w/:=(-])", re.ASCII
)
_HOST_AFTER = re.compile(r"(?i)\b(?:node|host|machine|Knoten|Rechner|节点)\s+([A-Za-z][\w.]*-[\w.-]+)", re.ASCII)
_CAUSE = re.compile(
    r"\b(?:hardware|network|collective|process|memory|storage|checkpoint|data|numerics|code|config|launch|scheduler|"
    r"platform|performance)\.[a-z_]+\b"
)


def citations(sentence: str) -> tuple[str, ...]:
    """Ids and places that a sentence cites, in order, each once."""
    inside = [part.strip() for found in CITATION.finditer(sentence) for part in re.split(r"[,;]", found[1])]
    return tuple(dict.fromkeys(part for part in inside if _ID.fullmatch(part)))


def claims(sentence: str, hosts: Iterable[str]) -> list[Claim]:
    """The claims of a sentence. `hosts` are the node names of the case."""
    bare = CITATION.sub(lambda found: " " if citations(found[0]) else found[0], plain_text(sentence))
    denied = NEGATION.search(bare) is not None
    return list(dict.fromkeys(claim for part in _windows(bare) for claim in _in_part(part, hosts, denied=denied)))


def unquoted(text: str) -> str:
    """A sentence without what it quotes: that was said by others."""
    return "".join(QUOTE.sub(" ", text[at : at + WINDOW]) for at in range(0, len(text), WINDOW))


def _windows(text: str) -> Iterator[str]:
    """The text in parts that overlap, so that no expression runs over a hostile text at once."""
    for start in range(0, max(1, len(text)), WINDOW - OVERLAP):
        yield text[start : start + WINDOW]


def _in_part(bare: str, hosts: Iterable[str], *, denied: bool) -> list[Claim]:
    found: list[Claim] = []
    for regex, read in ((QUOTE, _quotes), (_LOCAL_RANK, _locals), (_RANKS, _ranks), (_RANKS_AFTER, _ranks),
                        (_RANK_WORD, _rank_words), (_STAMP, _times), (_DOTTED, _names), (_CAUSE, _names),
                        (_NAME, _names)):  # fmt: skip
        bare = _take(bare, regex, read, found)
    bare = _take_hosts(bare, hosts, found)
    bare = _take(bare, _HOST_AFTER, _hosts, found)
    bare = _take(bare, _HOSTLIKE, _hosts, found)
    bare = _take(_without_list_number(bare), MEASURED, _numbers, found)
    bare = _take(bare, _WORD_NUMBER, _word_numbers, found)
    bare = _take(bare, _CHINESE_NUMBER, _word_numbers, found)
    return found if denied else [*found, *_notions(bare)]


def _take(
    text: str, regex: re.Pattern[str], read: Callable[[re.Match[str]], Iterable[Claim]], found: list[Claim]
) -> str:
    """Reads all matches as claims and removes them, so that nothing is claimed twice."""
    for match in regex.finditer(text):
        found.extend(read(match))
    return regex.sub(" ", text)


def _take_hosts(text: str, hosts: Iterable[str], found: list[Claim]) -> str:
    for host in sorted(hosts, key=len, reverse=True):
        regex = re.compile(rf"(?<![\w-]){re.escape(host)}(?![\w-])", re.IGNORECASE | re.ASCII)
        if regex.search(text):
            found.append(Claim(Sort.HOST, host, host.lower()))
            text = regex.sub(" ", text)
    return text


def _ranks(match: re.Match[str]) -> Iterator[Claim]:
    for span in _SPAN.finditer(match["many"]):
        first, last = int(span[1]), int(span[2] or span[1])
        for rank in range(first, min(last, first + 4096) + 1):
            yield Claim(Sort.RANK, match[0].strip(" ,"), str(rank))


def _rank_words(match: re.Match[str]) -> Iterator[Claim]:
    word = match["many"].lower()
    low = {"zero": 0, "null": 0, "one": 1, "eins": 1}
    yield Claim(Sort.RANK, match[0], str(low[word] if word in low else NUMBERS[word]))


def _locals(match: re.Match[str]) -> Iterator[Claim]:
    yield Claim(Sort.NUMBER, match[0], match[1])


def _quotes(match: re.Match[str]) -> Iterator[Claim]:
    text = next(part for part in match.groups() if part is not None).strip()
    if not is_command(text) and len(text) > 1:
        yield Claim(Sort.QUOTE, text, text.lower())


def is_command(text: str) -> bool:
    """Whether a text is a command line, a setting or a comment of such: advice, and no quotation of a log."""
    words = text.removeprefix("$ ").split()
    return bool(words) and (
        words[0] in COMMANDS or words[0] == "#" or re.match(r"[A-Z][A-Z0-9_]+=|--[a-z]", words[0]) is not None
    )


def _times(match: re.Match[str]) -> Iterator[Claim]:
    yield Claim(Sort.TIME, match[0], match[0].replace(",", ".").lower().rstrip("z"))


def _names(match: re.Match[str]) -> Iterator[Claim]:
    yield Claim(Sort.NAME, match[0], match[0].lower().removesuffix("()"))


def _hosts(match: re.Match[str]) -> Iterator[Claim]:
    name = match[match.lastindex or 0]
    if name.lower() not in FIELD:
        yield Claim(Sort.NAME, name, name.lower())


def _numbers(match: re.Match[str]) -> Iterator[Claim]:
    yield Claim(
        Sort.NUMBER, match[0].strip(), match["number"], (match["unit"] or "").strip(), (match["counted"] or "").strip()
    )


def _word_numbers(match: re.Match[str]) -> Iterator[Claim]:
    parts = match.groupdict()
    number, unit, counted = NUMBERS[match["word"].lower()], parts.get("unit") or "", parts.get("counted") or ""
    yield Claim(Sort.NUMBER, match[0], str(number), unit.strip(), counted.strip())


def _notions(text: str) -> Iterator[Claim]:
    for name, kind in load_notions().items():
        if found := kind.said.search(text):
            yield Claim(Sort.NOTION, found[0], name)


def _without_list_number(text: str) -> str:
    return re.sub(r"^\s*(?:\d{1,3}[.)]|[-*+]|#{1,6})\s", " ", text)
