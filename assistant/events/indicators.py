"""Records that passed the gate: classified by the fault library, and kept few per stream, form and finding."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace

from assistant.events.models import Indicator, Record, RecordMatcher

FIRST, LAST = 5, 2
"""Records kept of the same stream, form and findings: the first and the last few."""
MOST = 100_000
"""Records kept in all; beyond, groups that the library does not know are only counted."""
TEXTS = 100_000
"""Classified texts that are remembered."""
TEXTS_OF_MASK = 3_000
"""Distinct texts of one masked form that are classified; later ones are taken to be like the most common one."""


class Classifier:
    """Asks the library about each distinct text once."""

    def __init__(self, matcher: RecordMatcher) -> None:
        self.guessed = 0
        """Texts that were not asked about."""
        self._matcher = matcher
        self._known: dict[str, tuple[str, ...]] = {}
        self._of_mask: dict[int, Counter[tuple[str, ...]]] = {}

    def classify(self, text: str, mask: int) -> tuple[str, ...]:
        """Ids of the entries that match a record's text."""
        found = self._known.get(text)
        if found is not None:
            return found
        seen = self._of_mask.setdefault(mask, Counter())
        if seen.total() >= TEXTS_OF_MASK:
            self.guessed += 1
            return seen.most_common(1)[0][0]
        found = self._matcher.match(text)
        seen[found] += 1
        if len(self._known) < TEXTS:
            self._known[text] = found
        return found


@dataclass(slots=True)
class _Group:
    """Like records of one stream."""

    total: int = 0
    first: list[Record] = field(default_factory=list)
    last: deque[Record] = field(default_factory=lambda: deque(maxlen=LAST))


Key = tuple[int, int, tuple[str, ...]]
"""Stream, masked form (or template), fault ids."""


class IndicatorTable:
    """Indicators of the whole scan. Records must come in the order of their stream."""

    def __init__(self, most: int = MOST) -> None:
        self.refused = 0
        """Records that were only counted because there were too many."""
        self._groups: dict[Key, _Group] = {}
        self._kept = 0
        self._most = most

    def room(self, key: Key) -> int:
        """How many more of the first records of a group are wanted."""
        group = self._groups.get(key)
        return FIRST if group is None else FIRST - len(group.first)

    def add(self, key: Key, record: Record) -> None:
        """Count a record and keep it if it is one of the first or, so far, of the last."""
        group = self._groups.setdefault(key, _Group())
        group.total += 1
        if self._kept >= self._most and not key[2]:
            self.refused += 1
            return
        if len(group.first) < FIRST:
            group.first.append(record)
            self._kept += 1
        else:
            self._kept += len(group.last) < LAST
            group.last.append(record)

    def count(self, key: Key, number: int) -> None:
        """Count records that are neither first nor last."""
        self._groups[key].total += number

    def indicators(self) -> list[tuple[int, Indicator]]:
        """All kept records with their masked form; the last of the first ones stands for those left out."""
        found = []
        for (_, mask, faults), group in self._groups.items():
            kept = [*group.first, *group.last]
            counts = [1] * len(kept)
            if kept:
                counts[len(group.first) - 1] += group.total - len(kept)
            found += [(mask, Indicator(record, faults, n)) for record, n in zip(kept, counts, strict=True)]
        return found


def capped(indicators: list[Indicator]) -> tuple[Indicator, ...]:
    """The same rule once more, now that masked forms have become templates; sorted by stream and order."""
    groups: dict[Key, list[Indicator]] = {}
    for each in sorted(indicators, key=lambda one: (one.record.stream, one.record.order)):
        groups.setdefault((each.record.stream, each.record.template, each.faults), []).append(each)
    kept = [each for group in groups.values() for each in _first_and_last(group)]
    return tuple(sorted(kept, key=lambda one: (one.record.stream, one.record.order)))


def _first_and_last(group: list[Indicator]) -> list[Indicator]:
    if len(group) <= FIRST + LAST:
        return group
    left_out = sum(each.count for each in group[FIRST:-LAST])
    standing_in = replace(group[FIRST - 1], count=group[FIRST - 1].count + left_out)
    return [*group[: FIRST - 1], standing_in, *group[-LAST:]]
