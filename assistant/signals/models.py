"""A signal: a fact about a rank or node from something other than a log pattern."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SignalKind(StrEnum):
    """What a signal says."""

    EXIT = "exit"
    """A process ended by itself with a non-zero code or by a signal; `exitcode` is negative for signals."""
    CLOSED = "closed"
    """A launcher or scheduler ended the process (SIGTERM, then SIGKILL): a victim, or a hung one."""
    ERROR_FILE = "error_file"
    """A rank left a structured error report; `value` is its message."""
    NO_ERROR_FILE = "no_error_file"
    """A rank left none although others of the same launcher kind did."""
    FIRST_FAILURE = "first_failure"
    """What a launcher takes for the root cause. A claim, no proof: it is merely the earliest report it saw."""
    STOPPED = "stopped"
    """A launcher was itself told to stop from outside; `value` names the signal. A scheduler does so to all launchers
    when a job is cancelled, and to the remaining ones after the first has failed."""
    SETTING = "setting"
    """One node states a setting or a version otherwise than all others; `value` says which."""
    RANK_MAP = "rank_map"
    """A launcher's own mapping of local to global ranks."""


@dataclass(frozen=True, slots=True)
class SignalPlace:
    """Where a signal stands in the sources; `text` is the exact first line."""

    source: int
    line: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Signal:
    """One fact. `time` is UTC epoch seconds; `rank` is global wherever it could be mapped."""

    origin: str
    """`torchelastic`, `srun`, `mpirun`, `deepspeed`, ..."""
    kind: SignalKind
    node: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    device: str | None = None
    pid: int | None = None
    time: float | None = None
    exitcode: int | None = None
    value: str = ""
    evidence: tuple[SignalPlace, ...] = ()
    attempt: int = 0
