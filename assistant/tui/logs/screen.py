"""The log viewer: one source, opened at a place; searching, filtering, marking, and what became of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Input

from assistant.case.text import plural
from assistant.errors import RootrankError
from assistant.tui.filters.bar import FilterBar
from assistant.tui.filters.control import Filterer
from assistant.tui.filters.scan import Search
from assistant.tui.fulltext import CHARACTERS, FullText
from assistant.tui.logs.book import Found, LogBook, neighbour
from assistant.tui.logs.following import Follower
from assistant.tui.logs.lines import LogLine
from assistant.tui.logs.pane import LogPane
from assistant.tui.marks import size
from assistant.tui.safe import Literal, PlainInput, plain

Marker = Callable[[LogBook, LogLine, int], str]
"""Makes a line evidence, by its number; returns the id it got."""
Merger = Callable[[LogBook, LogLine | None], None]
"""Opens a log together with others, at a line."""
EVERY = 0.2
"""Seconds between two looks at what was counted and found meanwhile, and at the file."""
DIGITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LINES = 2_000
"""Lines that are copied at once."""


class LogScreen(Screen[None]):
    """One log on the screen. Escape leads back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", id="log.search"),
        Binding("n", "found(1)", "Next", id="log.next"),
        Binding("N,p", "found(-1)", "Previous", show=False, id="log.previous"),
        Binding("f", "filters", "Filters", id="log.filters"),
        Binding("ampersand", "filter", "Only found", show=False, id="log.filter"),
        *(
            Binding(str(number), f"flip({number})", f"Filter {number}", show=False, id=f"log.filter-{name}")
            for number, name in enumerate(DIGITS, 1)
        ),
        Binding("0", "flip_all", "All filters", show=False, id="log.filter-all"),
        Binding("e", "alarm(1)", "Error", id="log.next-error"),
        Binding("E", "alarm(-1)", "Previous error", show=False, id="log.previous-error"),
        Binding("c", "cited(1)", "Cited", id="log.next-cited"),
        Binding("C", "cited(-1)", "Previous cited", show=False, id="log.previous-cited"),
        Binding("v", "event(1)", "Event", show=False, id="log.next-event"),
        Binding("V", "event(-1)", "Previous event", show=False, id="log.previous-event"),
        Binding("m", "mark", "Mark", id="log.mark"),
        Binding("M", "merge", "Merge", id="log.merge"),
        Binding("y", "copy", "Copy", show=False, id="log.copy"),
        Binding("F", "follow", "Follow", id="log.follow"),
        Binding("R", "reopen", "Open anew", show=False, id="log.reopen"),
        Binding("enter", "full", "Full line", show=False, id="log.full"),
        Binding("escape,q", "back", "Back", id="log.back"),
    ]

    def __init__(
        self, book: LogBook, offset: int, marker: Marker, line: int | None = None, merge: Merger | None = None
    ) -> None:
        super().__init__()
        self._merge = merge
        self.book = book
        self._offset, self._line = offset, line
        self._marker = marker
        self._wanted: Found | None = None
        self._scan: Search | None = None
        self._step = 1
        self.pane = LogPane(book)
        self.follower = Follower(self)
        self.filterer = Filterer(self)

    def compose(self) -> ComposeResult:
        yield Literal(id="log-head")
        yield self.pane
        yield self.filterer.bar
        yield Literal(id="log-state")
        yield PlainInput(
            id="log-search", placeholder="words or an RE2 expression; a capital letter minds case", compact=True
        )
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Opens the place at once; counting starts beside it."""
        self.query_one("#log-search").display = False
        self.pane.focus()
        if self.book.file.instant:
            self.call_after_refresh(self.show_place, self._offset)
        else:
            self._unpack(self._offset)
        self._count()
        self.set_interval(EVERY, self.look)

    @work(thread=True, group="count", exit_on_error=False)
    def _count(self) -> None:
        self.book.begin_counting()

    def show_place(self, offset: int) -> None:
        """Shows the line that holds an offset."""
        self.pane.waiting = False
        try:
            self.pane.go(offset)
        except RootrankError as error:
            self.notify(plain(f"{error.message}; {error.hint}"), severity="error", markup=False)

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _unpack(self, offset: int) -> None:
        """Reads a packed file up to the place, so that showing it finds it unpacked."""
        self.pane.waiting = True
        try:
            self.book.file.read(max(0, offset - 200_000), 400_000)
        except RootrankError as error:
            self.app.call_from_thread(self.notify, plain(error.message), severity="error", markup=False)
        if self.is_attached:
            self.app.call_from_thread(self.show_place, offset)

    def on_log_pane_moved(self) -> None:
        """Tells where one is."""
        self.follower.moved()
        self._tell()

    def look(self) -> None:
        """What was counted and found meanwhile, and what has arrived."""
        self.follower.look()
        self._find_line()
        self._resolve()
        self.filterer.look()
        self._tell()
        if self.pane.rows:
            self.pane.refresh()

    def _find_line(self) -> None:
        """Goes to the line that was asked for by its number, once counting has come so far."""
        if self._line is None or self.book.count is None or not self.pane.rows or self.pane.waiting:
            return
        if (offset := self.book.offset_of(self._line)) is not None:
            self._line = None
            self._move(offset)
        elif self.book.count.done:
            self.notify(f"the file has no line {self._line:,}", severity="warning", markup=False)
            self._line = None

    def _tell(self) -> None:
        book, line = self.book, self.pane.chosen
        whole, count = book.file.size, book.count
        parts = [plain(book.source.name, 200), size(whole) if whole is not None else "packed"]
        number = book.number(line.offset) if line else None
        of = f" of {count.total:,}" if count and count.total is not None else ""
        parts += [f"line {number:,}{of}"] if number is not None else []
        if count is not None and not count.done:
            share = f"{count.at / whole:.0%}" if whole else size(count.at)
            parts.append(f"counting lines {share}")
        self.query_one("#log-head", Literal).show(" · ".join(parts))
        self.query_one("#log-state", Literal).show(self._state())

    def _state(self) -> str:
        book = self.book
        trouble = book.file.trouble()
        parts = self.follower.told(trouble)
        if self.pane.waiting:
            parts.append(f"unpacking, {size(getattr(book.file, 'reached', 0))} of {size(self._offset)}")
        if book.search is not None and book.search.pattern:
            found, more = len(book.search.hits), "" if book.search.done else " so far"
            parts.append(f"search {plain(book.search.pattern, 60)}: {found:,} found{more}")
        if self._wanted is not None:
            parts.append("looking")
        if self.pane.pinned is not None:
            parts.append(f"{plural(len(self.pane.selected()), 'line')} selected, y copies")
        return " · ".join(parts) or "w wrap · v event · enter full line · s select · y copy · F1 all keys"

    def action_follow(self) -> None:
        """Stays at the end as lines arrive, or no longer."""
        self.follower.toggle()
        self._tell()

    def action_reopen(self) -> None:
        """Opens the file anew that has this name now."""
        self.follower.reopen()

    def turn_to(self, book: LogBook) -> None:
        """Shows another book of the same name."""
        before, self.book, self.pane.book = self.book, book, book
        self._wanted, self._scan, self._line = None, None, None
        before.close()
        self._count()
        if book.filters.active:
            self.filterer.changed()
        self.pane.top = self.pane.here = self.pane.left = 0
        self.pane.load()

    def action_search(self) -> None:
        """Asks what to look for."""
        field = self.query_one("#log-search", Input)
        field.display = True
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Begins the search."""
        event.stop()
        try:
            self.book.look_for(event.value)
        except ValueError as error:
            self.notify(plain(f"not an expression: {error}"), severity="warning", markup=False)
            return
        self._leave_search()
        if event.value:
            self.action_found(1)
        else:
            self.pane.load()

    def _leave_search(self) -> None:
        self.query_one("#log-search").display = False
        self.pane.focus()

    def action_filters(self) -> None:
        """Asks for filters."""
        self.filterer.ask()

    def on_filter_bar_typed(self, message: FilterBar.Typed) -> None:
        """Takes filters, or says what is wrong with them."""
        message.stop()
        self.filterer.read(message.text)

    def action_filter(self) -> None:
        """Shows only what the search finds, or everything again."""
        if self.book.search is None or not self.book.search.pattern:
            self.action_search()
        else:
            self.filterer.flip_search(self.book.search.pattern)

    def action_flip(self, number: int) -> None:
        """Switches one filter."""
        self.filterer.flip(number)

    def action_flip_all(self) -> None:
        """Switches all filters."""
        self.filterer.flip_all()

    def action_found(self, step: int) -> None:
        """The next line that the search finds."""
        if self.book.search is None:
            self.action_search()
        else:
            self._seek(self.book.search, step)

    def action_alarm(self, step: int) -> None:
        """The next line that looks like an error."""
        self._seek(self.book.alarming(), step)

    def action_cited(self, step: int) -> None:
        """The next line that is cited."""
        self._step_in(self.book.cited, step, "cited line")

    def action_event(self, step: int) -> None:
        """The next failure-indicating event."""
        self._step_in(self.book.events, step, "event")

    def _step_in(self, offsets: list[int], step: int, noun: str) -> None:
        line = self.pane.chosen
        found = neighbour(offsets, line.offset, line.end, step) if line else None
        if found is None:
            self.notify(f"no further {noun} in this file", markup=False)
        else:
            self._move(found)

    def _seek(self, scan: Search, step: int) -> None:
        """Goes to the next hit, now or as soon as it is found."""
        here = self.pane.here
        self._scan, self._step = scan, step
        self._wanted = (lambda: scan.after(here)) if step > 0 else (lambda: scan.before(here))
        self._resolve()

    def _resolve(self) -> None:
        if self._wanted is None or self._scan is None:
            return
        known = self._scan.done or self._step > 0 or self._scan.at >= self.pane.here
        found = self._wanted() if known else None
        if found is not None:
            self._wanted = None
            self._move(found)
        elif self._scan.done:
            self._wanted = None
            self.notify("nothing further is found in this direction", markup=False)

    def _move(self, offset: int) -> None:
        if self.book.file.instant:
            self.show_place(offset)
        else:
            self._offset = offset
            self._unpack(offset)

    def action_mark(self) -> None:
        """Makes the line evidence of this session."""
        line = self.pane.chosen
        number = self.book.number(line.offset) if line else None
        if line is None:
            return
        if number is None:
            self.notify("its number is still being counted; mark it again in a moment", markup=False)
            return
        self.notify(f"{self._marker(self.book, line, number)} marked: answers may rest on it", markup=False)
        self.pane.refresh()

    def action_copy(self) -> None:
        """Copies the selected lines, else this one, through the terminal (OSC 52)."""
        lines = self.pane.selected()
        data = [self.book.data(line, CHARACTERS) for line in lines[:LINES]]
        if data:
            self.app.copy_to_clipboard("\n".join(one.decode("utf-8", "replace") for one in data))
            self.notify(f"{plural(len(data), 'line')} copied", markup=False)

    def action_merge(self) -> None:
        """The other logs of this node beside this one, by time; in such a view: all logs."""
        if self._merge is not None:
            self._merge(self.book, self.pane.chosen)

    def action_full(self) -> None:
        """The whole text of the line."""
        if (line := self.pane.chosen) is not None:
            data = self.book.file.read(line.offset, min(line.length, 4 * CHARACTERS))
            number = self.book.number(line.offset)
            self.app.push_screen(FullText(f"{self.book.source.name}:{number or '?'}", data.decode("utf-8", "replace")))

    def action_back(self) -> None:
        """Ends a search that is being typed, else a selection, else the viewer."""
        if self.filterer.bar.typing:
            self.filterer.close()
        elif self.query_one("#log-search").display:
            self._leave_search()
        elif self.pane.pinned is not None:
            self.pane.action_select()
        else:
            self.dismiss()

    def on_unmount(self) -> None:
        """Ends the processes that work for it."""
        self.book.file.stop = True
        self.book.close()
