"""The bar that shows how far a long read has come: on standard error, on a terminal only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from assistant.intake.models import Progress, ProgressHook


@contextlib.contextmanager
def progress_bar(wanted: bool) -> Iterator[ProgressHook | None]:
    """A hook for the reader that moves a bar; None where nobody would see it."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    with _bar() as bar:
        task = bar.add_task("Reading", total=None, files=0)
        yield lambda state: _move(bar, task, state)


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    count = TextColumn("{task.fields[files]} files", markup=False)
    text = TextColumn("{task.description}", markup=False)
    return Progress(text, BarColumn(), DownloadColumn(), count, TimeElapsedColumn(), console=console, transient=True)


def _move(bar: Bar, task: TaskID, state: Progress) -> None:
    from rich.text import Text

    from assistant.report.text import excerpt

    bar.update(task, completed=state.bytes, total=state.total, files=state.sources)
    if state.finding:
        bar.console.print(Text(excerpt(state.finding, max(40, bar.console.width - 1))))
