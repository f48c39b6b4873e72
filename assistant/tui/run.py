"""Runs the workplace until a person, or a lost terminal, ends it."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from assistant.case.text import clean
from assistant.errors import RootrankError
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
            error = _played(app, mouse=workshop.look.mouse)
    finally:
        workshop.close()
        for text in app.farewell:
            print(clean(text[:LONGEST]), file=sys.stderr)
    if error is not None:
        raise error


def _played(app: RootrankApp, *, mouse: bool) -> RootrankError | None:
    """As `app.run()`, but whoever ends the program does not wait for threads that still read logs or ask a model."""
    loop = asyncio.new_event_loop()
    try:
        return app.run(mouse=mouse, loop=loop)
    finally:
        loop.run_until_complete(_cleared(loop))
        loop.close()


async def _cleared(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await loop.shutdown_asyncgens()


def _leave(app: RootrankApp) -> None:
    """Asks the application to end, from another thread."""
    with contextlib.suppress(RuntimeError, asyncio.CancelledError):
        app.call_from_thread(app.leave)
