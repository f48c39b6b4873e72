"""What the exit code of a command says. Documented in `docs/exit-codes.md`, which a test compares with this."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from assistant.errors import ConfigError, InputError, ModelError, RemoteError, RootrankError, UsageError

if TYPE_CHECKING:
    from assistant.case.models import Case


class ExitCode(IntEnum):
    """One number a meaning."""

    OK = 0
    """Nothing failed; for commands other than `diagnose`: done."""
    PROBLEMS = 1
    """A check found problems."""
    USAGE = 2
    """The command line does not fit together."""
    INPUT = 3
    """The input cannot be read."""
    CONFIG = 4
    """A setting, a data file, a stored case or a baseline is wrong or missing."""
    MODEL = 5
    """The model endpoint failed, with `--no-fallback`."""
    REMOTE = 6
    """A remote service failed."""
    FAILED = 10
    """The job failed, was cancelled, preempted or cut by its time limit, and the cause is known."""
    UNDETERMINED = 11
    """The job failed, or may have failed, and the logs do not show why."""
    INCOMPLETE = 12
    """The job still runs, hangs, or its logs are cut."""
    INTERNAL = 70
    """A fault of this program."""
    INTERRUPTED = 130
    """Ctrl-C."""


_BY_ERROR: tuple[tuple[type[RootrankError], ExitCode], ...] = (
    (UsageError, ExitCode.USAGE),
    (InputError, ExitCode.INPUT),
    (ConfigError, ExitCode.CONFIG),
    (RemoteError, ExitCode.REMOTE),
    (ModelError, ExitCode.MODEL),
)


def of_case(case: Case) -> ExitCode:
    """The code that `diagnose` ends with."""
    match case.status:
        case "healthy":
            return ExitCode.OK
        case "incomplete":
            return ExitCode.INCOMPLETE
        case "failed" if case.verdict.cause not in ("unknown", "none"):
            return ExitCode.FAILED
    return ExitCode.UNDETERMINED


def of_error(error: RootrankError) -> ExitCode:
    """The code that a refusal ends with."""
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), ExitCode.INTERNAL)
