"""Restarts inside one job: which attempt a line belongs to.

A new attempt begins where a launcher says that it starts the workers although they had already got somewhere, or where
iteration numbers fall back after a start-up stage. Marks that several launchers print for the same start count once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from assistant.intake.models import MarkKind, Source
from assistant.intake.origins import origins

MOST = 200
"""Attempts in one source beyond which no more are told apart."""
SAME_START = 60.0
"""Seconds within which restarts of several launchers are one."""
_EARLY = frozenset({"startup", "loading", "checkpoint_load"})

Position = tuple[int, int]
"""Source id and line."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where an attempt begins."""

    position: Position
    time: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts of a job."""

    boundaries: dict[str, tuple[Boundary, ...]] = field(default_factory=dict)
    """By rotated group, in order; attempt 0 lies before the first."""
    numbered: dict[int, int] = field(default_factory=dict)
    """Sources whose path states their attempt."""
    group_of: dict[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many attempts there were."""
        return 1 + max([*map(len, self.boundaries.values()), *self.numbered.values()], default=0)

    @property
    def _clock(self) -> tuple[Boundary, ...]:
        """The boundaries of the group that shows most of them, for sources that show none."""
        timed = [own for own in self.boundaries.values() if all(b.time is not None for b in own)]
        return max(timed, key=len, default=())

    def of(self, source: int, line: int, time: float | None = None) -> int:
        """The attempt of a line."""
        if source in self.numbered:
            return self.numbered[source]
        own = self.boundaries.get(self.group_of.get(source, ""), ())
        if own:
            return sum(boundary.position <= (source, line) for boundary in own)
        if time is None:
            # Nothing tells: what a job left behind ends with its last attempt.
            return self.count - 1
        return sum((boundary.time or 0.0) <= time for boundary in self._clock)

    def number(self, marks: pl.DataFrame) -> pl.DataFrame:
        """The marks with `attempt` filled in."""
        if self.count == 1:
            return marks
        rows = zip(marks["source"].to_list(), marks["line"].to_list(), marks["time"].to_list(), strict=True)
        return marks.with_columns(pl.Series("attempt", [self.of(*row) for row in rows], dtype=pl.Int32))


@dataclass(slots=True)
class _Walk:
    """What has happened since the current attempt began."""

    began: float | None = None
    iterations: int = 0
    highest: int = -1
    progressed: bool = False
    restart: Boundary | None = None
    """The first sign of a start after the last iteration."""

    def begin(self, time: float | None) -> None:
        self.began, self.iterations, self.highest, self.progressed, self.restart = time, 0, -1, False, None


def split_attempts(marks: pl.DataFrame, sources: Sequence[Source]) -> Attempts:
    """Find the attempts.

    Args:
        marks: `Scan.marks`: source, line, kind, stage, iteration, time, text.
    """
    group_of = {source.id: source.group or source.name for source in sources}
    telling = marks.select("source", "line", "kind", "stage", "iteration", "time", "text").sort("source", "line")
    by_group: dict[str, list[dict[str, object]]] = defaultdict(list)
    for mark in telling.iter_rows(named=True):
        by_group[group_of.get(int(mark["source"]), "")].append(mark)
    found = {group: tuple(_boundaries(rows)) for group, rows in by_group.items()}
    boundaries = {group: own for group, own in sorted(found.items()) if own}
    paths = origins(sources)
    numbered = {source: origin.attempt for source, origin in paths.items() if origin.attempt is not None}
    notes = tuple(f"{group}: {len(own) + 1} attempts ({own[-1].why})" for group, own in boundaries.items())
    return Attempts(boundaries, numbered, group_of, notes)


def _boundaries(rows: Sequence[Mapping[str, object]]) -> list[Boundary]:
    walk, found = _Walk(), list[Boundary]()
    for mark in rows:
        boundary = _step(walk, mark)
        if boundary and len(found) < MOST:
            found.append(boundary)
    return found


def _step(walk: _Walk, mark: Mapping[str, object]) -> Boundary | None:
    """Take one mark; the boundary it reveals, if it does."""
    kind, time = mark["kind"], mark["time"]
    moment = time if isinstance(time, float) else None
    if kind == MarkKind.ATTEMPT:
        return _on_start(walk, mark, moment)
    if kind == MarkKind.ITERATION:
        return _on_iteration(walk, mark, moment)
    if mark["stage"] in _EARLY:
        walk.restart = walk.restart or (_boundary(mark, moment, "its start-up again") if walk.iterations else None)
    elif mark["stage"] is not None:
        walk.progressed = True
    return None


def _boundary(mark: Mapping[str, object], time: float | None, why: str) -> Boundary:
    return Boundary((int(str(mark["source"])), int(str(mark["line"]))), time, why)


def _on_start(walk: _Walk, mark: Mapping[str, object], time: float | None) -> Boundary | None:
    said = "restart" in str(mark["text"] or "").lower() or "requeu" in str(mark["text"] or "").lower()
    later = walk.began is not None and time is not None and time - walk.began > SAME_START
    if not (walk.progressed or (said and later)):
        walk.began = time if walk.began is None else walk.began
        return None
    walk.begin(time)
    return _boundary(mark, time, "the launcher started the workers again")


def _on_iteration(walk: _Walk, mark: Mapping[str, object], time: float | None) -> Boundary | None:
    walk.progressed = True
    number = mark["iteration"]
    if not isinstance(number, int):
        return None
    fell = number < walk.highest and walk.restart is not None
    boundary = walk.restart if fell else None
    if boundary:
        walk.begin(boundary.time)
        walk.progressed = True
    walk.iterations += 1
    walk.highest = max(walk.highest, number)
    walk.restart = None if not boundary and number >= walk.highest else walk.restart
    return boundary
