"""The tries of the launcher to run the job, each in one line."""

from __future__ import annotations

import polars as pl

from assistant.case.models import Attempt
from assistant.case.vocabulary import Status
from assistant.diagnosis.ledger import iso
from assistant.diagnosis.theory import Bench

OUTCOMES = {
    Status.FAILED: "failed",
    Status.HEALTHY: "succeeded",
    Status.INCOMPLETE: "unknown",
    Status.UNKNOWN: "unknown",
}


def attempts(bench: Bench, status: Status) -> tuple[Attempt, ...]:
    """One entry for each attempt the marks know of; the last one has the job's own outcome."""
    marks = bench.findings.scan.marks
    numbers = sorted(int(n) for n in marks["attempt"].unique().to_list()) if marks.height else [0]
    return tuple(_attempt(n, marks.filter(pl.col("attempt") == n), n == numbers[-1], status) for n in numbers)


def _attempt(number: int, marks: pl.DataFrame, last: bool, status: Status) -> Attempt:
    times = marks["time"].drop_nulls().to_list()
    iterations = marks["iteration"].drop_nulls().to_list()
    return Attempt(
        number=number,
        started=iso(min(times)) if times else None,
        ended=iso(max(times)) if times else None,
        outcome=OUTCOMES[status] if last else "restarted",
        last_iteration=int(iterations[-1]) if iterations else None,
    )
