"""The scoreboard: what all answers of one tool are worth over some jobs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from assistant.case.vocabulary import Confidence, Role, Status
from evals.jobset import Half, Job
from evals.prediction import Prediction, Tool
from evals.runner import Answers
from evals.scorers.events import EventMarks, Figure, Tally, event_marks, macro, micro
from evals.scorers.grouping import FAILING
from evals.scorers.intervals import Interval, Share, share
from evals.scorers.marks import Marks, abilities, mark

SHARES: dict[str, str] = {
    "rank@1": "guilty rank first",
    "rank@3": "guilty rank among 3",
    "rank@5": "guilty rank among 5",
    "rank@8": "guilty rank among 8",
    "node@1": "guilty node first",
    "node@3": "guilty node among 3",
    "node@5": "guilty node among 5",
    "node@8": "guilty node among 8",
    "blame": "blame right (nobody where nobody is guilty)",
    "blame_only": "blame right, and no innocent beside",
    "no_blame": "nobody blamed where nobody is guilty",
    "status": "status",
    "healthy_not_failed": "healthy not called failed",
    "cause": "cause class",
    "stage": "stage",
    "iteration": "iteration exact",
    "iteration_near": "iteration within 1",
    "action": "kind of action",
    "further_found": "further failures found",
    "further_none": "no further failure made up",
    "unknown_rightly": '"cannot tell" said rightly',
    "unknown_said": '"cannot tell" where that is right',
    "verdict": "status, cause and blame all right",
}
"""Columns that are shares of jobs, in the order of the report."""

EVENT_FIGURES: dict[str, str] = {
    "events_precision": "events: precision (all events together)",
    "events_recall": "events: recall",
    "events_f1": "events: F1",
    "events_macro_precision": "events: precision (mean of jobs)",
    "events_macro_recall": "events: recall (mean of jobs)",
    "events_macro_f1": "events: F1 (mean of jobs)",
    **{f"events_{role.value}_f1": f"events: F1 of the role {role.value}" for role in FAILING},
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of one tool."""

    value: float | None
    """None: cannot, or nothing was asked."""
    n: int = 0
    wilson: Interval | None = None
    clusters: Interval | None = None


CANNOT = Cell(None)


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer with its marks."""

    job: Job
    answer: Prediction
    marks: Marks
    events: EventMarks

    @property
    def kind(self) -> Hashable:
        """What jobs are clustered by."""
        return self.job.truth.kind


@dataclass(frozen=True, slots=True)
class Board:
    """All marks of one tool."""

    tool: str
    version: str
    able: frozenset[str]
    scored: tuple[Scored, ...]

    def of(self, chosen: Callable[[Job], bool]) -> Board:
        """The same over some of the jobs."""
        return Board(self.tool, self.version, self.able, tuple(each for each in self.scored if chosen(each.job)))

    def share(self, column: str) -> Share:
        """A column of `SHARES`."""
        asked = [each for each in self.scored if column in each.marks.marks]
        return share([each.marks.marks[column] for each in asked], [each.kind for each in asked])

    def cell(self, column: str) -> Cell:
        """A column of `SHARES` or `EVENT_FIGURES`."""
        if column in EVENT_FIGURES:
            return self._event_cell(column)
        found = self.share(column)
        return Cell(found.value, found.n, found.wilson, found.clusters) if found.n else CANNOT

    def _event_cell(self, column: str) -> Cell:
        *words, name = column.removeprefix("events_").split("_")
        if not self.scored or ("roles" if words and words[0] in set(FAILING) else "events") not in self.able:
            return CANNOT
        kinds = [each.kind for each in self.scored]
        figures = macro(self._tallies(None), kinds) if words == ["macro"] else micro(self._tallies(_role(words)), kinds)
        return _of_figure(figures[name])

    def _tallies(self, role: Role | None) -> list[Tally]:
        return [each.events.all if role is None else each.events.by_role[role] for each in self.scored]

    @property
    def false_events_of_healthy(self) -> float | None:
        """Events reported per healthy job."""
        healthy = [each for each in self.scored if each.job.truth.provable.status is Status.HEALTHY]
        if not healthy or "events" not in self.able:
            return None
        return sum(each.events.all.false for each in healthy) / len(healthy)

    def confident(self, level: Confidence) -> Share:
        """Of the verdicts of one confidence, those whose status, cause and blame are right."""
        said = [each for each in self.scored if each.marks.confidence is level and "verdict" in each.marks.marks]
        return share([each.marks.marks["verdict"] for each in said], [each.kind for each in said])

    @property
    def seconds(self) -> tuple[float, float] | None:
        """Median and sum."""
        known = [each.answer.seconds for each in self.scored if each.answer.seconds is not None]
        return (statistics.median(known), sum(known)) if known else None

    @property
    def megabytes(self) -> tuple[float, float] | None:
        """Median and greatest peak of memory."""
        known = [each.answer.bytes / 2**20 for each in self.scored if each.answer.bytes is not None]
        return (statistics.median(known), max(known)) if known else None

    @property
    def broken(self) -> int:
        """Jobs on which the tool gave no answer."""
        return sum(each.answer.error is not None for each in self.scored)


def _role(words: Sequence[str]) -> Role | None:
    return Role(words[0]) if words else None


def _of_figure(figure: Figure) -> Cell:
    return Cell(figure.value, figure.n, None, figure.clusters)


def boards(answers: Sequence[Answers], tools: Sequence[Tool]) -> list[Board]:
    """A board for each tool, over all jobs. What a tool can is judged over all of its answers."""
    made = []
    for at, tool in enumerate(tools):
        given = [each.answers[at] for each in answers]
        able = abilities(given)
        scored = tuple(_scored(each, answer, able) for each, answer in zip(answers, given, strict=True))
        made.append(Board(tool.name, tool.version, able, scored))
    return made


def _scored(one: Answers, answer: Prediction, able: frozenset[str]) -> Scored:
    return Scored(one.job, answer, mark(answer, one.job.truth, able), event_marks(answer, one.events))


def in_half(half: Half) -> Callable[[Job], bool]:
    """Real jobs of one half; healthy ones count for both."""
    return lambda job: not job.scaled and job.half in (half, Half.BOTH)


def of_size(ranks: int) -> Callable[[Job], bool]:
    """Scaled replicas of one world size."""
    return lambda job: job.scaled and job.truth.world_size == ranks
