"""The closed vocabularies of a Case. One spelling for library, verdicts, labels and scores."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How the job ended, as far as the logs show."""

    FAILED = "failed"
    HEALTHY = "healthy"
    INCOMPLETE = "incomplete"
    UNKNOWN = "unknown"


class Stage(StrEnum):
    """What a rank was doing. A verdict's stage is the one running where the initiating event happened."""

    STARTUP = "startup"
    LOADING = "loading"
    CHECKPOINT_LOAD = "checkpoint_load"
    TRAINING = "training"
    EVALUATION = "evaluation"
    CHECKPOINT_SAVE = "checkpoint_save"
    SHUTDOWN = "shutdown"


class Confidence(StrEnum):
    """high = established, medium = supported, low = hypothesis."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class EvidenceClass(StrEnum):
    """Whether the logs close the case (L4, FSE 2025: 54 % do, 36 % need one measurement, 10 % do not show it)."""

    LOGS = "logs"
    NEEDS_MEASUREMENT = "needs_measurement"
    NOT_IN_LOGS = "not_in_logs"


class ActionKind(StrEnum):
    """The one thing to do now."""

    RETRY = "retry"
    RESTART_FROM_CHECKPOINT = "restart_from_checkpoint"
    REPLACE_NODE = "replace_node"
    ROLL_BACK = "roll_back"
    FIX_CONFIG = "fix_config"
    FIX_CODE = "fix_code"
    FIX_DATA = "fix_data"
    FREE_RESOURCE = "free_resource"
    RAISE_LIMIT = "raise_limit"
    ASK_OPERATOR = "ask_operator"
    COLLECT = "collect"
    NONE = "none"


class Role(StrEnum):
    """The part an event plays in a failure."""

    INITIATING = "initiating"
    CASCADE = "cascade"
    TEARDOWN = "teardown"
    CONTEXT = "context"


class NodeState(StrEnum):
    """What is known of a node after the comparison with its peers."""

    AFFECTED = "affected"
    HEALTHY = "healthy"
    CHANGED = "changed otherwise"
    NOT_CHECKED = "not checked"


CAUSES: dict[str, frozenset[str]] = {
    "hardware": frozenset(
        {"gpu_memory", "gpu_lost", "gpu_firmware", "gpu_fault", "nvlink", "thermal_power", "host", "npu"}
    ),
    "network": frozenset({"link", "unreachable", "name_resolution", "interface", "config"}),
    "collective": frozenset({"mismatch", "hang", "init"}),
    "process": frozenset({"killed", "segfault", "bus_error", "illegal_instruction", "abort", "exit"}),
    "memory": frozenset({"gpu_oom", "host_oom", "shm", "fd_limit"}),
    "storage": frozenset({"disk_full", "permission", "missing_path", "io_error"}),
    "checkpoint": frozenset({"corrupt", "mismatch", "missing"}),
    "data": frozenset({"missing", "invalid", "loader_worker"}),
    "numerics": frozenset({"nan", "loss_spike", "loss_scale"}),
    "code": frozenset({"exception", "import", "shape", "device"}),
    "config": frozenset({"parallelism", "argument", "environment"}),
    "launch": frozenset({"port_in_use", "rendezvous", "rank_absent", "container", "mpi"}),
    "scheduler": frozenset({"time_limit", "preempted", "node_fail", "cancelled", "evicted"}),
    "platform": frozenset({"version_mismatch", "service", "library_bug"}),
    "performance": frozenset({"straggler", "regression"}),
}
"""Cause classes by layer; a cause is spelled `layer.class`, besides `none` and `unknown`."""

NO_CAUSE = "none"
UNKNOWN_CAUSE = "unknown"


def all_causes() -> frozenset[str]:
    """Every legal cause string."""
    spelled = {f"{layer}.{name}" for layer, names in CAUSES.items() for name in names}
    return frozenset(spelled | {NO_CAUSE, UNKNOWN_CAUSE})
