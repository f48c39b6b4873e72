"""Search of knowledge: what a code or a line means, and the pages, entries and incidents that fit; enter opens one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList
from textual.widgets.option_list import Option

from assistant.errors import RootrankError
from assistant.faults.models import Fault
from assistant.retrieval.models import Answer, Hit, Passage, Query
from assistant.tools.desk import Desk
from assistant.tools.systemcodes import system_codes
from assistant.tui.safe import Literal, literal, plain
from assistant.tui.views.similar_screen import SLOW

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

MOST = 20
EXCERPT = 240


class KnowledgeScreen(Screen[None]):
    """A field for words, and what was found below it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", id="knowledge.search"),
        Binding("enter", "open", "Open", id="knowledge.open", priority=True),
        Binding("j", "move(1)", "Down", show=False, id="knowledge.down"),
        Binding("k", "move(-1)", "Up", show=False, id="knowledge.up"),
        Binding("escape,q", "back", "Back", id="knowledge.back"),
    ]

    def __init__(self, place: Workplace, words: str) -> None:
        super().__init__()
        self._place, self._words = place, words
        self.hits: list[Hit] = []

    def compose(self) -> ComposeResult:
        yield Input(plain(self._words, 400), placeholder="a code, an error line, or words", id="words", compact=True)
        yield Literal("", id="knowledge-head")
        yield OptionList(id="hits", markup=False, compact=True)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Searches for what was typed with the command."""
        if self._words:
            self._ask(self._words)
        else:
            self.query_one("#words").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Searches."""
        event.stop()
        if event.value.strip():
            self._ask(event.value.strip())

    def _ask(self, words: str) -> None:
        self._head([literal("searching")])
        self.query_one("#hits").focus()
        self._search(words)

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _search(self, words: str) -> None:
        desk = self._place.table.calls.desk
        meant = [literal(row, "bold") for row in system_codes(words)]
        known = [entry for name in desk.matcher.match(words) if (entry := desk.library.get(name)) is not None]
        by_sign = [_entry(fault) for fault in known[:MOST]]
        self.app.call_from_thread(self._show, [*meant, literal(f"searching ({SLOW})", "$foreground-muted")], by_sign)
        try:
            answer = _found(desk, words)
        except RootrankError as error:
            self.app.call_from_thread(self._show, [*meant, literal(f"{error.message}; {error.hint}")], by_sign)
        else:
            hits = (answer.hits or answer.nearest[:3]) if answer else ()
            self.app.call_from_thread(self._show, [*meant, *_told(answer)], _joined(by_sign, hits))

    def _head(self, rows: Sequence[Content]) -> None:
        self.query_one("#knowledge-head", Literal).show(Content("\n").join(rows))

    def _show(self, told: Sequence[Content], hits: Sequence[Hit]) -> None:
        self.hits = list(hits)
        self._head(told)
        rows = self.query_one("#hits", OptionList)
        at = rows.highlighted or 0
        rows.clear_options()
        rows.add_options([Option(_row(hit)) for hit in self.hits])
        rows.highlighted = min(at, len(self.hits) - 1) if self.hits else None

    def action_search(self) -> None:
        """Goes to the field."""
        self.query_one("#words").focus()

    def action_move(self, step: int) -> None:
        """The next one, or the one before."""
        rows = self.query_one("#hits", OptionList)
        (rows.action_cursor_down if step > 0 else rows.action_cursor_up)()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Opens it."""
        self.action_open()

    def action_open(self) -> None:
        """Opens the chosen one; in the field, searches."""
        field = self.query_one("#words", Input)
        if field.has_focus:
            self.call_later(field.action_submit)
            return
        at = self.query_one("#hits", OptionList).highlighted
        if at is not None and at < len(self.hits):
            passage = self.hits[at].passage
            self._place.shelf.open(f"{passage.kind}:{passage.document}")

    def action_back(self) -> None:
        """From the field to what was found, else back."""
        field = self.query_one("#words", Input)
        if field.has_focus and self.hits:
            self.query_one("#hits").focus()
        else:
            self.dismiss(None)


def _found(desk: Desk, words: str) -> Answer | None:
    """What the search finds; known faults whose signature matches come first there."""
    if desk.search is None:
        return None
    return desk.search(Query(text=words, limit=MOST, faults=desk.matcher.match(words)[:3]))


def _entry(fault: Fault) -> Hit:
    """A known fault whose signature matches what was typed: it needs no search."""
    source = fault.references[0].source if fault.references else ""
    passage = Passage(document=fault.id, kind="fault", title=fault.title, text=fault.explanation, source=source)
    return Hit(passage=passage, score=1.0, reasons=("its signature",))


def _joined(first: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
    known = {(one.passage.kind, one.passage.document) for one in first}
    return [*first, *(one for one in hits if (one.passage.kind, one.passage.document) not in known)]


def _told(answer: Answer | None) -> Iterator[Content]:
    if answer is None:
        yield literal("The search of knowledge and incidents is not set up here.")
        return
    if not answer.fits:
        yield literal(f"Nothing fits. {answer.note}" + (" Nearest:" if answer.nearest else ""), "$text-warning")
    for part in answer.missing:
        yield literal(f"not searched: {part}", "$foreground-muted")


def _row(hit: Hit) -> Content:
    passage = hit.passage
    title = f"{passage.title} - {passage.heading}" if passage.heading else passage.title
    head = Content.assemble((f"{passage.kind:<9}", "$text-accent"), literal(title, "bold"))
    text = plain(" ".join(passage.text.split()), EXCERPT)
    about = " · ".join(filter(None, (passage.source, ", ".join(hit.reasons))))
    return Content("\n").join(
        [head, Content.assemble("         ", text), Content.assemble("         ", literal(about, "$foreground-muted"))]
    )
