"""Follow mode: the end of a live log stays in sight until somebody scrolls up; a replaced file is opened anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.errors import RootrankError
from assistant.tui.logs.book import LogBook, open_anew
from assistant.tui.safe import plain

if TYPE_CHECKING:
    from assistant.tui.logs.screen import LogScreen

PACKED = "a packed file cannot be followed"
AGAIN = "R opens what has its name now"


class Follower:
    """Follows the file of one log screen."""

    def __init__(self, screen: LogScreen) -> None:
        self._screen = screen
        self.on = False
        self._last = (0, 0)
        """Begin and end of the last line when the end was last shown."""

    def toggle(self) -> None:
        """Begins, or stops. A packed file says that it cannot."""
        if not self._screen.book.file.instant:
            self._screen.notify(PACKED, severity="warning", markup=False)
            return
        self.on = not self.on
        if self.on:
            self._to_end()

    def look(self) -> None:
        """Shows what has arrived; stops where somebody went up meanwhile."""
        self.moved()
        if self.on and self._end() != self._last:
            self._to_end()

    def moved(self) -> None:
        """Stops where a line above the end is chosen now; that end may be the one of a filter that was set just now."""
        if self.on:
            self.on = self._screen.pane.here >= min(self._last[0], self._end()[0])

    def reopen(self) -> None:
        """Opens the file that has the name now, in place of the one that was open; it is followed as that one was."""
        screen = self._screen
        try:
            book = open_anew(screen.book)
        except RootrankError as error:
            screen.notify(plain(error.message), severity="warning", markup=False)
            return
        screen.turn_to(book)
        if self.on:
            self._to_end()

    def told(self, trouble: str) -> list[str]:
        """What the state line says of it."""
        words = [f"⚠ {trouble}; {AGAIN}"] if trouble else []
        return [*words, "following, F stops"] if self.on else words

    def _to_end(self) -> None:
        self._screen.pane.to_end()
        self._last = self._end()

    def _end(self) -> tuple[int, int]:
        book: LogBook = self._screen.book
        last = book.lines.backward(book.file.size or 0, 1)
        return (last[-1].offset, last[-1].end) if last else (0, 0)
