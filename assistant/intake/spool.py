"""Standard input, kept in a private temporary file so that it can be read more than once and cited."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from assistant.intake.files import NotAFile, reason_of
from assistant.intake.limits import DEFAULT_LIMITS, MIB, Limits

STDIN = "-"
_DESCRIPTORS = "/proc/self/fd"
"""Where Linux shows open files, also those without a name, so that they can be opened again."""


def spool_stdin(limits: Limits = DEFAULT_LIMITS) -> tuple[Path, str | None]:
    """Copy standard input to a file of mode 0600 that goes with this process. Returns it, and why it is not whole."""
    if sys.stdin is None:
        raise NotAFile("closed: nothing is piped in")
    return spool(sys.stdin.buffer, limits)


def spool(stream: BinaryIO, limits: Limits = DEFAULT_LIMITS) -> tuple[Path, str | None]:
    """As `spool_stdin`, for any stream. Raises OSError if no temporary file can be made."""
    handle, name = tempfile.mkstemp(prefix="rootrank-stdin-")
    path = Path(name)
    if os.path.exists(_DESCRIPTORS):
        # Without a name nothing of it is left on disk, however this process ends.
        # By number, so that a process that counts its lines finds it too.
        path = Path(f"/proc/{os.getpid()}/fd/{os.dup(handle)}")
        os.unlink(name)
    else:
        atexit.register(_remove, path, os.getpid())
    with open(handle, "wb") as file:
        try:
            return path, _copy(stream, file, limits)
        except OSError as error:
            return path, f"cut after {path.stat().st_size:,} bytes: {reason_of(error)}"


def _copy(stream: BinaryIO, file: BinaryIO, limits: Limits) -> str | None:
    room = shutil.disk_usage(tempfile.gettempdir()).free - limits.spool_reserve
    most = max(0, min(limits.spool_bytes, room))
    copied = 0
    while data := stream.read(MIB):
        if copied + len(data) > most:
            file.write(data[: most - copied])
            why = "the limit" if most == limits.spool_bytes else "what the temporary disk has room for (set TMPDIR)"
            return f"cut after {most:,} bytes, {why}: give a file instead"
        file.write(data)
        copied += len(data)
    return None


def _remove(path: Path, owner: int) -> None:
    """Only the process that made the file removes it, not its forks."""
    if os.getpid() == owner:
        with suppress(OSError):
            path.unlink()
