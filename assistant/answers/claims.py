"""What a sentence claims, in the pieces that can be checked: ranks, hosts, numbers, error names, quotations.

A claim is a piece of text that a reader would take for a fact of the log. Words of the field, advice and plain prose
claim nothing. The extraction errs on the side of claims where wrong answers are wrong: who, how often, which error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from assistant.answers.language import COMMANDS, FIELD, NUMBERS

CITATION = re.compile(r"\[([A-Za-z][^\[\]\n]{0,1000})\]")
_ID = re.compile(r"(?:[EST]\d{1,6}|[^\s,;\[\]]+:\d{1,12})")


class Sort(StrEnum):
    """What a claim is about; decides how it is looked up."""

    RANK = "rank"
    HOST = "host"
    NUMBER = "number"
    NAME = "name"
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


_RANKS = re.compile(
    r"(?i)\branks?[\s_-]*((?:\d{1,6}(?:\s*(?:-|\u2013|to|through)\s*\d{1,6})?(?:\s*(?:,|and|or|&|/)\s*)?)+)"
)
_SPAN = re.compile(r"(\d{1,6})(?:\s*(?:-|\u2013|to|through)\s*(\d{1,6}))?")
_QUOTE = re.compile(r"`+([^`\n]{1,400})`+|[\"\u201c\u201e]([^\"\u201c\u201d\n]{3,400})[\"\u201d\u201c]")
_NUMBER = re.compile(
    r"(?<![\w.,:/-])[-+]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"(?:\s?(%|ms|milliseconds?|s|sec|seconds?|min|minutes?|h|hours?|days?|[KMGT]i?B|bytes?))?(?![\w])"
)
_WORD_NUMBER = re.compile(r"(?i)\b(" + "|".join(NUMBERS) + r")\b(?!-)")
_NAME = re.compile(
    r"\b(?:[A-Za-z_][\w]*(?:Error|Exception|Interrupt|Warning|Timeout|Exit)\b"  # class names
    r"|SIG[A-Z]{2,6}\b|[A-Z][A-Z0-9]*_[A-Z0-9_]+\b"  # signals and constants
    r"|S?Xid \d{1,6}\b|E[A-Z]\d{4}\b|[A-Z]{2,6}-?\d{3,6}\b"  # codes
    r"|[a-z][a-z0-9]*_[a-z0-9_]+(?:\(\))?"  # functions and variables
    r"|[\w./-]*\w\.(?:py|log|err|out|json|txt|cpp|cc|cu|so|pt|bin|yaml|safetensors)\b)"  # files
)
_HOSTLIKE = re.compile(r"(?<![\w./:=-])[A-Za-z]+(?:-[A-Za-z0-9]+)*-?[A-Za-z]*\d[\w-]*(?:\.[a-z][\w-]*)*(?![\w/:=(-])")
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
    bare = CITATION.sub(lambda found: " " if citations(found[0]) else found[0], sentence)
    found: list[Claim] = []
    bare = _take(bare, _QUOTE, _quotes, found)
    bare = _take(bare, _RANKS, _ranks, found)
    bare = _take(bare, _CAUSE, _names, found)
    bare = _take(bare, _NAME, _names, found)
    bare = _take_hosts(bare, hosts, found)
    bare = _take(bare, _HOSTLIKE, _hosts, found)
    bare = _take(_without_list_number(bare), _NUMBER, _numbers, found)
    _take(bare, _WORD_NUMBER, _word_numbers, found)
    return list(dict.fromkeys(found))


def _take(text: str, regex: re.Pattern[str], read: object, found: list[Claim]) -> str:
    """Reads all matches as claims and removes them, so that nothing is claimed twice."""
    assert callable(read)
    for match in regex.finditer(text):
        found.extend(read(match))
    return regex.sub(" ", text)


def _take_hosts(text: str, hosts: Iterable[str], found: list[Claim]) -> str:
    for host in sorted(hosts, key=len, reverse=True):
        regex = re.compile(rf"(?<![\w-]){re.escape(host)}(?![\w-])", re.IGNORECASE)
        if regex.search(text):
            found.append(Claim(Sort.HOST, host, host.lower()))
            text = regex.sub(" ", text)
    return text


def _ranks(match: re.Match[str]) -> Iterator[Claim]:
    for span in _SPAN.finditer(match[1]):
        first, last = int(span[1]), int(span[2] or span[1])
        for rank in range(first, min(last, first + 4096) + 1):
            yield Claim(Sort.RANK, match[0].strip(" ,"), str(rank))


def _quotes(match: re.Match[str]) -> Iterator[Claim]:
    text = next(part for part in match.groups() if part is not None).strip()
    if not is_command(text) and len(text) > 1:
        yield Claim(Sort.QUOTE, text, text.lower())


def is_command(text: str) -> bool:
    """Whether a text is a command line, a setting or a comment of such: advice, and no quotation of a log."""
    words = text.removeprefix("$ ").split()
    return bool(words) and (
        words[0] in COMMANDS or words[0] == "#" or re.match(r"[A-Z][A-Z0-9_]+=", words[0]) is not None
    )


def _names(match: re.Match[str]) -> Iterator[Claim]:
    yield Claim(Sort.NAME, match[0], match[0].lower().removesuffix("()"))


def _hosts(match: re.Match[str]) -> Iterator[Claim]:
    if match[0].lower() not in FIELD:
        yield Claim(Sort.NAME, match[0], match[0].lower())


def _numbers(match: re.Match[str]) -> Iterator[Claim]:
    yield Claim(Sort.NUMBER, match[0].strip(), match[1].replace(",", ""), (match[2] or "").strip())


def _word_numbers(match: re.Match[str]) -> Iterator[Claim]:
    yield Claim(Sort.NUMBER, match[0], str(NUMBERS[match[0].lower()]))


def _without_list_number(text: str) -> str:
    return re.sub(r"^\s*(?:\d{1,3}[.)]|[-*+]|#{1,6})\s", " ", text)
