"""The viewer of several logs as one sequence by corrected time. Every key of the log viewer works in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from textual import work
from textual.worker import get_current_worker

from assistant.case.text import clean
from assistant.errors import RootrankError
from assistant.pipeline import Examination
from assistant.tui.filters.scan import Search
from assistant.tui.filters.typed import said
from assistant.tui.fulltext import CHARACTERS, FullText
from assistant.tui.logs.lines import LogLine
from assistant.tui.logs.screen import LogScreen, Marker
from assistant.tui.logs.worker import compiled
from assistant.tui.merged.book import MergedBook
from assistant.tui.merged.pane import MergedPane
from assistant.tui.merged.strand import MICRO, NOBODY, key_of, moment_in, number_in, offset_in
from assistant.tui.safe import Literal, plain

SOON = 1_000
"""Lines that are searched at once in a merged view, before the process that searches the files has an answer."""
LATEST = 4_102_444_800 * MICRO
"""After the times of all logs."""


class MergedScreen(LogScreen):
    """Several logs on the screen. Escape leads back."""

    def __init__(
        self, book: MergedBook, place: int, marker: Marker, *, words: str, seen: Examination | None = None,
        widen: Callable[[LogLine | None], None] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(book, place, marker)
        self.merged = book
        self.pane: MergedPane = MergedPane(book)
        self._words, self._seen, self._widen = words, seen, widen
        self._laying = ""
        self._landed = (-1, -1)
        """The key that was gone to, and that of the line that was then chosen: moments in them may differ."""
        self._marking: LogLine | None = None

    def on_mount(self) -> None:
        """Opens the place at once."""
        self.query_one("#log-search").display = False
        self.pane.focus()
        self._lay(self._offset)
        self._note_places()
        self.set_interval(0.2, self.look)

    @work(thread=True, group="places", exit_on_error=False)
    def _note_places(self) -> None:
        with suppress(RootrankError):
            self.merged.note_places(self._seen)

    @work(thread=True, exclusive=True, group="lay", exit_on_error=False)
    def _lay(self, key: int) -> None:
        """Finds the place in every log."""
        self.pane.waiting = True
        worker, count = get_current_worker(), len(self.merged.merged.strands)

        def tell(done: int) -> None:
            self._laying = f"finding the place in {done} of {count} logs"

        try:
            found = self.merged.lay(key, tell)
        except RootrankError as error:
            self._laying = ""
            self.app.call_from_thread(self.notify, plain(error.message), severity="error", markup=False)
            return
        if not worker.is_cancelled and self.is_attached:
            self.app.call_from_thread(self._laid, key, found)

    def _laid(self, key: int, found: object) -> None:
        self.merged.merged = found  # type: ignore[assignment]
        self._laying = ""
        self.pane.waiting = False
        self.pane.pinned = None
        self._go(key)

    def _go(self, key: int) -> None:
        self.pane.go(key)
        self._landed = (key, self.pane.here)
        self._tell()

    def show_place(self, offset: int) -> None:
        """Shows the line of a key; where it was not read yet, the logs are laid around it."""
        if self.merged.passing is not None:
            self._go(offset)
        elif (held := self.merged.merged.held(offset)) is not None:
            self._go(held)
            self._landed = (offset, self.pane.here)
        else:
            self._lay(offset)

    def on_merged_pane_edge_wanted(self, message: MergedPane.EdgeWanted) -> None:
        """To the first line of all, or the last."""
        message.stop()
        self.show_place(key_of(LATEST if message.end else 0, NOBODY, 0))

    def look(self) -> None:
        """What was found meanwhile."""
        self._resolve()
        self.filterer.look()
        if self._marking is not None:
            self._mark(self._marking)
        self._tell()
        if self.pane.rows:
            self.pane.refresh()

    def _tell(self) -> None:
        book, line = self.merged, self.pane.chosen
        parts = [f"{book.source.name} by {'corrected ' if book.corrected else ''}time: {plain(self._words, 80)}"]
        if line is not None:
            number = book.number(line.offset)
            parts.insert(0, f"{plain(book.book_of(line).source.name, 120)}:{'·' if number is None else f'{number:,}'}")
            parts.insert(1, self._clock(line))
        self.query_one("#log-head", Literal).show(" · ".join(parts))
        self.query_one("#log-state", Literal).show(self._state())

    def _clock(self, line: LogLine) -> str:
        """The moment under which a line stands, and what was taken off its clock."""
        strand = self.merged.merged.strand(line.offset)
        ahead = strand.writing.ahead if strand else 0.0
        moved = f" (its clock {-ahead:+.1f} s)" if ahead else ""
        return f"{said(moment_in(line.offset) / MICRO)} UTC{moved}"

    def _state(self) -> str:
        book = self.merged
        trouble = book.file.trouble()
        parts = [f"⚠ {plain(trouble, 120)}"] if trouble else []
        if self._laying:
            parts.append(self._laying)
        if book.search is not None and book.search.pattern:
            found, more = len(book.search.hits), "" if book.search.done else " so far"
            parts.append(f"search {plain(book.search.pattern, 60)}: {found:,} found{more}")
        if self._wanted is not None:
            parts.append("looking")
        if book.left_out:
            named = ", ".join(f"{clean(name)} ({why})" for name, why in book.left_out[:3])
            parts.append(f"left out: {named}{f' and {len(book.left_out) - 3} more' if len(book.left_out) > 3 else ''}")
        if not book.corrected:
            parts.append("clocks were not compared: the logs of this case were not read again")
        return (
            " · ".join(parts)
            or "M all logs · w wrap · enter full line · F1 all keys · a line without a time follows the one above it"
        )

    def _here(self) -> int:
        """The key that one goes on from."""
        return self._landed[0] if self._landed[1] == self.pane.here else self.pane.here

    def _step_in(self, offsets: list[int], step: int, noun: str) -> None:
        here = self._here()
        found = min((key for key in offsets if key > here), default=None) if step > 0 else None
        if step < 0:
            found = max((key for key in offsets if key < here), default=None)
        if found is None:
            self.notify(f"no further {noun} in these logs", markup=False)
        else:
            self._move(found)

    def _seek(self, scan: Search, step: int) -> None:
        """Goes to the next hit: one that is near is found at once."""
        if self.merged.passing is None and scan.pattern and (near := self._near(scan.pattern, step)) is not None:
            self._go(near)
            return
        here = self._here()
        self._scan, self._step = scan, step
        self._wanted = (lambda: scan.after(here)) if step > 0 else (lambda: scan.before(here))
        self._resolve()

    def _near(self, pattern: str, step: int) -> int | None:
        regex, lines, here = compiled(pattern), self.merged.merged, self.pane.here
        if self.pane.waiting or lines.held(here) is None:
            return None
        found = lines.forward(here, SOON)[1:] if step > 0 else lines.backward(here, SOON)[::-1]
        return next((line.offset for line in found if regex.search(line.data)), None)

    def _move(self, offset: int) -> None:
        self.show_place(offset)

    def action_mark(self) -> None:
        """Makes the line evidence of this session, in its own log."""
        if (line := self.pane.chosen) is not None:
            self._mark(line)

    def _mark(self, line: LogLine) -> None:
        book = self.merged.book_of(line)
        number = book.number(offset_in(line.offset))
        if number is None and book.count is not None and book.count.failed:
            self.notify("its number cannot be told: the log cannot be read to here", severity="warning", markup=False)
        elif number is None:
            if self._marking is None:
                self.notify("its number is being counted; it is marked as soon as it is known", markup=False)
                self._begin_counting(number_in(line.offset))
            self._marking = line
            return
        else:
            name = self._marker(book, self.merged.local(line), number)
            self.merged.cited = sorted({*self.merged.cited, line.offset})
            self.notify(f"{name} marked: answers may rest on it", markup=False)
        self._marking = None
        self.pane.refresh()

    @work(thread=True, group="count", exit_on_error=False)
    def _begin_counting(self, number: int) -> None:
        self.merged.books[number].begin_counting()

    def action_full(self) -> None:
        """The whole text of the line."""
        if (line := self.pane.chosen) is not None:
            text = self.merged.data(line, 4 * CHARACTERS).decode("utf-8", "replace")
            number = self.merged.number(line.offset)
            self.app.push_screen(FullText(f"{self.merged.book_of(line).source.name}:{number or '?'}", text))

    def action_follow(self) -> None:
        """Only a single log is followed."""
        self.notify("a merged view is not followed; open the log alone for that", severity="warning", markup=False)

    def action_reopen(self) -> None:
        """Only a single log is opened anew."""
        self.notify("escape, and open the view again", markup=False)

    def action_merge(self) -> None:
        """Takes all logs of the job."""
        if self._widen is None:
            self.notify("all logs are shown already", markup=False)
        else:
            self._widen(self.pane.chosen)
