"""The bar that shows how far a long read has come: on standard error, on a terminal only."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from assistant.intake.models import Progress, ProgressHook

PATIENCE = 0.8
"""Seconds before a bar appears; a short read shows none."""


@contextlib.contextmanager
def progress_bar(wanted: bool) -> Iterator[ProgressHook | None]:
    """A hook for the reader that moves a bar; None where nobody would see it."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    meter = Meter()
    try:
        yield meter
    finally:
        meter.stop()


class Meter:
    """Shows a bar once reading takes long, and above it what was found first."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bar: Bar | None = None
        self._findings: list[str] = []

    def __call__(self, state: Progress) -> None:
        """Takes how far the read is."""
        if state.finding:
            self._findings.append(state.finding)
        if self._bar is None and time.monotonic() - self._started > PATIENCE:
            self._bar = _new_bar()
            self._bar.start()
        if self._bar is not None:
            self._show(self._bar, state)

    def stop(self) -> None:
        """Takes the bar off the screen."""
        if self._bar is not None:
            self._bar.stop()

    def _show(self, bar: Bar, state: Progress) -> None:
        from rich.text import Text

        from assistant.case.text import excerpt

        for finding in self._findings:
            bar.console.print(Text(excerpt(finding, max(40, bar.console.width - 1))))
        self._findings.clear()
        for task in bar.task_ids:
            bar.update(task, completed=state.bytes, total=state.total, files=state.sources)


def _new_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    count = TextColumn("{task.fields[files]} files", markup=False)
    text = TextColumn("{task.description}", markup=False)
    bar = Progress(text, BarColumn(), DownloadColumn(), count, TimeElapsedColumn(), console=console, transient=True)
    bar.add_task("Reading", total=None, files=0)
    return bar
