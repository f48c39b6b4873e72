"""Runs the workplace until a person, or a lost terminal, ends it."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from assistant.case.text import clean
from assistant.tui.app import RootrankApp
from assistant.tui.lost import Watch
from assistant.tui.ports import Workshop

LONGEST = 4_000
"""Characters of what could not be kept that are told at the end."""


def run(workshop: Workshop) -> None:
    """Raises the error that kept the workplace from opening, if one did."""
    app = RootrankApp(workshop)
    try:
        with Watch(sys.__stdin__.fileno() if sys.__stdin__ else 0, lambda: _leave(app)):
            error = app.run(mouse=workshop.look.mouse)
    finally:
        workshop.close()
        for text in app.farewell:
            print(clean(text[:LONGEST]), file=sys.stderr)
    if error is not None:
        raise error


def _leave(app: RootrankApp) -> None:
    """Asks the application to end, from another thread."""
    with contextlib.suppress(RuntimeError, asyncio.CancelledError):
        app.call_from_thread(app.leave)
