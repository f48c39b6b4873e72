"""The node x time table of failure-indicating events behind the heat map. Knows no screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from assistant.case.models import Case
from assistant.intake.times import read_moment
from assistant.pipeline import Examination

UNKNOWN, UNKNOWN_RANK = "(no node)", "(no rank)"


@dataclass(frozen=True, slots=True)
class Heat:
    """Counts by place and stretch of time."""

    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """Places with their counts, those with the earliest events first."""
    start: float
    end: float
    untimed: int
    """Events without a readable time; they stand in no column."""
    by_rank: bool = False

    @property
    def most(self) -> int:
        """The largest count of a cell."""
        return max((count for _, counts in self.rows for count in counts), default=0)


def heat(case: Case, examination: Examination | None, columns: int) -> Heat:
    """Failure-indicating events by node (by rank where there is one node at most), in `columns` stretches of time."""
    found = list(_seen(case, examination) if examination else _cited(case))
    by_rank = len(case.nodes) < 2
    named = [(_name(node, rank, by_rank), when, count) for node, rank, when, count in found]
    times = [when for _, when, _ in named if when is not None]
    start, end = (min(times), max(times)) if times else (0.0, 0.0)
    cells: Counter[tuple[str, int]] = Counter()
    for name, when, count in named:
        if when is not None:
            cells[name, _column(when, start, end, columns)] += count
    untimed = sum(count for _, when, count in named if when is None)
    known = _places(case, by_rank) | {name for name, when, _ in named if when is not None}
    rows = [(name, tuple(cells[name, column] for column in range(columns))) for name in known]
    rows.sort(key=lambda row: (next((at for at, count in enumerate(row[1]) if count), columns), -sum(row[1]), row[0]))
    return Heat(tuple(rows), start, end, untimed, by_rank)


def _seen(case: Case, examination: Examination) -> Iterator[tuple[str | None, int | None, float | None, int]]:
    scan = examination.reading.scan
    reported = {event.id for event in case.events}
    for indicator in scan.indicators:
        record = indicator.record
        if record.template >= 0 and scan.templates[record.template].id in reported:
            stream = scan.streams[record.stream]
            yield stream.node, stream.rank, record.time, indicator.count


def _cited(case: Case) -> Iterator[tuple[str | None, int | None, float | None, int]]:
    """What a stored case keeps: the lines it cites."""
    for item in case.evidence:
        yield item.node, item.rank, moment(item.time), 1


def moment(text: str | None) -> float | None:
    """Seconds since the epoch of a time as a Case spells it; None where it cannot be read."""
    return read_moment(text) if text else None


def _name(node: str | None, rank: int | None, by_rank: bool) -> str:
    if by_rank and rank is not None:
        return f"rank {rank}"
    return node or (UNKNOWN_RANK if by_rank else UNKNOWN)


def _places(case: Case, by_rank: bool) -> set[str]:
    """All places of the case, so that a silent one shows as an empty row."""
    if by_rank:
        return {f"rank {rank}" for node in case.nodes for rank in node.ranks}
    return {node.node for node in case.nodes}


def _column(when: float, start: float, end: float, columns: int) -> int:
    if end <= start:
        return columns - 1
    return min(columns - 1, int((when - start) / (end - start) * columns))


def clock(when: float) -> str:
    """`14:03:07` of a time, UTC."""
    return datetime.fromtimestamp(when, UTC).strftime("%H:%M:%S")
