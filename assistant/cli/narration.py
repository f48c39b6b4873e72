"""What is told on standard error: refusals, warnings, remarks. Standard output is for data only."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Protocol, TextIO, runtime_checkable

from assistant.cli.exit_codes import ExitCode, of_error
from assistant.errors import RootrankError

DEBUG = "ROOTRANK_DEBUG"
"""Environment variable that shows the traceback of an internal error."""


@runtime_checkable
class ParserError(Protocol):
    """What the option parser raises, wherever its library keeps the class."""

    def format_message(self) -> str:
        """What is wrong, in one sentence."""


def say(text: str) -> None:
    """One line on standard error; nothing a terminal would act on is left in it."""
    from assistant.case.text import clean

    try:
        print(clean(text), file=sys.stderr, flush=True)
    except OSError:
        lead_nowhere(sys.stderr)


def lead_nowhere(stream: TextIO) -> None:
    """A stream that cannot be written swallows the rest: nobody reads it, and flushing at exit must not fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def remark(text: str) -> None:
    """A line for a person, left out where nobody watches."""
    if sys.stderr.isatty():
        say(text)


def refuse(message: str, hint: str, code: ExitCode) -> ExitCode:
    """The two lines every refusal consists of."""
    say(f"error: {message}")
    say(f"hint: {hint}")
    return code


def explain(error: BaseException) -> ExitCode:
    """Tells what ended the command and returns its exit code. No traceback, unless `ROOTRANK_DEBUG` asks for it."""
    if os.environ.get(DEBUG):
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, RootrankError):
        return refuse(error.message, error.hint, of_error(error))
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        say("interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, ParserError):
        return _usage(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
        lead_nowhere(sys.stdout)
        return refuse(f"cannot write: {os.strerror(error.errno).lower()}", "make room on the disk", ExitCode.USAGE)
    if isinstance(error, MemoryError):
        return refuse("out of memory", "give fewer files, or --threads 1", ExitCode.INTERNAL)
    return _internal(error)


def _internal(error: BaseException) -> ExitCode:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    hint = f"this is a fault of rootrank, not of your logs; report it with what {DEBUG}=1 shows"
    return refuse(f"internal error: {type(error).__name__}: {error}{where}", hint, ExitCode.INTERNAL)


def _usage(error: ParserError) -> ExitCode:
    """A refusal by the option parser; the one without words has printed the help instead."""
    if message := error.format_message().rstrip("."):
        command = getattr(getattr(error, "ctx", None), "command_path", "rootrank")
        refuse(message[0].lower() + message[1:], f"see `{command} --help`", ExitCode.USAGE)
    return ExitCode.USAGE
