"""From a drawn job and a change to the job that is run, with its truth as far as the plan can tell it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assistant.case.vocabulary import Stage
from evals.lab.change import Change
from evals.lab.draw import Draw
from evals.lab.inject_platform import INJECTIONS as PLATFORM
from evals.lab.inject_process import INJECTIONS as PROCESS
from evals.lab.job import Job
from evals.lab.kinds import Kind, kinds
from evals.truth import Injected, Provable

INJECTIONS = {**PROCESS, **PLATFORM}
"""By kind."""
STAGES: dict[str, tuple[Stage, ...]] = {
    "start": (Stage.STARTUP,),
    "build": (Stage.LOADING, Stage.STARTUP),
    "resume": (Stage.CHECKPOINT_LOAD,),
    "evaluate": (Stage.EVALUATION,),
    "save": (Stage.CHECKPOINT_SAVE,),
}
"""Accepted stages by place; every other place is within a training step."""
SAYS_NO_STEP = ("trainer",)
"""Dialects whose progress names no step."""
OWN_LOSS = ("ddp", "fsdp", "trainer")
"""Recipes whose ranks each know a loss of their own inputs."""
SEEN = {"loader_killed", "launcher_killed", "link_cut", "sigterm_all"}
"""Kinds whose iteration is known only after the run: the last step that the struck ranks, or all, began."""


def assembled(draw: Draw) -> Job:
    """The job with its fault."""
    change = INJECTIONS[draw.job.kind](draw)
    kind = kinds()[draw.job.kind].told(draw.job.flavour)
    job = replace(
        draw.job,
        settings={**draw.job.settings, **change.settings},
        node_settings=change.node_settings,
        callbacks=change.callbacks,
        fails=change.fails,
        shows=change.shows,
        must_mark=tuple(dict.fromkeys(planned.name for planned in change.callbacks)),
        **dict(change.launch),  # type: ignore[arg-type]
    )
    provable = provable_of(job, kind, change)
    further = tuple(_further(job, one) for one in change.further)
    return replace(job, injected=injected_of(job, change), provable=provable.model_copy(update={"further": further}))


def injected_of(job: Job, change: Change) -> tuple[Injected, ...]:
    """What is done, to whom; times follow after the run."""
    if job.kind == "nothing":
        return ()
    kind = change.kind or job.kind
    facts: dict[str, Any] = {"iteration": change.step, "stage": _stages(change)[0], "detail": job.flavour}
    if change.ranks and not change.nodes:
        own = tuple(Injected(kind=kind, rank=rank, node=job.hosts[job.node_of(rank)], **facts) for rank in change.ranks)
    elif change.nodes:
        own = tuple(Injected(kind=kind, node=job.hosts[node], **facts) for node in change.nodes)
    else:
        own = (Injected(kind=kind, **facts),)
    return (*own, *(one for further in change.further for one in injected_of(job, further)))


def provable_of(job: Job, kind: Kind, change: Change) -> Provable:
    """What the catalogue says of the kind, for those whom this very job's logs can name."""
    ranks, nodes = _guilty(job, kind, change)
    facts: dict[str, Any] = {
        "status": kind.status,
        "causes": kind.causes,
        "ranks": ranks,
        "nodes": nodes,
        "nobody_too": kind.nobody_too or change.unsure,
        "stages": (kind.stages or _stages(change, job)) if kind.status == "failed" else (),
        "iteration": _iteration(job, change) if kind.status == "failed" else None,
        "actions": kind.actions,
    }
    return Provable.model_validate({**facts, **change.provable, **_special(job)})


def _guilty(job: Job, kind: Kind, change: Change) -> tuple[tuple[int, ...], tuple[str, ...]]:
    unseen = job.kind == "nan_one_rank" and job.recipe not in OWN_LOSS
    if kind.blame == "nobody" or change.silent or unseen:
        return (), ()
    ranks = tuple(rank for node in change.nodes for rank in job.ranks_of(node)) or change.ranks
    nodes = tuple(dict.fromkeys(job.hosts[job.node_of(rank)] for rank in ranks))
    return ranks, nodes if job.nodes > 1 else ()


def _special(job: Job) -> dict[str, Any]:
    """A taken port is the first node's, where there are several; to blame nobody is as right."""
    if job.kind == "port_in_use" and job.nodes > 1:
        return {"nodes": (job.hosts[0],), "nobody_too": True}
    return {}


def _stages(change: Change, job: Job | None = None) -> tuple[Stage, ...]:
    """The Trainer tells of an evaluation or a checkpoint only after the place where it may be struck."""
    stages = STAGES.get(change.place, (Stage.TRAINING,))
    late = job is not None and job.recipe == "trainer" and change.place in ("evaluate", "save")
    return (*stages, Stage.TRAINING) if late else stages


def _iteration(job: Job, change: Change) -> int | None:
    tells = job.voice not in SAYS_NO_STEP or (job.recipe == "ddp" and change.place in ("evaluate", "save"))
    return change.step if tells and change.place not in ("start", "build", "resume") else None


def _further(job: Job, change: Change) -> Provable:
    kind = kinds()[change.kind].model_copy(update={"causes": change.causes, "blame": "rank"})
    return provable_of(job, kind, change)
