"""What must be remembered of each stream from batch to batch."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field

from assistant.events.models import Record
from assistant.events.records import Walk

TAIL = 5
RAW_BYTES = 4 << 10
TEXT_CHARS = 16 << 10
MOST_STREAMS = 16_384
"""Later writer keys count as unlabelled."""

Place = tuple[int, int, int]
"""Source, line, offset."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row, copied out of its batch."""

    place: Place
    order: int
    text: str
    raw: str
    flags: int
    mask: int
    gated: bool
    time: float | None
    own_time: bool
    iteration: int


@dataclass(slots=True)
class Open:
    """A record that may go on in the next batch."""

    walk: Walk
    lines: list[Line]
    key: int = 0
    """Index of the key line."""


@dataclass(slots=True)
class StreamState:
    """One stream so far."""

    id: int
    group: str
    key: str
    first: Place
    last: Place
    rows: int = 0
    last_flags: int = 0
    time: float | None = None
    """Of the latest timed row."""
    first_time: float | None = None
    iteration: int = -1
    """The last iteration announced; -1 before the first."""
    tier: int = 2
    """The best kind of iteration mark seen (`marks.SCHEMA`)."""
    stage: str | None = None
    iterations: int = 0
    """Distinct runs of iterations seen."""
    open: Open | None = None
    tail: list[Record] = field(default_factory=list)
    """The last few records by their order."""

    def saw(self, record: Record) -> None:
        """Remember a record as one of the last. One that went on in a later batch may come late."""
        insort(self.tail, record, key=lambda each: each.order)
        del self.tail[:-TAIL]


class StreamTable:
    """All streams by rotated group and writer key, numbered as they appear."""

    def __init__(self) -> None:
        self.states: list[StreamState] = []
        self.refused: set[str] = set()
        """Groups with more writers than are kept apart."""
        self._index: dict[tuple[str, str], int] = {}

    def at(self, group: str, key: str, first: Place) -> StreamState:
        """The stream of a writer, new if need be."""
        number = self._index.get((group, key))
        if number is None and len(self.states) >= MOST_STREAMS and key:
            self.refused.add(group)
            return self.at(group, "", first)
        if number is None:
            number = self._index[(group, key)] = len(self.states)
            self.states.append(StreamState(number, group, key, first, first))
        return self.states[number]
