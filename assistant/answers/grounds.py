"""What cited evidence carries: its text, ranks, hosts, times and numbers, ready to be asked about a claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from assistant.answers.claims import Claim, Sort
from assistant.answers.language import NUMBERS, SIGNALS, plain_text
from assistant.answers.notions import load_notions
from assistant.answers.quantities import NODES, PLAIN, RANKS, TIME, Quantity, agree, quantities, quantity
from assistant.case.models import Evidence
from assistant.tools.desk import Shown
from assistant.tools.models import ToolResult

_SPACES = re.compile(r"\s+")
_RANKS = re.compile(
    r"(?i)(?<!local_)(?<!local )(?<![a-z0-9])ranks?['\"]?[\s_:=\[#-]{0,3}"
    r"((?:\d{1,6}(?:\s*(?:-|\u2013)\s*\d{1,6})?(?:\s*(?:,|and|or|&)\s*)?)+)|\[rank(\d{1,6})\]|\[default(\d{1,6})\]:?"
)
_SPAN = re.compile(r"(\d{1,6})(?:\s*(?:-|\u2013)\s*(\d{1,6}))?")
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?Z?|\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?")
_PLACE = re.compile(r"(?:^|(?<=\s))[\w./@+!-]+:(\d{1,12})(?=[\s|)]|$)|\[[EST]\d{1,6}(?:, [EST]\d{1,6})*\]")
_IN_WORDS = re.compile(rf"(?i)\b(?:{'|'.join(word for word in NUMBERS if word.isascii())})\b")
_ELLIPSIS = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\])\s*")
_PAIRED = 30
"""Cited lines whose distances in time are worked out."""
_BLAMING = ("Suspect:", "Cause:", "Further failure:", "Attempt ")


@dataclass(frozen=True, slots=True)
class Grounds:
    """The cited evidence, as it is asked about claims."""

    text: str
    """Everything cited, in lower case, white space as single spaces."""
    ranks: frozenset[int]
    hosts: frozenset[str]
    quantities: frozenset[Quantity]
    numbers: frozenset[float]
    """Bare numbers and counts, which a sentence may name otherwise."""
    lines: frozenset[int]
    """Line numbers of what is cited."""
    evidence: tuple[Evidence, ...]
    """The log lines that are cited, or shown by a cited tool."""
    rows: tuple[str, ...]
    """What cited tools have said."""

    def carry(self, claim: Claim, placed: bool = False) -> bool:
        """Whether the evidence says what is claimed. `placed`: a number that is said to be one of a line."""
        match claim.sort:
            case Sort.RANK:
                return int(claim.value) in self.ranks
            case Sort.HOST:
                return claim.value in self.hosts or _word_in(claim.value, self.text)
            case Sort.NUMBER:
                return self._measured(claim) or (placed and claim.value.isdecimal() and int(claim.value) in self.lines)
            case Sort.TIME:
                return self._timed(claim.value)
            case Sort.NOTION:
                return load_notions()[claim.value].seen.search(self.text) is not None
            case Sort.QUOTE:
                return self._quoted(claim.value)
        return self._named(claim.value)

    def _named(self, name: str) -> bool:
        if _word_in(name, self.text) or _word_in(name.replace(":", ""), self.text.replace(":", "")):
            return True
        number = SIGNALS.get(name)
        forms = (
            ()
            if number is None
            else (f"signal {number}", f"exitcode: -{number}", f"exit code -{number}", f"{128 + number}")
        )
        return any(_word_in(form, self.text) for form in forms)

    def _quoted(self, quote: str) -> bool:
        """Each part of a quotation between ellipses stands in the text, in their order."""
        at = 0
        for part in filter(None, map(_plain, _ELLIPSIS.split(quote.rstrip(".,;:!?")))):
            at = self.text.find(part, at)
            if at < 0:
                return False
            at += len(part)
        return True

    def _timed(self, value: str) -> bool:
        forms = {value, value.replace(" ", "t", 1), value.replace("t", " ", 1), value.rstrip("0")}
        return any(re.search(rf"(?<!\d){re.escape(form)}", self.text) for form in forms if form)

    def _measured(self, claim: Claim) -> bool:
        wanted = quantity(claim.value, claim.unit, claim.counted)
        if any(agree(wanted, seen) for seen in self.quantities):
            return True
        if wanted.dimension in (RANKS, NODES) or (wanted.dimension == PLAIN and not claim.unit):
            return wanted.value in self.numbers
        return False


def grounds_of(
    cited: Iterable[str],
    shown: Shown,
    results: Mapping[str, ToolResult],
    *,
    hosts: Iterable[str] = (),
    blaming: bool = False,
) -> tuple[Grounds, list[str]]:
    """What the cited ids carry, and those that do not exist or were not shown.

    Args:
        hosts: node names, whose digits count nothing.
        blaming: leave out what a tool says of those whom the case does not blame.
    """
    lines: list[Evidence] = []
    rows: list[str] = []
    unknown: list[str] = []
    for name in cited:
        if (line := shown.get(name)) is not None:
            lines.append(line)
        elif (result := results.get(name)) is not None:
            rows += _blamable(result) if blaming else result.text.splitlines()
            lines += () if blaming else result.evidence
        else:
            unknown.append(name)
    return _grounds(lines, rows, _any_of(hosts)), unknown


def _blamable(result: ToolResult) -> list[str]:
    rows = result.text.splitlines()
    if result.tool == "overview":
        return [row for row in rows if row.startswith(_BLAMING)]
    return [] if any(row.startswith("Not blamed") for row in rows[:2]) else rows


def _grounds(lines: list[Evidence], rows: list[str], named: re.Pattern[str]) -> Grounds:
    unique = list({(item.source, item.line): item for item in lines}.values())
    texts = [plain_text(item.text) for item in unique]
    rows = [plain_text(row) for row in rows]
    places = [f"{item.source}:{item.line} {item.time or ''}" for item in unique]
    ranks = {item.rank for item in unique if item.rank is not None}
    hosts = {item.node.lower() for item in unique if item.node}
    seen = {found for text in (*texts, *rows) for found in quantities(_stripped(named.sub(" ", text)))}
    return Grounds(
        text=_plain("\n".join([*rows, *texts, *places])),
        ranks=frozenset(ranks | {rank for text in (*texts, *rows) for group in _groups(text) for rank in group}),
        hosts=frozenset(hosts),
        quantities=frozenset({*seen, *_counts(unique, [*texts, *rows], ranks, hosts), *_distances(unique)}),
        numbers=frozenset(found.value for found in seen if found.dimension in (PLAIN, RANKS, NODES)),
        lines=frozenset([*(item.line for item in unique), *_line_numbers(rows)]),
        evidence=tuple(unique),
        rows=tuple(rows),
    )  # fmt: skip


def _any_of(hosts: Iterable[str]) -> re.Pattern[str]:
    names = sorted(map(re.escape, hosts), key=lambda name: (-len(name), name))
    return re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(names) or '(?!)'})(?![\w-])", re.ASCII)


def _line_numbers(rows: Iterable[str]) -> Iterator[int]:
    yield from (int(found[1]) for row in rows for found in _PLACE.finditer(row) if found[1])


def _stripped(text: str) -> str:
    """A text without the numbers that stand for places, ranks and times: they are looked up by themselves."""
    bare = _RANKS.sub(" rank ", _STAMP.sub(" ", _PLACE.sub(" ", text)))
    return _IN_WORDS.sub(lambda found: str(NUMBERS[found[0].lower()]), bare)


def _counts(lines: list[Evidence], texts: list[str], ranks: set[int], hosts: set[str]) -> Iterator[Quantity]:
    """How many ranks and nodes are cited or listed, how many lines: a sentence may count them."""
    yield from (
        Quantity(dimension, float(count)) for dimension, count in ((RANKS, len(ranks)), (NODES, len(hosts))) if count
    )
    yield from (Quantity(RANKS, float(len(group))) for text in texts for group in _groups(text) if len(group) > 1)
    for text in texts:
        if (named := re.search(r"(?:Nodes [a-z ]+: |; )((?:[\w.-]+, )+[\w.-]+)", text)) is not None:
            yield Quantity(NODES, float(len(named[1].split(", "))))
    if len(lines) > 1:
        yield Quantity(PLAIN, float(len(lines)))


def _distances(lines: list[Evidence]) -> Iterator[Quantity]:
    """Seconds between the cited lines."""
    times = sorted(moment for item in lines[:_PAIRED] if (moment := _moment(item.time)) is not None)
    for one, other in combinations(times, 2):
        yield Quantity(TIME, other - one)


def _moment(time: str | None) -> float | None:
    try:
        return datetime.fromisoformat(time).timestamp() if time else None
    except ValueError:
        return None


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip().lower()


def _groups(text: str) -> Iterator[set[int]]:
    """The ranks of each place in the text that names some."""
    for match in _RANKS.finditer(text):
        group: set[int] = set()
        for span in _SPAN.finditer(match[1] or match[2] or match[3]):
            first, last = int(span[1]), int(span[2] or span[1])
            group |= set(range(first, min(last, first + 65_536) + 1))
        yield group


def _word_in(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text, re.ASCII) is not None
