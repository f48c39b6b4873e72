"""The index on disk, a cache: each build in a folder of its own, one pointer file says which is current.

A build that is killed half-way is never pointed at and is swept away by the next. Readers hold a shared lock on the
build they use, so that it is not swept from under them. One pointer for each embedder, so that an environment without
the extras and one with them do not undo each other's work.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from assistant.disk import replace_file
from assistant.errors import NewerStore, StoreBusy, StoreError
from assistant.retrieval.store import Store

VERSION = 1
"""Counts up when an older reader could not use what is written."""
STORE = "passages.sqlite"
VECTORS = "vectors"
_REMEDY = "set storage.data_dir (or ROOTRANK_DATA_DIR) to a folder that you can write to"


@dataclass(frozen=True, slots=True)
class Pointer:
    """Which build is current, and what it was made of."""

    build: str
    fingerprint: str
    """Of everything that went into it: content, embedder, way of cutting."""
    stamp: str
    """Of the files as they lay there, to know without reading them that nothing has changed."""


@dataclass(slots=True)
class Build:
    """An open build. `folder` is None where it lies in memory only."""

    store: Store
    folder: Path | None = None
    _held: list[int] = field(default_factory=list)

    @classmethod
    def open(cls, folder: Path) -> Build:
        """Opens a build for reading and keeps it from being swept. OSError or sqlite3.Error where it is none."""
        handle = os.open(folder / ".use", os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            return cls(Store.open(folder / STORE), folder, [handle])
        except BaseException:
            os.close(handle)
            raise

    def close(self) -> None:
        """Lets it go."""
        self.store.close()
        while self._held:
            os.close(self._held.pop())


@dataclass(frozen=True, slots=True)
class Cache:
    """The builds under `root`. Safe to use from several processes at once."""

    root: Path
    seconds: float = 30.0
    """How long another process's lock is waited for."""

    def pointer(self, profile: str) -> Pointer | None:
        """What is current for an embedder; None where there is nothing yet, or nothing readable.

        Raises:
            NewerStore: a newer version wrote it.
        """
        path = self._pointer(profile)
        try:
            document = orjson.loads(path.read_bytes())
            version = int(document["version"])
            if version > VERSION:
                raise NewerStore(f"{path} was written by a newer version", hint="update Rootrank, or remove the file")
            return Pointer(str(document["build"]), str(document["fingerprint"]), str(document["stamp"]))
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None

    def open(self, pointer: Pointer | None) -> Build | None:
        """The build that is pointed at; None where it is gone or damaged."""
        if pointer is None or "/" in pointer.build or pointer.build.startswith("."):
            return None
        with contextlib.suppress(OSError, sqlite3.Error):
            return Build.open(self._builds / pointer.build)
        return None

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Around everything that changes the cache.

        Raises:
            StoreBusy: another process kept the lock for too long.
            StoreError: the folder cannot be written.
        """
        with reported(self.root):
            for folder in (self.root, self._builds):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.root / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            _lock(handle, self.root / ".lock", self.seconds)
            yield
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Path]:
        """A new folder for a build; removed again where filling it fails. Only while `writing`."""
        folder = self._builds / uuid.uuid4().hex[:12]
        with reported(self.root):
            folder.mkdir(mode=0o700)
            handle = os.open(folder / ".use", os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(handle, fcntl.LOCK_SH)
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            os.close(handle)

    def switch(self, profile: str, pointer: Pointer) -> None:
        """Makes a build the current one, in one step. Only while `writing`."""
        document = {"version": VERSION, "build": pointer.build, "fingerprint": pointer.fingerprint}
        with reported(self.root):
            replace_file(self._pointer(profile), orjson.dumps({**document, "stamp": pointer.stamp}))

    def sweep(self) -> list[str]:
        """Removes the builds that nothing points at and nobody reads; returns their names. Only while `writing`."""
        pointed = {pointer.build for pointer in map(self.pointer, self._profiles()) if pointer}
        swept = []
        for folder in sorted(self._builds.iterdir()):
            if folder.name not in pointed and _unused(folder):
                shutil.rmtree(folder, ignore_errors=True)
                swept.append(folder.name)
        return swept

    @property
    def _builds(self) -> Path:
        return self.root / "builds"

    def _pointer(self, profile: str) -> Path:
        return self.root / f"current-{profile}.json"

    def _profiles(self) -> list[str]:
        names = sorted(path.stem.removeprefix("current-") for path in self.root.glob("current-*.json"))
        return [name for name in names if self._readable(name)]

    def _readable(self, profile: str) -> bool:
        """False for a pointer of a newer version: what it points at is kept, as nothing of it is known."""
        try:
            self.pointer(profile)
        except NewerStore:
            return False
        return True


def _lock(handle: int, path: Path, seconds: float) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise StoreBusy(
                    f"{path} is held by another process that builds the index",
                    hint="wait for it, or raise retrieval.timeout_seconds",
                ) from None
        time.sleep(0.05)


def _unused(folder: Path) -> bool:
    """Whether no process holds a build."""
    try:
        handle = os.open(folder / ".use", os.O_RDONLY)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


@contextlib.contextmanager
def reported(root: Path) -> Iterator[None]:
    """What the file system or SQLite refuses becomes an error with a remedy."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = ((error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__).lower()
        raise StoreError(f"cannot use the data folder {root}: {reason}", hint=_REMEDY) from None
