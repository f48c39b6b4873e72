"""Questions that were typed, over all sessions; what was typed and not sent when the terminal went is the newest."""

from __future__ import annotations

import contextlib
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

    def add(self, text: str) -> None:
        """Keeps a question; a folder that cannot be written keeps it for this run only."""
        if text.strip() and self.texts[-1:] != [text]:
            self.texts.append(text)
            with contextlib.suppress(OSError):
                folder_for(self._path)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                descriptor = os.open(self._path, flags, 0o600)
                try:
                    os.write(descriptor, orjson.dumps(text.encode("utf-8", "replace").decode()) + b"\n")
                finally:
                    os.close(descriptor)
        self._at = len(self.texts)

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
