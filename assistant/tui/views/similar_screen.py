"""Past failures like this one, each with why it is like it; enter opens one beside the present case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, OptionList
from textual.widgets.option_list import Option

from assistant.case.text import plural
from assistant.errors import RootrankError
from assistant.tools.past import Past, alike, with_search
from assistant.tui.safe import Literal, literal, plain

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

SLOW = "the first time an index is built, which takes a minute or more"


class SimilarScreen(Screen[None]):
    """What matched comes first and at once; what the search finds by words follows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Beside the case", id="similar.open", priority=True),
        Binding("down,j", "move(1)", "Down", show=False, id="similar.down"),
        Binding("up,k", "move(-1)", "Up", show=False, id="similar.up"),
        Binding("escape,q", "dismiss", "Back", id="similar.back"),
    ]

    def __init__(self, place: Workplace) -> None:
        super().__init__()
        self._place = place
        self.found: list[Past] = []

    def compose(self) -> ComposeResult:
        yield Literal("looking", id="similar-head")
        yield OptionList(id="similar", markup=False, compact=True)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Looks in a thread."""
        self.query_one("#similar").focus()
        self._look()

    @work(thread=True, exit_on_error=False)
    def _look(self) -> None:
        table = self._place.table
        try:
            incidents = self._place.workshop.incidents()
        except RootrankError as error:
            self.app.call_from_thread(self._show, [], f"{error.message}; {error.hint}")
            return
        found = alike(table.calls.desk, incidents)
        self.app.call_from_thread(self._show, found, f"searching their words ({SLOW})")
        whole, missing = with_search(table.calls.desk, incidents, found)
        self.app.call_from_thread(self._show, whole, f"not searched: {'; '.join(missing)}" if missing else "")

    def _show(self, found: Sequence[Past], more: str) -> None:
        rows = self.query_one("#similar", OptionList)
        at = rows.highlighted
        self.found = list(found)
        told = plural(len(found), "past failure") + " like this one" if found else "no past failure is like this one"
        self.query_one("#similar-head", Literal).show(" · ".join(filter(None, (told, more))))
        rows.clear_options()
        rows.add_options([Option(_row(one)) for one in found])
        rows.highlighted = (at or 0) if found else None

    def action_move(self, step: int) -> None:
        """The next one, or the one before."""
        rows = self.query_one("#similar", OptionList)
        (rows.action_cursor_down if step > 0 else rows.action_cursor_up)()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Opens it."""
        self.action_open()

    def action_open(self) -> None:
        """Opens the chosen one."""
        at = self.query_one("#similar", OptionList).highlighted
        if at is not None and at < len(self.found):
            self._place.shelf.open(self.found[at].key)


def _row(one: Past) -> Content:
    share = f"{one.likeness:4.0%} " if one.likeness else "   · "
    origin = " · ours" if one.incident is not None and one.incident.origin == "team" else ""
    head = Content.assemble((share, "bold $text-accent"), literal(one.title, "bold"))
    why = plain("; ".join(one.reasons), 400)
    return Content("\n").join(
        [head, Content.styled(f"     {one.date or 'no date'}{origin} · {why}", "$foreground-muted")]
    )
