"""NVIDIA's nvidia-resiliency-ext: the restart agent in its deterministic mode, with no model behind it.

It reads one interleaved log (`merged` makes one). It names a primary failure, secondary ones and cascades, by line; a
rank where the line shows one, and where it shows none the rank whose file the line came from. What it calls a failure
class becomes one of our causes in the kindest way. Its STOP or RESTART is no action of our vocabulary and is left out.
Where it finds no primary failure it says so, and that counts as "nothing failed".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.case.vocabulary import NO_CAUSE, UNKNOWN_CAUSE, Role, Stage, Status
from evals.prediction import Context, Flag, Prediction, Suspect
from evals.rivals.environments import Environment
from evals.rivals.exceptions import cause_of_exception
from evals.rivals.lines import open_job
from evals.rivals.merged import Place, merge
from evals.rivals.remote import ask

ENVIRONMENT = Environment(
    name="nvrx",
    requirement="nvidia-resiliency-ext==0.7.0",
    others=("httpx>=0.24",),
    options=("--no-deps", "--only-binary=:all:", "--platform=manylinux_2_39_x86_64", "--python-version=3.12"),
    foreign=True,
)
"""The agent is pure Python and needs httpx alone; the wheel's compiled parts, which ask for a newer C library, are
never loaded, nor is torch."""

CAUSES = {
    "gpu_hardware_fault": "hardware.gpu_fault",
    "peer_gpu_memory_access_failure": "hardware.nvlink",
    "infra_policy_event": "scheduler.preempted",
    "time_limit": "scheduler.time_limit",
    "user_cancelled": "scheduler.cancelled",
    "configuration_validation_failure": "config.argument",
    "argument_validation_failure": "config.argument",
    "artifact_or_path_not_found": "storage.missing_path",
    "checkpoint_compatibility_mismatch": "checkpoint.mismatch",
    "shape_mismatch": "code.shape",
    "filesystem_permission_denied": "storage.permission",
    "cuda_oom": "memory.gpu_oom",
    "nan_or_inf": "numerics.nan",
    "bad_token_or_window": "data.invalid",
    "framework_crash": "process.segfault",
    "linux_oom_kill_confirmation": "memory.host_oom",
    "observed_distributed_operation_timeout": "collective.hang",
    "nccl_rdma_port_error_event": "network.link",
    "nccl_cascade": "collective.hang",
    "terminal_transport_failure_surface": "network.unreachable",
    "port_bind_conflict": "launch.port_in_use",
}
STAGES = {
    "setup": Stage.STARTUP,
    "first_iter": Stage.TRAINING,
    "steady_mid": Stage.TRAINING,
    "checkpoint": Stage.CHECKPOINT_SAVE,
    "checkpoint_load": Stage.CHECKPOINT_LOAD,
    "checkpoint_load_start": Stage.CHECKPOINT_LOAD,
    "teardown": Stage.SHUTDOWN,
}


@dataclass(frozen=True, slots=True)
class RestartAgent:
    """The deterministic stage of the restart agent."""

    name: str = "nvrx"
    version: str = ENVIRONMENT.version
    fingerprint: str = f"nvrx/1/{ENVIRONMENT.version}"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The answer for one job; healthy runs are not used. Merging the files does not count into the seconds.

        Raises RivalFailedError.
        """
        file = context.scratch / "job.log"
        places = merge(open_job(job), file)
        reply = ask(ENVIRONMENT, "ask_nvrx.py", {"file": str(file)}, seconds=context.seconds)
        return read_answer(reply.result, places, reply.seconds, reply.bytes)


def read_answer(answer: dict[str, Any], places: Sequence[Place], seconds: float, peak: int) -> Prediction:
    """Its answer in the common words."""
    primary = answer.get("primary_failure") or answer.get("selected_observed_failure")
    ranks = tuple(dict.fromkeys(_ranks(answer, primary, places)))
    nodes = tuple(dict.fromkeys(_nodes(answer, primary, places)))
    return Prediction(
        status=Status.FAILED if primary else Status.HEALTHY,
        cause=_cause(primary),
        ranks=ranks,
        nodes=nodes,
        blamed=_blamed(primary, places),
        events=frozenset(_events(answer, primary, places)),
        stage=STAGES.get(str(primary.get("phase"))) if primary else None,
        iteration=_iteration(answer, primary),
        fields=frozenset({"stage", "iteration"}),
        seconds=seconds,
        bytes=peak,
    )


def _cause(primary: dict[str, Any] | None) -> str:
    if not primary:
        return NO_CAUSE
    failure = str(primary.get("failure_class"))
    if failure == "observed_exception":
        return cause_of_exception(str(primary.get("signature") or ""))
    return CAUSES.get(failure, UNKNOWN_CAUSE)


def _iteration(answer: dict[str, Any], primary: dict[str, Any] | None) -> int | None:
    if not primary:
        return None
    told = primary.get("failure_iteration")
    return told if told is not None else answer.get("highest_completed_step")


def _blamed(primary: dict[str, Any] | None, places: Sequence[Place]) -> tuple[Suspect, ...]:
    if not primary:
        return ()
    rank, node = _rank_of(primary, places), _node_of(primary, places)
    return (Suspect(rank=rank, node=node),) if rank is not None or node is not None else ()


def _ranks(answer: dict[str, Any], primary: dict[str, Any] | None, places: Sequence[Place]) -> Iterator[int]:
    """Of the primary failure, then of the secondary ones, then of the cascades."""
    for failure in _all(answer, primary):
        rank = _rank_of(failure, places)
        if rank is not None:
            yield rank
    for cascade in answer.get("cascades") or ():
        yield from (int(rank) for rank in cascade.get("rank_spread") or () if str(rank).isdigit())


def _nodes(answer: dict[str, Any], primary: dict[str, Any] | None, places: Sequence[Place]) -> Iterator[str]:
    for failure in _all(answer, primary):
        node = _node_of(failure, places)
        if node is not None:
            yield node


def _all(answer: dict[str, Any], primary: dict[str, Any] | None) -> list[dict[str, Any]]:
    return ([primary] if primary else []) + list(answer.get("secondary_failures") or ())


def _rank_of(failure: dict[str, Any], places: Sequence[Place]) -> int | None:
    told = failure.get("rank")
    if told is not None and str(told).isdigit():
        return int(told)
    place = _place(failure.get("line"), places)
    return place.rank if place else None


def _node_of(failure: dict[str, Any], places: Sequence[Place]) -> str | None:
    place = _place(failure.get("line"), places)
    return failure.get("node") or (place.node if place else None)


def _place(line: int | None, places: Sequence[Place]) -> Place | None:
    return places[line - 1] if line is not None and 1 <= line <= len(places) else None


def _events(answer: dict[str, Any], primary: dict[str, Any] | None, places: Sequence[Place]) -> Iterator[Flag]:
    if primary:
        yield from _flags([primary.get("line")], places, Role.INITIATING)
    lines = [failure.get("line") for failure in answer.get("secondary_failures") or ()]
    cascades = [line for cascade in answer.get("cascades") or () for line in cascade.get("sample_lines") or ()]
    yield from _flags([*lines, *cascades], places, Role.CASCADE)


def _flags(lines: Iterable[int | None], places: Sequence[Place], role: Role) -> Iterator[Flag]:
    for line in lines:
        place = _place(line, places)
        if place is not None:
            yield Flag(place.source, place.line, role)
