"""The truth of a finished run: the plan's, with times and iterations that only the run could tell, and its labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.lab.assemble import SAYS_NO_STEP, SEEN
from evals.lab.job import Job
from evals.lab.labelling import labels_of
from evals.lab.outcome import Outcome
from evals.scorers.records import Record, records_of
from evals.truth import Injected, Provable, Truth

NOTICED = ("extra_collective", "wrong_shape", "wrong_dtype")
"""Kinds of which some runs leave the library's complaint about sizes, and some only time limits."""


@dataclass(frozen=True, slots=True)
class Finished:
    """One run that may be packed."""

    job: Job
    outcome: Outcome
    folder: Path
    records: tuple[Record, ...]


def finished(job: Job, outcome: Outcome, folder: Path) -> Finished:
    """Reads the records of what the job left behind."""
    return Finished(job, outcome, folder, tuple(records_of(folder)))


def truth_of(run: Finished, name: str, twins: tuple[str, ...]) -> Truth:
    """Everything known to be true of the run, under its neutral name."""
    job = run.job
    settings = {key: value for key, value in job.settings.items() if isinstance(value, str | int | float | bool)}
    launch = {"streams": job.streams, "rendezvous": job.rendezvous, "verbose": job.verbose, "reaper": job.reaper}
    return Truth(
        job=name,
        kind=job.kind,
        recipe=job.recipe,
        dialect=job.voice,
        world_size=job.world,
        nodes=job.hosts,
        seed=job.seed,
        twins=twins,
        injected=tuple(_timed(one, run.outcome) for one in job.injected),
        provable=_without_trace(run, _seen(job, run.outcome)),
        labels=labels_of(job, run.records) if job.kind != "nothing" else (),
        settings={"run": job.name, "per_node": job.per_node, **launch, **settings},
    )


def _timed(one: Injected, outcome: Outcome) -> Injected:
    """With the time at which it happened to that rank, or at which it was done from outside."""
    acts = [float(act["time"]) for act in outcome.acts]
    own = [float(mark["time"]) for mark in outcome.marks if one.rank in (None, mark["rank"])]
    times = acts or own
    told = datetime.fromtimestamp(min(times), UTC).isoformat(timespec="milliseconds") if times else None
    return one.model_copy(update={"time": told})


def _seen(job: Job, outcome: Outcome) -> Provable:
    """With the step that the struck ranks had begun, where the plan could not know it."""
    if job.kind not in SEEN or job.voice in SAYS_NO_STEP:
        return job.provable
    struck = struck_ranks(job) or tuple(range(job.world))
    steps = [outcome.last_steps[rank] for rank in struck if rank in outcome.last_steps]
    return job.provable.model_copy(update={"iteration": min(steps) if steps else None})


def _without_trace(run: Finished, provable: Provable) -> Provable:
    """A mismatch that no rank noticed looks like a hang: the logs then prove no more."""
    noticed = any("EnforceNotMet" in record.head or "op.preamble" in record.key for record in run.records)
    if run.job.kind not in NOTICED or noticed:
        return provable
    return provable.model_copy(update={"causes": ("collective.hang", "collective.mismatch"), "actions": ()})


def struck_ranks(job: Job) -> tuple[int, ...]:
    """Ranks that something was done to, by themselves or with their node."""
    nodes = [job.hosts.index(one.node) for one in job.injected if one.rank is None and one.node]
    own = [one.rank for one in job.injected if one.rank is not None]
    return tuple(sorted({*own, *(rank for node in nodes for rank in job.ranks_of(node))}))
