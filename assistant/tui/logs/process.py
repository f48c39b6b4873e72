"""The near side of a process that looks through logs: it is told a task, and a thread takes what it finds.

Knows no screen.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3]


class WorkerProcess:
    """Runs a module of this package as a process. `take` reads its output in a thread; `ended` is called after it."""

    def __init__(
        self, module: str, told: bytes, take: Callable[[BufferedReader], None], ended: Callable[[], None]
    ) -> None:
        path = os.pathsep.join(filter(None, (str(PACKAGE), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        )  # fmt: skip
        self._take, self._ended = take, ended
        self._thread = threading.Thread(target=self._run, args=(told,), daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """The process has not ended."""
        return self._process.poll() is None

    def wait(self, seconds: float) -> bool:
        """Waits until all of its output was taken; whether it was."""
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

    def _run(self, told: bytes) -> None:
        given, out = self._process.stdin, self._process.stdout
        assert given is not None
        assert isinstance(out, BufferedReader)
        with suppress(OSError, ValueError):
            given.write(told)
            given.close()
            self._take(out)
        self._ended()


def following(places: Sequence[int], offset: int) -> int | None:
    """The first of ascending places behind an offset."""
    at = bisect_right(places, offset)
    return places[at] if at < len(places) else None


def preceding(places: Sequence[int], offset: int) -> int | None:
    """The last of ascending places before an offset."""
    at = bisect_left(places, offset)
    return places[at - 1] if at > 0 else None
