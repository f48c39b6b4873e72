"""What a pattern hands to the diagnosis: scored events and scored nodes or ranks, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EventScore:
    """A template that a pattern singled out. `score` runs from 0 (ordinary) to 1 (only a failure explains it)."""

    template: int
    score: float
    why: str
    streams: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaceScore:
    """A node or rank that stands out among its peers."""

    node: str | None
    rank: int | None
    score: float
    reasons: tuple[str, ...]
    templates: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RankProgress:
    """How far one rank came."""

    stream: int
    node: str | None
    rank: int | None
    last_iteration: int | None
    last_time: float | None
    last_order: int
    silent: bool = False
    """Wrote nothing more long before its peers stopped writing."""
    lagging: bool = False
    """Its last iteration is behind that of its peers."""


@dataclass(frozen=True, slots=True)
class PatternResult:
    """One pattern's outcome. `ran` is False where it was off or had too little to compare; `note` says which."""

    name: str
    ran: bool
    note: str
    events: tuple[EventScore, ...] = ()
    places: tuple[PlaceScore, ...] = ()
    dropped: frozenset[int] = frozenset()
    """Templates that healthy runs show alike (cross_job only)."""


@dataclass(frozen=True, slots=True)
class TemporalResult(PatternResult):
    """The temporal pattern also tells how far each rank came and what the job's pace was."""

    progress: tuple[RankProgress, ...] = ()
    last_iteration: int | None = None
    last_checkpoint: int | None = None
    iteration_seconds: float | None = None
    """Median iteration time."""
    stalled_for: float | None = None
    """Seconds between the last sign of progress and the last line of the job, where that is many iteration times."""
    odd_iterations: tuple[tuple[int, int, float, str], ...] = ()
    """(stream, iteration, score, why)"""
    change_point: tuple[int, float, float] | None = None
    """(iteration, seconds before, seconds after) where the pace changed for good."""
