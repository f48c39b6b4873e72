"""Stage and iteration of the initiating event: those running where it happened, not where victims report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assistant.case.vocabulary import Stage
from assistant.diagnosis.theory import Bench, Theory
from assistant.events.models import Record


def moment(theory: Theory, bench: Bench) -> tuple[Stage, int | None]:
    """The stage, and the iteration where one had begun."""
    records = _records(theory, bench)
    iteration = _iteration(theory, bench, records)
    stage = _stage(theory, records, iteration)
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
    if theory.group is not None and known:
        return records[0].iteration if records[0].iteration is not None else known[0]
    ranks = {blamed.place.rank for blamed in theory.blamed if blamed.place.rank is not None}
    own = [
        p.last_iteration for p in bench.findings.temporal.progress if p.rank in ranks and p.last_iteration is not None
    ]
    if own:
        return max(own)
    return max(known) if known else bench.findings.temporal.last_iteration


def _stage(theory: Theory, records: Sequence[Record], iteration: int | None) -> Stage:
    if theory.fault is not None and theory.fault.stage is not None and iteration is None:
        return theory.fault.stage
    stages = [record.stage for record in records if record.stage]
    if stages:
        return Stage(stages[0] if theory.group is not None else Counter(stages).most_common(1)[0][0])
    return Stage.TRAINING if iteration is not None else Stage.STARTUP
