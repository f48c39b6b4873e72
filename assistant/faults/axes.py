"""The axes on which the failure studies sort a fault; closed vocabularies, one value each (stages: several).

Cause class and action of an entry say what to tell an engineer; the axes say what kind of failure it is, so that a
store of failures can be counted and searched the way the studies do.

Where the words come from:
- symptoms: L4, arXiv 2503.20263 (launching failure, training crash, abnormal behaviour, others); bugs in distributed
  training and inference frameworks, arXiv 2506.10426 (crash, incorrect functionality, build failure);
- root causes: issues in LLM training systems, FSE 2025, 10.1145/3696630.3728538 (API misuse, configuration error,
  general code error, concurrency error, tensor management error); arXiv 2506.10426 (incorrect implementation, missing
  precondition, distributed communication error); L4 (network, accelerator, node and storage hardware, software
  incompatibility, misoperation, platform); quality of a platform, ICSE-SEIP 2023 (hardware, system side, user side);
- kinds of fix: bugs in distributed deep learning, arXiv 2512.20345 (versions and dependencies, tuning of features and
  communication); arXiv 2506.10426 (handling of parameters); ICSE-SEIP 2023 (resubmit, improve user code); L4 (isolate).
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from assistant.case.models import Model
from assistant.case.vocabulary import Stage


class Symptom(StrEnum):
    """What a person sees first."""

    LAUNCH_FAILURE = "launch_failure"
    """Ends before the first iteration."""
    CRASH = "crash"
    """Ends with an error after it had begun to work."""
    HANG = "hang"
    """Nothing goes on, nothing ends."""
    SLOWDOWN = "slowdown"
    WRONG_RESULT = "wrong_result"
    """Runs, but computes what it should not: NaN, spikes, other values on other ranks."""
    BUILD_FAILURE = "build_failure"
    """An extension or kernel cannot be built."""
    STOPPED = "stopped"
    """Ended from outside although nothing in the job had failed."""
    WARNING = "warning"
    """Only a message; the job goes on."""


class RootCause(StrEnum):
    """The kind of defect or condition behind it."""

    API_MISUSE = "api_misuse"
    """A framework or library is called against its contract."""
    CONFIGURATION_ERROR = "configuration_error"
    """A setting of job, framework, network or launcher is wrong."""
    CODE_ERROR = "code_error"
    """An ordinary mistake of the program."""
    CONCURRENCY_ERROR = "concurrency_error"
    """Ranks, processes or threads do things in an order that does not fit together."""
    TENSOR_MANAGEMENT_ERROR = "tensor_management_error"
    """Shape, type, device or sharding of tensors."""
    DATA_ERROR = "data_error"
    """Content of data set or checkpoint."""
    NUMERICAL_INSTABILITY = "numerical_instability"
    MISOPERATION = "misoperation"
    """A person stopped or disturbed the job."""
    SOFTWARE_INCOMPATIBILITY = "software_incompatibility"
    """Versions that do not fit together, or a feature this version or device does not have."""
    FRAMEWORK_DEFECT = "framework_defect"
    """A bug of framework, library or driver."""
    ENVIRONMENT = "environment"
    """A missing precondition: package, path, permission, variable, image, left-over process."""
    RESOURCE_EXHAUSTION = "resource_exhaustion"
    """Memory, disk, descriptors or processes ran out."""
    COMMUNICATION_ERROR = "communication_error"
    """Peers or services do not reach each other; whether by setting or by hardware is open."""
    ACCELERATOR_HARDWARE = "accelerator_hardware"
    NETWORK_HARDWARE = "network_hardware"
    NODE_HARDWARE = "node_hardware"
    STORAGE_SYSTEM = "storage_system"
    PLATFORM_SCHEDULING = "platform_scheduling"
    """Limits, preemption and moves that the scheduler orders."""
    PLATFORM_SERVICE = "platform_service"
    """A service of node or cluster is down."""
    NOT_SHOWN = "not_shown"
    """The record shows a consequence; the cause stands elsewhere or nowhere."""
    NONE = "none"
    """Nothing failed."""


class Fix(StrEnum):
    """What removes the fault for good; the entry's action says what to do at once."""

    RESUBMIT = "resubmit"
    REPLACE_HARDWARE = "replace_hardware"
    """Take out, repair or replace."""
    RESET_DEVICE = "reset_device"
    """Reset or reboot; replace where it returns."""
    CHANGE_VERSION = "change_version"
    CHANGE_CONFIGURATION = "change_configuration"
    TUNE_COMMUNICATION = "tune_communication"
    """Interfaces, routes, timeouts, variables of the communication library."""
    CHANGE_CODE = "change_code"
    REPAIR_DATA = "repair_data"
    REPAIR_ENVIRONMENT = "repair_environment"
    """Install, mount, permit, start, clean up."""
    ADD_RESOURCE = "add_resource"
    """More of it, or less demand."""
    TUNE_NUMERICS = "tune_numerics"
    """Precision, learning rate, clipping, skipped batches."""
    RESTORE_CHECKPOINT = "restore_checkpoint"
    FIND_CAUSE = "find_cause"
    """There is nothing to mend here; the cause has to be found first."""
    NONE = "none"


class Axes(Model):
    """One fault on all axes; the layer is the first part of the entry's cause."""

    symptom: Symptom
    root_cause: RootCause
    stages: tuple[Stage, ...] = Field(min_length=1)
    """Where it typically happens, in the order of a job's life."""
    fix: Fix
