"""Opens logs for the workplace, and keeps what a person marks in them as evidence `S1`, `S2`, ..."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from assistant.answers.sessions import Answered, Session
from assistant.case.models import Evidence
from assistant.errors import RootrankError
from assistant.tui.fulltext import FullText
from assistant.tui.logs.book import LogBook, open_book, writer_of
from assistant.tui.logs.lines import LogLine
from assistant.tui.logs.screen import LogScreen
from assistant.tui.logs.writers import Scribe
from assistant.tui.merged.desk import MergeDesk
from assistant.tui.ports import Table
from assistant.tui.talk.dialogue import BOOKMARK

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

_PLACE = re.compile(r"(.+):(\d{1,12})")


class LogDesk:
    """The logs of one workplace."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        earlier = place.workshop.earlier()
        self.marked: list[Evidence] = marked_in(earlier) if earlier else []
        self._scribe: tuple[Table, Scribe] | None = None
        self.merging = MergeDesk(place, self)

    def open(self, name: str) -> None:
        """Opens a log at what is cited, or at a line of a file. Finding the file may take a while: not here."""
        item = self._place.table.calls.desk.evidence(name) or next((m for m in self.marked if m.id == name), None)
        match = _PLACE.fullmatch(name)
        if item is None and match is None:
            self._place.tell(f"nothing is cited as {name}", warning=True)
            return
        source, line = (item.source, None) if item else (match[1], int(match[2])) if match else ("", None)
        self._place.run_worker(
            lambda: self._find(item, source, line), thread=True, group="log", exclusive=True, exit_on_error=False
        )

    def _find(self, item: Evidence | None, name: str, line: int | None) -> None:
        place = self._place
        with contextlib.suppress(RuntimeError):
            try:
                source = place.workshop.source(place.table, name)
                book = open_book(source, place.table.case, place.table.examination, self.marked, self.scribe)
            except RootrankError as error:
                place.app.call_from_thread(self._kept, item, error)
            else:
                screen = LogScreen(book, item.offset if item else 0, self.mark, line, self.merging.beside)
                place.app.call_from_thread(place.app.push_screen, screen)

    def scribe(self) -> Scribe:
        """Who knows how the sources of the case write; found anew where the case has become another."""
        table = self._place.table
        if self._scribe is None or self._scribe[0] is not table:
            sources = self._place.workshop.sources(table)
            self._scribe = (table, Scribe(sources, table.examination))
        return self._scribe[1]

    def _kept(self, item: Evidence | None, error: RootrankError) -> None:
        """What the case itself keeps, where the log is gone."""
        why = f"{error.message}; {error.hint}"
        if item is None:
            self._place.tell(why, warning=True)
        else:
            title = f"{item.id}  {item.source}:{item.line}"
            self._place.app.push_screen(FullText(title, f"{item.text}\n\n({why})"))

    def mark(self, book: LogBook, line: LogLine, number: int) -> str:
        """Makes a line evidence; one that is evidence already keeps its id."""
        place = self._place
        name = book.source.name
        known = (one for one in (*place.table.case.evidence, *self.marked) if (one.source, one.line) == (name, number))
        if (before := next((one for one in known if not book.anew or one.text == line.text), None)) is not None:
            return before.id
        node, rank = writer_of(place.table.examination, book.source)
        item = Evidence(id=f"S{len(self.marked) + 1}", source=name, line=number, offset=line.offset, text=line.text,
                        node=node, rank=rank)  # fmt: skip
        self.marked.append(item)
        book.cited = sorted({*book.cited, line.offset})
        place.talk.mark(place.table.calls, item)
        place.show_marked()
        return item.id


def marked_in(session: Session) -> list[Evidence]:
    """What was marked in a session."""
    events = [line.event for line in session.lines if isinstance(line, Answered)]
    return [
        item for event in events if event.kind == "tool_finished" and event.tool == BOOKMARK for item in event.evidence
    ]
