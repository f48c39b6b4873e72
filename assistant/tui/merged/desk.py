"""Opens several logs of the workplace as one, at a line or at what the verdict rests on."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.errors import NothingFound, RootrankError
from assistant.tui.logs.book import LogBook, open_book
from assistant.tui.logs.lines import LogLine
from assistant.tui.merged.book import MergedBook, merge_books
from assistant.tui.merged.gathering import MOST, Gathered, gather, of_node
from assistant.tui.merged.screen import MergedScreen
from assistant.tui.merged.strand import NOBODY, key_of

if TYPE_CHECKING:
    from assistant.tui.logs.desk import LogDesk
    from assistant.tui.workplace import Workplace

FILES_ELSE = 64
"""Open files that the rest of the program needs."""


@dataclass(frozen=True, slots=True)
class At:
    """A line of a log."""

    name: str
    offset: int


class MergeDesk:
    """The merged views of one workplace."""

    def __init__(self, place: Workplace, desk: LogDesk) -> None:
        self._place, self._desk = place, desk

    def open(self, typed: str) -> None:
        """Opens the logs of what is typed, where the verdict's first evidence stands among them."""
        self._run(lambda: self._find(typed))

    def beside(self, book: LogBook, line: LogLine | None) -> None:
        """Opens a log together with the others of its node; where there are none, or no node is known, with all."""
        at = At(book.source.name, line.offset if line else 0)
        self._run(lambda: self._find_beside(book, at))

    def _run(self, job: Callable[[], None]) -> None:
        self._place.run_worker(job, thread=True, group="log", exclusive=True, exit_on_error=False)

    def _find(self, typed: str, at: At | None = None) -> None:
        place = self._place
        with contextlib.suppress(RuntimeError):
            try:
                sources = place.workshop.sources(place.table)
                self._show(gather(sources, place.table.case, self._desk.scribe().writers, typed), at, wide=True)
            except RootrankError as error:
                place.app.call_from_thread(self._refused, typed, error)

    def _refused(self, typed: str, error: RootrankError) -> None:
        """What was typed comes back, to be mended."""
        self._place.tell(f"{error.message}; {error.hint}", warning=True)
        if typed and not self._place.prompt.text:
            self._place.prompt.load_text(f"/merge {typed}")
            self._place.prompt.move_cursor(self._place.prompt.document.end)

    def _find_beside(self, book: LogBook, at: At) -> None:
        place = self._place
        with contextlib.suppress(RuntimeError):
            try:
                sources = place.workshop.sources(place.table)
                scribe = self._desk.scribe()
                node = next((node for node, _ in sorted(scribe.writers(book.source), key=str) if node), None)
                found = of_node(sources, scribe.writers, node) if node else None
                if found is None or len(found.sources) < 2:
                    self._find("all", at)
                else:
                    self._show(found, at, wide=len(found.sources) == len(sources))
            except RootrankError as error:
                place.app.call_from_thread(self._refused, "", error)

    def _show(self, found: Gathered, at: At | None, *, wide: bool) -> None:
        place = self._place
        book = self._opened(found)
        if not book.books:
            book.close()
            raise NothingFound("none of these logs tells a time", hint="open them one by one with /open")
        key = self._key(book, at)
        screen = MergedScreen(
            book, key, self._desk.mark, words=found.words, seen=place.table.examination,
            widen=None if wide else self._widen(book),
        )  # fmt: skip
        place.app.call_from_thread(self._push, screen)

    def _push(self, screen: MergedScreen) -> None:
        """A merged view takes the place of the one that it is made from."""
        app = self._place.app
        if isinstance(app.screen, MergedScreen):
            app.pop_screen()
        app.push_screen(screen)

    def _widen(self, book: MergedBook) -> Callable[[LogLine | None], None]:
        def wider(line: LogLine | None) -> None:
            at = At(book.book_of(line).source.name, book.local(line).offset) if line else None
            self._run(lambda: self._find("all", at))

        return wider

    def _opened(self, found: Gathered) -> MergedBook:
        """Opens all that can be opened."""
        table, scribe = self._place.table, self._desk.scribe()
        books: list[LogBook] = []
        gone: list[tuple[str, str]] = []
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        room = MOST if soft == resource.RLIM_INFINITY else max(1, min(MOST, soft - FILES_ELSE))
        for source in found.sources:
            if len(books) >= room:
                gone.append((source.name, "too many open files"))
                continue
            try:
                books.append(open_book(source, table.case, table.examination, self._desk.marked, self._desk.scribe))
            except RootrankError as error:
                gone.append((source.name, error.message.removeprefix(source.name).strip()))
        writings = scribe.of([(book.source, book.file) for book in books])
        return merge_books(books, writings, corrected=scribe.examined, left_out=gone)

    def _key(self, book: MergedBook, at: At | None) -> int:
        """Where to open: at a line, else at what the verdict rests on, else at the end."""
        case = self._place.table.case
        cited = {item.id: item for item in case.evidence}
        wanted = [cited[name] for name in case.verdict.evidence if name in cited] or list(case.evidence)
        places = [at] if at else [At(item.source, item.offset) for item in wanted]
        for one in places:
            if (key := book.place_in(one.name, one.offset)) is not None:
                return key
        return key_of(4_102_444_800_000_000, NOBODY, 0)
