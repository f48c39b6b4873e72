"""Writing to the data folder so that nothing is lost: whole files or none, one writer at a time, numbers taken once.

What is stored may hold private text: folders are made 0700, files 0600.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from assistant.errors import StoreError

REMEDY = "set storage.data_dir (or ROOTRANK_DATA_DIR) to a folder that you can write to"


def private_folder(folder: Path) -> None:
    """Makes a folder and those above it that are missing, all closed to others."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)


def folder_for(path: Path) -> None:
    """Makes the folder of a file, closed to others."""
    private_folder(path.parent)


def replace_file(path: Path, data: bytes) -> None:
    """Writes a file beside its name and moves it into place: a reader sees the old one or the new one, never half."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def claim(path: Path) -> bool:
    """Makes an empty file, if there is none of that name: of two processes only one gets True."""
    folder_for(path)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True


def append_line(path: Path, data: bytes) -> None:
    """Adds one line to a file, in one piece."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


@contextlib.contextmanager
def locked(folder: Path, name: str = ".lock") -> Iterator[None]:
    """Holds the folder's lock, waiting for it; it is let go when the process ends, however it ends."""
    private_folder(folder)
    handle = os.open(folder / name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def reported(what: str, hint: str = REMEDY) -> Iterator[None]:
    """Turns what the system refuses into a StoreError that begins with `what`."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
        raise StoreError(f"{what}: {reason.lower()}", hint=hint) from None
