"""Sessions: what was asked and answered about a case, as append-only JSON lines that survive a killed process.

The first line says what the session is about and everything that shaped its answers; each further line is a question or
one event of an answer. A line is written whole and handed to the system at once, so that a crash loses nothing that was
shown; a half-written last line is left out when the file is read. One process writes a session at a time.
"""

from __future__ import annotations

import contextlib
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
from assistant.errors import SessionBusy, StoreError, UnknownSession

VERSION = 1
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
    """Appends to one session. Use as a context manager; a second writer of the same session raises SessionBusy."""

    def __init__(self, path: Path, header: Header, turn: int = 0) -> None:
        self.header = header
        self.turn = turn
        self._path = path
        self._fd = -1

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
        os.close(self._fd)

    def _begin(self) -> None:
        """Drops a half-written last line and, in a new file, writes the header."""
        size = os.fstat(self._fd).st_size
        whole = _whole(os.pread(self._fd, size, 0))
        if whole < size:
            os.ftruncate(self._fd, whole)
        os.lseek(self._fd, 0, os.SEEK_END)
        if whole == 0:
            self._write(self.header)

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
        data = line.model_dump_json().encode("utf-8", "backslashreplace") + b"\n"
        with reported(str(self._path)):
            while data:
                data = data[os.write(self._fd, data) :]


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
        name = f"s-{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(4)}"
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
            return [path.stem for path in sorted(found, key=lambda path: (path.stat().st_mtime, path.stem))]

    def sessions(self) -> Iterator[Session]:
        """All readable sessions, the newest first."""
        for name in reversed(self.ids()):
            with contextlib.suppress(StoreError):
                yield self.load(name)

    def remove(self, name: str) -> str:
        """Removes a session and returns its id."""
        found = self._resolve(name)
        with reported(str(self.folder)):
            self._path(found).unlink()
        return found

    def _resolve(self, name: str) -> str:
        known = self.ids()
        if name == "last" and known:
            return known[-1]
        found = [one for one in known if one == name] or [
            one for one in known if len(name) > 2 and one.startswith(name)
        ]
        if len(found) != 1:
            what = "fits several sessions" if found else "is no stored session"
            raise UnknownSession(f"{name!r} {what}", hint="run `rootrank sessions list` for those there are")
        return found[0]

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"


def _line(path: Path, number: int, raw: bytes) -> Line:
    try:
        return _LINE.validate_json(raw)
    except ValidationError:
        newer = re.search(rb'"version": ?([0-9]+)', raw) if number == 1 else None
        if newer and int(newer[1]) > VERSION:
            raise StoreError(f"{path} was written by a newer version", hint="update Rootrank") from None
        raise StoreError(f"{path}:{number} is damaged", hint="remove the file, or that line") from None


def _whole(data: bytes) -> int:
    """Length of `data` up to the end of its last whole line."""
    return data.rfind(b"\n") + 1


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
