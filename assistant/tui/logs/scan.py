"""The near side of the process that counts or searches lines: what it has found so far. Knows no screen."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from array import array
from bisect import bisect_left, bisect_right
from contextlib import suppress
from pathlib import Path

from assistant.intake.models import Source
from assistant.tui.logs.worker import RECORD, task

PACKAGE = Path(__file__).resolve().parents[3]
NEAR = 64 * 1024
"""Bytes between two known places, at least, of what is appended bit by bit."""


class LogScan:
    """Starts the process and takes its records in a thread. With `follow` it goes on with what is appended."""

    def __init__(self, source: Source, pattern: str | None = None, *, follow: bool = False) -> None:
        self.pattern = pattern
        self.hits = array("q")
        """Offsets at which matching lines begin."""
        self.lines = array("q")
        """Their numbers."""
        self.at = 0
        """Offset up to which it has come."""
        self.done = False
        """The end was reached; of a file that is followed, at least once."""
        self.failed = False
        self._offsets = array("q", [0])
        self._numbers = array("q", [1])
        self._total = 0
        path = os.pathsep.join(filter(None, (str(PACKAGE), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "assistant.tui.logs.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._take, args=(task(source, pattern, follow),), daemon=True)
        self._thread.start()

    def near(self, offset: int) -> tuple[int, int]:
        """The last known (offset, line number) at or before an offset."""
        at = bisect_right(self._offsets, offset) - 1
        return self._offsets[at], self._numbers[at]

    def place(self, number: int) -> tuple[int, int]:
        """The last known (offset, line number) at or before a line number."""
        at = bisect_right(self._numbers, number) - 1
        return self._offsets[at], self._numbers[at]

    @property
    def total(self) -> int | None:
        """Lines of the source, once all are counted."""
        return self._total if self.done and not self.pattern else None

    def after(self, offset: int) -> int | None:
        """The next matching line behind an offset, as far as is known."""
        at = bisect_right(self.hits, offset)
        return self.hits[at] if at < len(self.hits) else None

    def before(self, offset: int) -> int | None:
        """The last matching line before an offset, as far as is known."""
        at = bisect_left(self.hits, offset)
        return self.hits[at - 1] if at > 0 else None

    def wait(self, seconds: float) -> bool:
        """Waits for the end; whether it came."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Ends the process."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._thread.join(5)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _take(self, told: bytes) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):
            self._process.stdin.write(told)
            self._process.stdin.close()
            while data := self._process.stdout.read(RECORD.size):
                if len(data) < RECORD.size:
                    break
                self._note(*RECORD.unpack(data))
        self.failed = not self.done or self.failed
        self.done = True

    def _note(self, kind: bytes, offset: int, number: int) -> None:
        if kind == b"H":
            self.lines.append(number)
            self.hits.append(offset)
        elif kind == b"P":
            if not self.done or offset - self._offsets[-1] >= NEAR:
                self._numbers.append(number)
                self._offsets.append(offset)
            self.at = offset
        else:
            self.failed = kind == b"X"
            self._total = number
            self.done = True
