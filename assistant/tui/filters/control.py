"""The filters of one log screen: reads what is typed, switches, and shows what passes as it is found."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from assistant.errors import RootrankError
from assistant.tui.filters.bar import FilterBar
from assistant.tui.filters.models import MOST, Filter, text_filter
from assistant.tui.filters.typed import Around, read_filters
from assistant.tui.filters.worker import MOST as MOST_LINES

if TYPE_CHECKING:
    from assistant.tui.logs.screen import LogScreen


class Filterer:
    """Filters the lines of one log screen."""

    def __init__(self, screen: LogScreen) -> None:
        self._screen = screen
        self.bar = FilterBar()
        self._starting = 0
        self._one = Lock()
        self._goal: int | None = None
        """Where somebody was when the filters changed: the nearest passing line is chosen as soon as it is found."""
        self._seen = (-1, -1)
        """How many lines passed, and which one was chosen, when they were last shown."""

    def ask(self) -> None:
        """Opens the line to type filters into; what can be completed is looked up beside it."""
        self.bar.ask(self._screen.book.filters.written, Around())
        line = self._screen.pane.chosen
        self._work(lambda: self._call(self.bar.know, self._screen.book.around(line)))

    def close(self) -> None:
        """Closes the line."""
        self.bar.close()
        self._screen.pane.focus()

    def read(self, text: str) -> None:
        """Takes what was typed; nothing means no filters. What cannot be understood stays, with the reason."""
        self._work(partial(self._read, text))

    def _read(self, text: str) -> None:
        try:
            found = read_filters(text, self._screen.book.around(self._screen.pane.chosen))
        except (ValueError, RootrankError) as error:
            self._call(self.bar.refuse, str(error))
        else:
            self._call(self._take, found)

    def _take(self, found: list[Filter]) -> None:
        self._screen.book.filters.replace(found)
        self.close()
        self.changed()

    def flip(self, number: int) -> None:
        """Switches one filter."""
        if self._screen.book.filters.flip(number):
            self.changed()
        else:
            self._screen.notify(f"there is no filter {number}; f adds one", markup=False)

    def flip_all(self) -> None:
        """Switches all filters."""
        if self._screen.book.filters.switches:
            self._screen.book.filters.flip_all()
            self.changed()
        else:
            self._screen.notify("there are no filters; f adds some", markup=False)

    def flip_search(self, pattern: str) -> None:
        """Shows only what is searched for, or everything again."""
        filters = self._screen.book.filters
        if len(filters.switches) >= MOST and pattern not in (one.filter.pattern for one in filters.switches):
            self._screen.notify(f"there are {MOST} filters already; f changes them", severity="warning", markup=False)
            return
        filters.flip_text(text_filter(pattern))
        self.changed()

    def changed(self) -> None:
        """Starts to look for what passes now."""
        self._starting += 1
        self._goal = self._screen.pane.here
        self._work(self._start)
        self.tell()

    def _start(self) -> None:
        try:
            with self._one:
                self._screen.book.refilter()
        except (RootrankError, OSError) as error:
            self._call(self._screen.notify, str(error), severity="error", markup=False)
        self._call(self._started)

    def _started(self) -> None:
        self._starting -= 1
        self._seen = (-1, -1)
        self._show()
        self.tell()

    def look(self) -> None:
        """Shows what was found meanwhile."""
        passing = self._screen.book.passing
        if passing is not None and not self._starting and not self._screen.pane.waiting:
            self._show()
        self.tell()

    def _show(self) -> None:
        """Goes to the line nearest to where somebody was, for as long as they stay there."""
        pane, passing = self._screen.pane, self._screen.book.passing
        count = -1 if passing is None else len(passing.hits)
        if count == self._seen[0] and passing is not None:
            return
        if self._goal is not None and self._seen[1] in (-1, pane.here):
            self._screen.show_place(self._goal)
        else:
            self._goal = None
            pane.load()
        self._seen = (count, pane.here)
        if passing is None:
            self._goal = None

    def tell(self) -> None:
        """What passes, in the bar."""
        self.bar.show_list(self._screen.book.filters, self._passing())

    def _passing(self) -> str:
        passing = self._screen.book.passing
        if self._starting or passing is None:
            return "looking"
        count = len(passing.hits)
        if count >= MOST_LINES:
            return f"the first {count:,} lines that pass"
        word = "⚠ not all was read" if passing.failed else "" if passing.done else " so far"
        return f"{count:,} {'line passes' if count == 1 else 'lines pass'}{word}"

    def _work(self, job: Callable[[], None]) -> None:
        self._screen.run_worker(job, thread=True, group="filters", exit_on_error=False)

    def _call(self, what: Callable[..., object], *given: object, **named: object) -> None:
        if self._screen.is_attached:
            with suppress(RuntimeError):
                self._screen.app.call_from_thread(what, *given, **named)
