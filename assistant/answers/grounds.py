"""What cited evidence carries: its text, ranks, hosts and numbers, ready to be asked about a claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assistant.answers.claims import Claim, Sort
from assistant.answers.language import SIGNALS
from assistant.case.models import Evidence
from assistant.tools.desk import Shown
from assistant.tools.models import ToolResult

_SPACES = re.compile(r"\s+")
_RANKS = re.compile(
    r"(?i)\branks?['\"]?[\s_:=\[#-]{0,3}((?:\d{1,6}(?:\s*(?:-|\u2013)\s*\d{1,6})?(?:\s*(?:,|and|or|&)\s*)?)+)|\[rank(\d{1,6})\]"
)
_SPAN = re.compile(r"(\d{1,6})(?:\s*(?:-|\u2013)\s*(\d{1,6}))?")
_QUANTITY = re.compile(
    r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"(?:[\s_]?(%|ms\b|milliseconds?|s\b|sec\b|seconds?|min\b|minutes?|h\b|hours?|days?|[KMGT]i?B\b|bytes?))?"
)
_UNITS: dict[str, tuple[str, float]] = {
    "%": ("share", 0.01),
    "ms": ("time", 0.001), "millisecond": ("time", 0.001), "s": ("time", 1.0), "sec": ("time", 1.0),
    "second": ("time", 1.0), "min": ("time", 60.0), "minute": ("time", 60.0), "h": ("time", 3600.0),
    "hour": ("time", 3600.0), "day": ("time", 86400.0),
    "b": ("bytes", 1.0), "byte": ("bytes", 1.0), "kb": ("bytes", 1e3), "mb": ("bytes", 1e6), "gb": ("bytes", 1e9),
    "tb": ("bytes", 1e12), "kib": ("bytes", 2.0**10), "mib": ("bytes", 2.0**20), "gib": ("bytes", 2.0**30),
    "tib": ("bytes", 2.0**40),
}  # fmt: skip
_ELLIPSIS = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\])\s*")


@dataclass(frozen=True, slots=True)
class Grounds:
    """The cited evidence, as it is asked about claims."""

    text: str
    """Everything cited, in lower case, white space as single spaces."""
    ranks: frozenset[int]
    hosts: frozenset[str]
    quantities: frozenset[tuple[str, float]]
    """(dimension, value): `plain` for bare numbers, `time` in seconds, `bytes`, `share`."""
    counts: frozenset[int]
    """How many places, ranks and nodes are cited: a sentence may count them."""

    def carry(self, claim: Claim) -> bool:
        """Whether the evidence says what is claimed."""
        match claim.sort:
            case Sort.RANK:
                return int(claim.value) in self.ranks
            case Sort.HOST:
                return claim.value in self.hosts or _word_in(claim.value, self.text)
            case Sort.NUMBER:
                return self._counted(claim) or self._measured(claim)
            case Sort.QUOTE:
                return self._quoted(claim.value)
        return self._named(claim.value)

    def _named(self, name: str) -> bool:
        if _word_in(name, self.text):
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

    def _counted(self, claim: Claim) -> bool:
        return not claim.unit and claim.value.isdecimal() and int(claim.value) in self.counts

    def _measured(self, claim: Claim) -> bool:
        value = float(claim.value)
        dimension, factor = _unit(claim.unit)
        slack = _last_digit(claim.value) * factor
        for known, number in self.quantities:
            if known == dimension and abs(number - value * factor) <= slack + 1e-9:
                return True
            if known == "plain" and number == value:
                return True
        return False


def grounds_of(cited: Iterable[str], shown: Shown, results: Mapping[str, ToolResult]) -> tuple[Grounds, list[str]]:
    """What the cited ids carry, and those that do not exist or were not shown."""
    lines: list[Evidence] = []
    texts: list[str] = []
    unknown: list[str] = []
    for name in cited:
        if (line := shown.get(name)) is not None:
            lines.append(line)
        elif (result := results.get(name)) is not None:
            texts.append(result.text)
            lines.extend(result.evidence)
        else:
            unknown.append(name)
    return _grounds(lines, texts), unknown


def _grounds(lines: list[Evidence], texts: list[str]) -> Grounds:
    parts = [*texts, *(f"{item.source}:{item.line} {item.time or ''} {item.text}" for item in lines)]
    text = "\n".join(parts)
    ranks = {item.rank for item in lines if item.rank is not None}
    hosts = {item.node.lower() for item in lines if item.node}
    direct = {(item.source, item.line) for item in lines}
    counts = {len(ranks), len(hosts), len(direct)} - {0, 1}
    return Grounds(
        _plain(text), frozenset(ranks | _ranks(text)), frozenset(hosts), _quantities(text), frozenset(counts)
    )


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip().lower()


def _ranks(text: str) -> set[int]:
    found: set[int] = set()
    for match in _RANKS.finditer(text):
        for span in _SPAN.finditer(match[1] or match[2]):
            first, last = int(span[1]), int(span[2] or span[1])
            found |= set(range(first, min(last, first + 65_536) + 1))
    return found


def _quantities(text: str) -> frozenset[tuple[str, float]]:
    found: set[tuple[str, float]] = set()
    for match in _QUANTITY.finditer(text):
        value = float(match[1].replace(",", ""))
        dimension, factor = _unit(match[2] or "")
        found |= {("plain", value), (dimension, value * factor)}
    return frozenset(found)


def _unit(unit: str) -> tuple[str, float]:
    plain = unit.lower()
    return _UNITS.get(plain) or _UNITS.get(plain.removesuffix("s")) or ("plain", 1.0)


def _last_digit(number: str) -> float:
    """Half a unit of the last digit that is given: what rounding may hide."""
    if "e" in number.lower() or "." not in number:
        return 0.0 if "." not in number else abs(float(number)) * 1e-3
    return 0.5 * 10.0 ** -len(number.split(".")[1])


def _word_in(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text) is not None
