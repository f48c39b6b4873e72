"""Stage and iteration of the initiating event: those running where it happened, not where victims report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from assistant.case.vocabulary import Stage
from assistant.diagnosis.frames import refined
from assistant.diagnosis.theory import Bench, Theory
from assistant.events.models import Record


def moment(theory: Theory, bench: Bench) -> tuple[Stage, int | None]:
    """The stage, and the iteration where one had begun."""
    records = _records(theory, bench)
    iteration = _iteration(theory, bench, records)
    stage = _stage(theory, bench, records, iteration)
    if stage in (Stage.STARTUP, Stage.LOADING, Stage.CHECKPOINT_LOAD):
        return stage, None
    return stage, iteration


def _records(theory: Theory, bench: Bench) -> list[Record]:
    if theory.group is not None:
        return [exhibit.record for exhibit in theory.group.exhibits]
    own = [exhibit.record for blamed in theory.blamed for exhibit in blamed.exhibits]
    ranks = {blamed.place.rank for blamed in theory.blamed}
    tails = bench.findings.scan.tails
    streams = bench.findings.scan.streams
    return own + [tails[s.id][-1] for s in streams if s.rank is not None and s.rank in ranks and tails.get(s.id)]


def _iteration(theory: Theory, bench: Bench, records: Sequence[Record]) -> int | None:
    known = [record.iteration for record in records if record.iteration is not None]
    first = [records[0].iteration] if theory.group is not None and records and records[0].iteration is not None else []
    reached = _reached(theory, bench)
    if first or reached:
        return max([*first, *reached])
    return max(known) if known else bench.findings.temporal.last_iteration


def _reached(theory: Theory, bench: Bench) -> list[int]:
    """How far the blamed ranks came: what ended them happened no earlier than their last iteration."""
    ranks = {blamed.place.rank for blamed in theory.blamed if blamed.place.rank is not None}
    progress = bench.findings.temporal.progress
    return [p.last_iteration for p in progress if p.rank in ranks and p.last_iteration is not None]


def _stage(theory: Theory, bench: Bench, records: Sequence[Record], iteration: int | None) -> Stage:
    announced = _announced(theory, bench, records)
    if theory.group is not None and records:
        announced = refined(announced, records[0].text, iterating=iteration is not None)
    if announced is not None:
        return announced
    if theory.fault is not None and theory.fault.stage is not None and iteration is None:
        return theory.fault.stage
    return Stage.TRAINING if iteration is not None else Stage.STARTUP


def _announced(theory: Theory, bench: Bench, records: Sequence[Record]) -> Stage | None:
    """What progress lines say; the blamed ranks' own last word counts where the record itself has no time."""
    if theory.group is None or not (records and records[0].own_time):
        last = _last_stages(theory, bench)
        if last:
            return Stage(last[0])
    stages = [record.stage for record in records if record.stage]
    if not records or (theory.group is None and bench.findings.temporal.last_iteration is not None):
        # Who tells no progress of its own was where the job was.
        stages = last_stage_of_the_job(bench) or stages
    return Stage(_of(theory, stages)) if stages else None


def last_stage_of_the_job(bench: Bench) -> list[str]:
    """The stage announced last by those who tell their progress, else by anybody: by time where known, else as read."""
    marks = bench.findings.scan.marks.filter(pl.col("stage").is_not_null())
    telling = marks.filter(pl.col("iteration").is_not_null())["stream"].unique()
    marks = marks.filter(pl.col("stream").is_in(telling.to_list())) if len(telling) else marks
    timed = marks.filter(pl.col("time").is_not_null()).sort("time", maintain_order=True)
    return (timed if timed.height else marks)["stage"].to_list()[-1:]


def _of(theory: Theory, stages: list[str]) -> str:
    return stages[0] if theory.group is not None else Counter(stages).most_common(1)[0][0]


def _last_stages(theory: Theory, bench: Bench) -> list[str]:
    """The last stage that the blamed ranks announced, in whichever of their streams, where they tell their progress."""
    ranks = {blamed.place.rank for blamed in theory.blamed if blamed.place.rank is not None}
    streams = [s.id for s in bench.findings.scan.streams if s.rank is not None and s.rank in ranks]
    marks = bench.findings.scan.marks.filter(pl.col("stream").is_in(streams) & pl.col("stage").is_not_null())
    return marks["stage"].to_list()[-1:] if marks["iteration"].is_not_null().any() else []
