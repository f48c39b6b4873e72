"""The terminal that a workplace needs, also where the logs come through standard input; and leaving it at once."""

from __future__ import annotations

import os
import sys
import threading
import time

from assistant.errors import UsageError

DRIVER = "TEXTUAL_DRIVER"
"""Set for a process whose screen goes through a pipe to a browser."""
TERMINAL = "/dev/tty"
DUMB = ("dumb", "unknown")
"""Values of TERM that stand for a terminal whose cursor cannot be moved."""
GRACE = 1.0
"""Seconds that threads may take to end by themselves."""


def in_browser() -> bool:
    """Whether this process draws for a browser."""
    return os.environ.get(DRIVER, "").endswith("WebDriver")


def take_terminal(*, piped: bool) -> None:
    """Makes sure that keys can be read. `piped`: logs are wanted from standard input, keys from the terminal itself.

    Raises UsageError where there is no terminal, or nothing is piped in.
    """
    if in_browser():
        return
    if sys.stdin is None or not sys.stdout.isatty() or not (piped or sys.stdin.isatty()):
        raise UsageError("chat needs a terminal", hint="in a pipe, use: rootrank explain LOGS -q QUESTION")
    if (kind := os.environ.get("TERM", "")) in DUMB:
        hint = "set TERM to what it is, such as xterm-256color, or use: rootrank explain LOGS -q QUESTION"
        raise UsageError(f"a terminal without a cursor (TERM={kind}) cannot show the screen", hint=hint)
    if not piped:
        return
    if sys.stdin.isatty():
        raise UsageError("- is standard input, and nothing is piped in", hint="cat LOG | rootrank chat -")
    try:
        terminal = os.open(TERMINAL, os.O_RDWR)
    except OSError:
        raise UsageError(
            "no terminal to read keys from", hint="rootrank diagnose -; then: rootrank chat last"
        ) from None
    # The screen takes its keys from descriptor 0; the reader of logs takes what `sys.stdin` is.
    sys.stdin = os.fdopen(os.dup(0), "r", errors="replace")
    os.dup2(terminal, 0)
    os.close(terminal)


def ended(code: int) -> int:
    """The code to end with. Threads that still read logs, or wait for a pipe or a model, do not keep the terminal.

    What they would write is written whole or not at all.
    """
    until = time.monotonic() + GRACE
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
    return code
