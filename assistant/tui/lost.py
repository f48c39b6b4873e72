"""Ends the program when its terminal, or the server that shows it in a browser, is gone. Knows no screen.

A terminal that vanishes (a closed window, a cut ssh, a killed tmux) leaves a screen program with a thread that reads
the end of file for ever and another that cannot write any more; the first may spin, the second blocks everything that
waits for it, the end of the program included. So a thread of its own looks at the terminal, asks for an orderly end,
and after a short while ends the process whatever happens. Sessions are written as they grow: nothing is lost.
"""

from __future__ import annotations

import os
import select
import signal
import stat
import termios
import threading
from collections.abc import Callable
from types import FrameType

EVERY = 1.0
"""Seconds between two looks."""
GRACE = 2.0
"""Seconds that an orderly end may take."""
CODE = 128 + signal.SIGHUP
"""What the process ends with, as a shell would say of one that was hung up on."""


class Watch:
    """Looks at one terminal until `stop`."""

    def __init__(
        self, terminal: int, leave: Callable[[], None], *, every: float = EVERY, grace: float = GRACE,
        end: Callable[[int], None] = os._exit,
    ) -> None:  # fmt: skip
        self._terminal, self._leave = terminal, leave
        self._every, self._grace, self._end = every, grace, end
        self._stopped = threading.Event()
        self._told = threading.Event()
        self._thread = threading.Thread(target=self._look, name="terminal-watch", daemon=True)

    def __enter__(self) -> Watch:
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._told.set()

    def _look(self) -> None:
        while not self._told.wait(self._every):
            if self._stopped.is_set():
                return
            if gone(self._terminal):
                break
        if self._stopped.is_set():
            return
        # Asking may itself block on the lost terminal.
        threading.Thread(target=self._leave, daemon=True).start()
        if not self._stopped.wait(self._grace):
            self._end(CODE)


def gone(terminal: int) -> bool:
    """Whether a terminal does not answer any more, or nobody holds the other end of a pipe."""
    try:
        mode = os.fstat(terminal).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            return _hung_up(terminal)
        termios.tcgetattr(terminal)
    except (termios.error, OSError, ValueError):
        return True
    return False


def _hung_up(pipe: int) -> bool:
    poll = select.poll()
    poll.register(pipe, 0)
    return bool(poll.poll(0))
