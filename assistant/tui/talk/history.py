"""Questions that were typed, over all sessions; what was typed and not sent when the terminal went is the newest."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

import orjson

from assistant.disk import folder_for

KEPT = 500


class History:
    """A file of questions, and a place in it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "history.jsonl"
        self.texts: list[str] = self._read()
        self._at = len(self.texts)
        self._draft = ""
        self._owed = b""
        """What could not be written yet."""

    def add(self, text: str) -> None:
        """Keeps a question. What a full disk or a closed folder refuses is kept for this run, and tried again later."""
        if text.strip() and self.texts[-1:] != [text]:
            self.texts.append(text)
            self._owed += orjson.dumps(text.encode("utf-8", "replace").decode()) + b"\n"
            with contextlib.suppress(OSError):
                self._pay()
        self._at = len(self.texts)

    def _pay(self) -> None:
        """Appends what is owed, whole lines or none: another process appends to the same file."""
        folder_for(self._path)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        with os.fdopen(os.open(self._path, flags, 0o600), "ab", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before = os.fstat(file.fileno()).st_size
            # The last line may be half of one, of a process that was killed.
            torn = before and os.pread(file.fileno(), 1, before - 1) != b"\n"
            data = b"\n" + self._owed if torn else self._owed
            if os.write(file.fileno(), data) < len(data):
                os.ftruncate(file.fileno(), before)
            else:
                self._owed = b""

    @property
    def unkept(self) -> list[str]:
        """What could not be written down at all so far."""
        return [orjson.loads(row) for row in self._owed.splitlines()]

    def older(self, draft: str) -> str | None:
        """The question before; what is being typed is kept for the way back."""
        if self._at == 0:
            return None
        if self._at == len(self.texts):
            self._draft = draft
        self._at -= 1
        return self.texts[self._at]

    def newer(self) -> str | None:
        """The question after; at last what was being typed."""
        if self._at >= len(self.texts):
            return None
        self._at += 1
        return self._draft if self._at == len(self.texts) else self.texts[self._at]

    def _read(self) -> list[str]:
        try:
            rows = self._path.read_bytes().splitlines()[-KEPT:]
        except OSError:
            return []
        found: list[str] = []
        for row in rows:
            with contextlib.suppress(orjson.JSONDecodeError):
                if isinstance(text := orjson.loads(row), str):
                    found.append(text)
        return found
