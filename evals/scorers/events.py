"""Precision, recall and F1 of failure-indicating events, overall and by role."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from assistant.case.vocabulary import Role
from evals.prediction import Prediction
from evals.scorers.grouping import FAILING, Events
from evals.scorers.intervals import Floats, Interval, by_cluster


@dataclass(frozen=True, slots=True)
class Tally:
    """Events reported rightly, reported wrongly, and missed."""

    hit: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.hit + other.hit, self.false + other.false, self.missed + other.missed)

    @property
    def precision(self) -> float | None:
        """None where nothing was reported."""
        reported = self.hit + self.false
        return self.hit / reported if reported else None

    @property
    def recall(self) -> float | None:
        """None where there was nothing to report."""
        there = self.hit + self.missed
        return self.hit / there if there else None

    @property
    def f1(self) -> float | None:
        """None where there was nothing to report and nothing was."""
        total = 2 * self.hit + self.false + self.missed
        return 2 * self.hit / total if total else None


@dataclass(frozen=True, slots=True)
class EventMarks:
    """The tallies of one answer."""

    all: Tally
    by_role: dict[Role, Tally] = field(default_factory=dict)
    """An event counts for the role that the tool gives it; right only if the truth gives it the same one."""
    missed: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    """Templates, for jobs that may be looked at."""


def event_marks(answer: Prediction, events: Events) -> EventMarks:
    """Score the flags of one answer. A flag on no line of the job is a false event, one for each source."""
    placed = [(flag, events.at(flag.source, flag.line)) for flag in sorted(answer.events or ())]
    stray = {flag.source for flag, event in placed if event is None}
    told: dict[int, set[Role | None]] = {}
    for flag, event in placed:
        if event is not None and events.roles[event] is not Role.CONTEXT:
            told.setdefault(event, set()).add(flag.role)
    failing = events.failing
    false, missed = sorted(set(told) - failing), sorted(failing - set(told))
    return EventMarks(
        Tally(len(set(told) & failing), len(false) + len(stray), len(missed)),
        {role: _of_role(role, told, events) for role in FAILING},
        tuple(events.names[at] for at in missed),
        tuple([*(events.names[at] for at in false), *(f"no such line in {source}" for source in sorted(stray))]),
    )


def _of_role(role: Role, told: dict[int, set[Role | None]], events: Events) -> Tally:
    truly = {at for at, given in enumerate(events.roles) if given is role}
    said = {at for at, roles in told.items() if role in roles}
    return Tally(len(truly & said), len(said - truly), len(truly - said))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over jobs, with its bootstrap interval over kinds of fault."""

    value: float | None
    n: int
    """Events behind it for micro figures, jobs for macro figures."""
    clusters: Interval | None = None


def micro(tallies: Sequence[Tally], kinds: Sequence[Hashable]) -> dict[str, Figure]:
    """Precision, recall and F1 over the events of all jobs together."""
    total = sum(tallies, Tally())
    rows = [(tally.hit, tally.false, tally.missed) for tally in tallies]
    sizes = {"precision": total.hit + total.false, "recall": total.hit + total.missed}
    sizes["f1"] = total.hit + total.false + total.missed
    figures = {"precision": total.precision, "recall": total.recall, "f1": total.f1}
    return {
        name: Figure(value, sizes[name], by_cluster(rows, kinds, _OF_SUMS[name]) if rows else None)
        for name, value in figures.items()
    }


def macro(tallies: Sequence[Tally], kinds: Sequence[Hashable]) -> dict[str, Figure]:
    """The mean over jobs that have something to report. Reporting nothing there is precision 0."""
    chosen = [(tally, kind) for tally, kind in zip(tallies, kinds, strict=True) if tally.hit + tally.missed]
    made = {}
    for name in ("precision", "recall", "f1"):
        values = [(getattr(tally, name) or 0.0, 1.0) for tally, _ in chosen]
        mean = sum(value for value, _ in values) / len(values) if values else None
        interval = by_cluster(values, [kind for _, kind in chosen], _mean) if values else None
        made[name] = Figure(mean, len(values), interval)
    return made


def _mean(sums: Floats) -> Floats:
    return np.asarray(sums[:, 0] / sums[:, 1], dtype=np.float64)


def _precision(sums: Floats) -> Floats:
    return _divided(sums[:, 0], sums[:, 0] + sums[:, 1])


def _recall(sums: Floats) -> Floats:
    return _divided(sums[:, 0], sums[:, 0] + sums[:, 2])


def _f1(sums: Floats) -> Floats:
    return _divided(2 * sums[:, 0], 2 * sums[:, 0] + sums[:, 1] + sums[:, 2])


def _divided(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(above / below, dtype=np.float64)


_OF_SUMS = {"precision": _precision, "recall": _recall, "f1": _f1}
