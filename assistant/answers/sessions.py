"""Sessions: what was asked and answered about a case, as append-only JSON lines that survive a killed process.

The first line says what the session is about and everything that shaped its answers; each further line is a question or
one event of an answer. A line is written whole and handed to the system at once, so that a crash loses nothing that was
shown; a half-written last line is left out when the file is read. One process writes a session at a time. What cannot
be written, on a full disk, waits in memory and goes to its place as soon as there is room.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.answers.models import AnswerEvent, Question, Replaced, Text, Turn
from assistant.disk import folder_for, reported
from assistant.errors import NewerStore, SessionBusy, StoreError, UnknownSession

VERSION = 1
MOST_WAITING = 64 * 1024 * 1024
"""Bytes that wait in memory for room on the disk, at most."""
MOST_HEADER = 64 * 1024
_TURN = re.compile(rb'^\{"kind":"(?:asked|answered)","turn":([0-9]{1,9})', re.MULTILINE)
_ID = re.compile(r"s-[0-9]{8}-[0-9a-f]{8}")


class Record(BaseModel):
    """Base of the lines of a session file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Header(Record):
    """The first line: what shaped the answers."""

    kind: Literal["header"] = "header"
    version: int = VERSION
    session: str
    case: str
    revision: int
    created: str
    """ISO 8601, UTC."""
    answerer: str
    """The profile that was asked for, or `offline`."""
    program: str
    """Version of Rootrank."""
    prompt: str = ""
    """Id and version of the prompt, where a model answers."""
    library: str = ""
    """Hash of the fault library."""
    knowledge: str = ""
    """Hash of knowledge and incidents that were searched."""


class Asked(Record):
    """A question."""

    kind: Literal["asked"] = "asked"
    turn: int
    at: str
    question: Question


class Answered(Record):
    """One event of the answer."""

    kind: Literal["answered"] = "answered"
    turn: int
    event: AnswerEvent


class Attached(Record):
    """The case got a new revision while the session was open."""

    kind: Literal["attached"] = "attached"
    at: str
    revision: int
    files: tuple[str, ...]


Line = Annotated[Header | Asked | Answered | Attached, Field(discriminator="kind")]
_LINE: TypeAdapter[Line] = TypeAdapter(Line)


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it was read back."""

    header: Header
    lines: tuple[Line, ...]
    """All lines after the first."""
    cut: bool = False
    """The last line was half written and is left out."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Questions with the text that was answered."""
        asked = {line.turn: line.question for line in self.lines if isinstance(line, Asked)}
        return tuple(Turn(question=question, answer=self.text(turn)) for turn, question in sorted(asked.items()))

    def text(self, turn: int) -> str:
        """The answer of a turn as it stood on the screen in the end."""
        pieces: dict[int, str] = {}
        for line in self.lines:
            if isinstance(line, Answered) and line.turn == turn and isinstance(line.event, Text | Replaced):
                pieces[line.event.number] = line.event.text
        return "".join(text for _, text in sorted(pieces.items()))


class SessionWriter:
    """Appends to one session. Use as a context manager; a second writer of the same session raises SessionBusy.

    Where a line cannot be written StoreError is raised, once a line; the line is kept and written before the next one.
    """

    def __init__(self, path: Path, header: Header, turn: int = 0, lines: bytes = b"") -> None:
        self.header = header
        self.turn = turn
        self.renewed = False
        """The file was removed while it was open, and written anew."""
        self._path = path
        self._fd = -1
        self._first = lines
        """What a new file begins with, after its header."""
        self._waiting = b""
        """What could not be written yet."""

    def __enter__(self) -> SessionWriter:
        with reported(str(self._path)):
            folder_for(self._path)
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._fd)
            raise SessionBusy(
                f"session {self.header.session} is open in another process", hint="close it there, or start a new one"
            ) from None
        with reported(str(self._path)):
            self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._flush()
        with contextlib.suppress(OSError):
            if b"\n" not in os.pread(self._fd, MOST_HEADER, 0):
                # A file without a whole header is no session; nothing could be written at all.
                self._path.unlink()
        os.close(self._fd)

    def _begin(self) -> None:
        """Drops a half-written last line and, in a new file, writes the header."""
        size = os.fstat(self._fd).st_size
        data = os.pread(self._fd, size, 0)
        whole = _whole(data)
        if whole < size:
            os.ftruncate(self._fd, whole)
        os.lseek(self._fd, 0, os.SEEK_END)
        # Another process may have gone on since the session was read.
        self.turn = max(self.turn, _last_turn(data[:whole]))
        if whole == 0:
            self._waiting = _dumped(self.header) + self._first
            with contextlib.suppress(OSError):
                self._flush()

    def beside(self) -> SessionWriter:
        """A writer for a new session that begins with all of this one, for when another process writes this one."""
        with reported(str(self._path)):
            data = self._path.read_bytes()
        lines = data[data.find(b"\n") + 1 : _whole(data)]
        header = self.header.model_copy(update={"session": _new_name(), "created": _now()})
        path = self._path.with_name(f"{header.session}.jsonl")
        return SessionWriter(path, header, _last_turn(lines), lines)

    def ask(self, question: Question) -> int:
        """Writes a question down; returns the number of its turn."""
        self.turn += 1
        self._write(Asked(turn=self.turn, at=_now(), question=question))
        return self.turn

    def add(self, event: AnswerEvent) -> None:
        """Writes an event of the current turn down."""
        self._write(Answered(turn=self.turn, event=event))

    def attach(self, revision: int, files: tuple[str, ...]) -> None:
        """Notes that the case got a new revision."""
        self._write(Attached(at=_now(), revision=revision, files=files))

    def _write(self, line: Line) -> None:
        with reported(str(self._path)):
            if len(self._waiting) > MOST_WAITING:
                raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}, and too much waits to be written")
            self._waiting += _dumped(line)
            self._flush()

    def _flush(self) -> None:
        """Writes what waits. Of a line that fits in part only, the rest follows with the next attempt."""
        if os.fstat(self._fd).st_nlink == 0:
            self._renew()
        while self._waiting:
            self._waiting = self._waiting[os.write(self._fd, self._waiting) :]

    def _renew(self) -> None:
        """The file was removed: what it held can still be read, and goes into a new one."""
        folder_for(self._path)
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._waiting = os.pread(self._fd, os.fstat(self._fd).st_size, 0) + self._waiting
        os.close(self._fd)
        self._fd, self.renewed = fd, True


@dataclass(frozen=True, slots=True)
class SessionStore:
    """The sessions under `root`/sessions."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where the sessions lie."""
        return self.root / "sessions"

    def new(self, **about: object) -> SessionWriter:
        """A writer for a new session. `about` are the header's fields besides id and time."""
        name = _new_name()
        header = Header.model_validate({"session": name, "created": _now(), **about})
        return SessionWriter(self._path(name), header)

    def resume(self, name: str) -> tuple[Session, SessionWriter]:
        """A session as it stands, and a writer that goes on with it."""
        session = self.load(name)
        last = max((line.turn for line in session.lines if isinstance(line, Asked | Answered)), default=0)
        return session, SessionWriter(self._path(session.header.session), session.header, last)

    def load(self, name: str) -> Session:
        """Reads a session; `name` may be a unique beginning of its id, or `last`.

        Raises UnknownSession, and StoreError for a damaged file or one from a newer version.
        """
        path = self._path(self._resolve(name))
        with reported(str(path)):
            data = path.read_bytes()
        whole = _whole(data)
        lines = [_line(path, number, raw) for number, raw in enumerate(data[:whole].splitlines(), start=1)]
        if not lines or not isinstance(lines[0], Header):
            raise StoreError(f"{path} is damaged", hint="remove the file")
        return Session(lines[0], tuple(lines[1:]), cut=whole < len(data))

    def ids(self) -> list[str]:
        """Ids of all sessions, the newest last."""
        with reported(str(self.folder)):
            found = [path for path in self.folder.glob("s-*.jsonl") if _ID.fullmatch(path.stem)]
            times = [(path.stat(), path.stem) for path in found]
            # An empty file is one to which nothing could be written yet.
            return [name for _, name in sorted((one.st_mtime, name) for one, name in times if one.st_size)]

    def sessions(self) -> Iterator[Session]:
        """All readable sessions, the newest first."""
        for name in reversed(self.ids()):
            with contextlib.suppress(StoreError, UnknownSession):
                yield self.load(name)

    def unreadable(self) -> Iterator[StoreError]:
        """Why sessions cannot be read: damaged, or of a newer version."""
        for name in self.ids():
            try:
                self.load(name)
            except StoreError as error:
                yield error
            except UnknownSession:  # removed just now
                continue

    def remove(self, name: str) -> str:
        """Removes a session and returns its id. Raises SessionBusy where a process goes on with it."""
        found = self._resolve(name)
        with reported(str(self.folder)), self._path(found).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SessionBusy(f"session {found} is open in another process", hint="close it there first") from None
            self._path(found).unlink()
        return found

    def _resolve(self, name: str) -> str:
        known = self.ids()
        if name == "last" and known:
            return known[-1]
        found = [one for one in known if one == name] or [
            one for one in known if len(name) > 2 and one.startswith(name)
        ]
        if not known:
            raise UnknownSession("no session is stored yet", hint="begin one: rootrank chat LOGS")
        if len(found) != 1:
            what = "fits several sessions" if found else "is no stored session"
            raise UnknownSession(f"{name!r} {what}", hint="run `rootrank sessions list` for those there are")
        return found[0]

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"


def _line(path: Path, number: int, raw: bytes) -> Line:
    newer = re.search(rb'"version": ?([0-9]{1,9})', raw[:MOST_HEADER]) if number == 1 else None
    if newer and int(newer[1]) > VERSION:
        raise NewerStore(f"{path} was written by a newer version", hint="update Rootrank, or begin a new session")
    try:
        return _LINE.validate_json(raw)
    except ValidationError:
        raise StoreError(f"{path}:{number} is damaged", hint="remove the file, or that line") from None


def _dumped(line: Line) -> bytes:
    return line.model_dump_json().encode("utf-8", "backslashreplace") + b"\n"


def _last_turn(data: bytes) -> int:
    """The number of the last turn in some lines; 0 where there is none."""
    return max(map(int, _TURN.findall(data)), default=0)


def _new_name() -> str:
    return f"s-{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(4)}"


def _whole(data: bytes) -> int:
    """Length of `data` up to the end of its last whole line."""
    return data.rfind(b"\n") + 1


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
