"""From indicators to exhibits: what the library makes of each, whom it is about, and whether the job got over it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.diagnosis.models import Exhibit, Findings, Place, Population
from assistant.diagnosis.order import in_order
from assistant.diagnosis.population import subject_place, writer_place
from assistant.events.models import Indicator, Record, Scan
from assistant.faults.models import Blame, FaultRole, Specificity
from assistant.faults.subjects import subjects
from assistant.intake.models import MarkKind, WriterKind

STEPS_TO_RECOVER = 2
"""Iterations that the job must complete after an error before the error counts as overcome: in a synchronous job the
other ranks may finish the iteration that was running, and one more report of it may be in flight."""

BEFORE_THE_JOB = 600.0
"""Seconds before the job's first line from which on a node's kernel messages still count."""
ENDED_WITH = 3
"""Lines that may follow a traceback with which a process ended."""


def exhibits(findings: Findings, people: Population) -> list[Exhibit]:
    """All indicators as exhibits, in the total order, with what the job got over marked as such."""
    found = [_exhibit(indicator, findings, people) for indicator in findings.scan.indicators]
    progress = Advance(findings.scan)
    return in_order(replace(exhibit, recovered=progress.after(exhibit)) for exhibit in found)


def _exhibit(indicator: Indicator, findings: Findings, people: Population) -> Exhibit:
    scan = findings.scan
    stream = scan.streams[indicator.record.stream]
    fault = findings.library.get(indicator.faults[0]) if indicator.faults else None
    writer = writer_place(stream)
    place = writer
    if fault is not None and fault.blame is not Blame.WRITER:
        named = subjects(fault, indicator.record.text)
        place = subject_place(named, stream, scan.streams, people)
    return Exhibit(
        record=indicator.record,
        count=indicator.count,
        fault=fault,
        others=indicator.faults[1:],
        writer=writer,
        place=Place(place.node, place.rank, place.device),
        left=max(0, stream.lines - indicator.record.order - indicator.record.lines),
    )


class Advance:
    """Looks up whether training went on, or the goal was reached, after a record."""

    def __init__(self, scan: Scan) -> None:
        self._last_attempt = last_attempt(scan)
        marks = scan.marks
        steps = marks.filter((pl.col("kind") == MarkKind.ITERATION.value) & pl.col("iteration").is_not_null())
        self._by_stream = {
            int(key[0]): (part["order"].to_numpy(), part["iteration"].to_numpy())
            for key, part in steps.group_by(["stream"], maintain_order=True)
        }
        self._by_source = {
            int(key[0]): (part["line"].to_numpy(), part["iteration"].to_numpy())
            for key, part in steps.sort("source", "line").group_by(["source"], maintain_order=True)
        }
        timed = steps.filter(pl.col("time").is_not_null()).sort("time")
        self._times = timed["time"].to_numpy()
        self._iterations = timed["iteration"].to_numpy()
        goals = marks.filter((pl.col("kind") == MarkKind.GOAL.value) & (pl.col("attempt") == self._last_attempt))
        self._goals = {
            int(key[0]): max(part["order"].to_list()) for key, part in goals.group_by(["stream"], maintain_order=True)
        }
        self._goal_time = max(goals["time"].drop_nulls().to_list(), default=None)
        self._kernel = {stream.id for stream in scan.streams if stream.kind is WriterKind.KERNEL}
        starts = [s.first_time for s in scan.streams if s.id not in self._kernel and s.first_time is not None]
        self._start = min(starts, default=None)

    def after(self, exhibit: Exhibit) -> str:
        """Why the record is overcome, or the empty string."""
        record = exhibit.record
        if record.attempt < self._last_attempt:
            return "belongs to an earlier attempt"
        if self._before_the_job(record):
            return "older than the job"
        if self._goal_follows(exhibit):
            return "the run reached its goal afterwards"
        if exhibit.specificity is Specificity.DECISIVE and exhibit.role is FaultRole.ROOT:
            return ""
        steps = self._steps_after(exhibit)
        return f"training went on for {steps} more iterations" if steps >= STEPS_TO_RECOVER else ""

    def _before_the_job(self, record: Record) -> bool:
        """Kernel logs reach back for months; only what is near the job's own time is about the job."""
        if record.stream not in self._kernel or record.time is None or self._start is None:
            return False
        return record.time < self._start - BEFORE_THE_JOB

    def _goal_follows(self, exhibit: Exhibit) -> bool:
        record = exhibit.record
        if _ended_with(exhibit):
            return False
        order = self._goals.get(record.stream)
        if order is not None:
            return bool(record.order < order)
        return self._goal_time is not None and record.time is not None and record.time < self._goal_time

    def _steps_after(self, exhibit: Exhibit) -> int:
        record = exhibit.record
        own = self._by_stream.get(record.stream)
        if own is not None:
            orders, iterations = own
            return _distinct(iterations[np.searchsorted(orders, record.order, side="right") :])
        if _ended_with(exhibit):
            return 0
        beside = self._by_source.get(record.source)
        if beside is not None:
            lines, iterations = beside
            return _distinct(iterations[np.searchsorted(lines, record.last_line, side="right") :])
        if record.time is None or not len(self._times):
            return 0
        return _distinct(self._iterations[np.searchsorted(self._times, record.time + 1.0, side="right") :])


def _ended_with(exhibit: Exhibit) -> bool:
    """A traceback at the end of a writer's lines: that process did not go on, whatever the others did."""
    return exhibit.left <= ENDED_WITH and "Traceback (most recent call last)" in exhibit.record.text


def _distinct(values: npt.NDArray[np.int64]) -> int:
    return len(np.unique(values))


def last_attempt(scan: Scan) -> int:
    """Number of the last attempt the marks or streams know of."""
    from_marks = [int(number) for number in scan.marks["attempt"].unique()]
    return max([0, *from_marks, *(stream.attempt for stream in scan.streams)])
