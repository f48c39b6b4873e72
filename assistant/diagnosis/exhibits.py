"""From indicators to exhibits: what the library makes of each, whom it is about, and whether the job got over it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.diagnosis.models import Exhibit, Findings, Place, Population
from assistant.diagnosis.order import in_order
from assistant.diagnosis.population import subject_place, writer_place
from assistant.events.models import Indicator, Scan
from assistant.faults.models import Blame, FaultRole, Specificity
from assistant.faults.subjects import subjects
from assistant.intake.models import MarkKind

STEPS_TO_RECOVER = 2
"""Iterations that the job must complete after an error before the error counts as overcome: in a synchronous job the
other ranks may finish the iteration that was running, and one more report of it may be in flight."""


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
        timed = steps.filter(pl.col("time").is_not_null()).sort("time")
        self._times = timed["time"].to_numpy()
        self._iterations = timed["iteration"].to_numpy()
        goals = marks.filter((pl.col("kind") == MarkKind.GOAL.value) & (pl.col("attempt") == self._last_attempt))
        self._goals = {
            int(key[0]): max(part["order"].to_list()) for key, part in goals.group_by(["stream"], maintain_order=True)
        }
        self._goal_time = max(goals["time"].drop_nulls().to_list(), default=None)

    def after(self, exhibit: Exhibit) -> str:
        """Why the record is overcome, or the empty string."""
        record = exhibit.record
        if record.attempt < self._last_attempt:
            return "belongs to an earlier attempt"
        if self._goal_follows(exhibit):
            return "the run reached its goal afterwards"
        if exhibit.specificity is Specificity.DECISIVE and exhibit.role is FaultRole.ROOT:
            return ""
        steps = self._steps_after(exhibit)
        return f"training went on for {steps} more iterations" if steps >= STEPS_TO_RECOVER else ""

    def _goal_follows(self, exhibit: Exhibit) -> bool:
        record = exhibit.record
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
        if record.time is None or not len(self._times):
            return 0
        return _distinct(self._iterations[np.searchsorted(self._times, record.time + 1.0, side="right") :])


def _distinct(values: npt.NDArray[np.int64]) -> int:
    return len(np.unique(values))


def last_attempt(scan: Scan) -> int:
    """Number of the last attempt the marks or streams know of."""
    from_marks = [int(number) for number in scan.marks["attempt"].unique()]
    return max([0, *from_marks, *(stream.attempt for stream in scan.streams)])
