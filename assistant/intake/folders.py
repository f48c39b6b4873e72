"""Walk folders and name what is in them; nothing is opened here."""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assistant.intake.files import kind_of, reason_of
from assistant.intake.limits import DEFAULT_LIMITS, Limits
from assistant.intake.selection import HIDDEN, is_skipped, why_unlikely

_SYSTEM = ("/proc", "/sys", "/dev")


@dataclass(frozen=True, slots=True)
class Found:
    """A path that may be a log."""

    path: Path
    why_not: str | None = None
    """Why it need not be opened at all."""


@dataclass
class Walk:
    """The walk over everything that was given: each folder once, whatever links lead to it."""

    limits: Limits = DEFAULT_LIMITS
    _folders: set[tuple[int, int]] = field(default_factory=set)
    _above: set[tuple[int, int]] = field(default_factory=set)
    """Folders that hold a given path: a link to one of them leads out of the job."""
    _entries: int = 0

    def give(self, path: Path) -> Iterator[Found]:
        """What a path that somebody named leads to. Links are followed, but never twice and never upwards."""
        try:
            status = path.stat()
        except OSError as error:
            absent = isinstance(error, FileNotFoundError) and not os.path.islink(path)
            yield Found(path, "no such file or folder" if absent else _link_words(path, error))
            return
        if kind := kind_of(status.st_mode):
            yield Found(path, f"{kind}: pipe it into `-` instead" if kind == "a named pipe" else kind)
        elif stat.S_ISDIR(status.st_mode):
            self._above |= {_identity(parent) for parent in Path(os.path.realpath(path)).parents}
            yield from self._folder(path)
        else:
            yield Found(path)

    def _folder(self, top: Path) -> Iterator[Found]:
        """Breadth first; linked folders wait until all real ones have been seen."""
        folders, links = deque([(top, 0)]), deque[tuple[Path, int]]()
        while folders or links:
            path, depth = folders.popleft() if folders else links.popleft()
            refusal = self._refusal(path, depth)
            if refusal is None:
                for entry in self._listed(path):
                    if isinstance(entry, Found):
                        yield entry
                    else:
                        (links if entry.is_symlink() else folders).append((Path(entry.path), depth + 1))
            elif refusal:
                yield Found(path, refusal)

    def _refusal(self, path: Path, depth: int) -> str | None:
        """Why a folder is not entered; empty where it was given twice and need not be mentioned."""
        try:
            identity = _identity(path)
        except OSError as error:
            return _link_words(path, error)
        if identity in self._folders:
            return "a link to a folder that is read already" if os.path.islink(path) else ""
        if depth and (identity in self._above or os.path.realpath(path).startswith(_SYSTEM)):
            return "a link to a folder around the job"
        if depth > self.limits.depth:
            return f"nested more than {self.limits.depth} folders deep"
        self._folders.add(identity)
        return None

    def _listed(self, folder: Path) -> list[Found | os.DirEntry[str]]:
        found: list[Found | os.DirEntry[str]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._entries += 1
                    if self._entries > self.limits.entries:
                        found.append(Found(folder, f"only {self.limits.entries:,} directory entries are looked at"))
                        break
                    found.append(_judged(entry))
        except OSError as error:
            found.append(Found(folder, reason_of(error)))
        return sorted(found, key=lambda one: str(one.path))


def _judged(entry: os.DirEntry[str]) -> Found | os.DirEntry[str]:
    """The entry itself if it is a folder to enter."""
    path = Path(entry.path)
    try:
        mode = entry.stat().st_mode
    except OSError as error:
        return Found(path, _link_words(path, error))
    if stat.S_ISDIR(mode):
        hidden = is_skipped(entry.name) or os.path.lexists(path / "pyvenv.cfg")
        return Found(path, HIDDEN) if hidden else entry
    return Found(path, kind_of(mode) or why_unlikely(entry.name))


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _link_words(path: Path, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a link that leads to itself"
    return "a broken link" if os.path.islink(path) and isinstance(error, FileNotFoundError) else reason_of(error)
