"""One node, or one rank, beside its peers: what it has that they lack, and the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Footer

from assistant.tui.safe import Literal, literal
from assistant.tui.views.differences import NAMES, DifferencesScreen, DifferenceTable
from assistant.tui.views.peers import Peers, Story

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace


class PeersScreen(DifferencesScreen):
    """Both sides with their facts; below them what only each wrote, and what came at another rate."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next table", id="peers.next"),
        Binding("enter", "open", "First line", id="peers.open", priority=True),
        Binding("escape,q", "dismiss", "Back", id="peers.back"),
    ]

    def __init__(self, place: Workplace, found: Peers) -> None:
        super().__init__(place)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
        self._found = found

    def compose(self) -> ComposeResult:
        yield Literal(literal(f"{self._found.own.name} beside {self._found.others.name}", "bold"), id="peers-head")
        with Horizontal(id="peers"):
            for story, name in ((self._found.own, NAMES[0]), (self._found.others, NAMES[1])):
                with Vertical(classes="peer"):
                    yield Literal(_drawn(story), classes="facts")
                    yield DifferenceTable(name)
        yield DifferenceTable(NAMES[2])
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Fills the tables."""
        own, others = self._found.own.name, self._found.others.name
        titles = (
            f"Only on {own}: lines per log",
            f"Only on {others}: lines per log",
            "At another rate: lines per log",
        )
        self.fill(titles, self._found.contrast)


def _drawn(story: Story) -> Content:
    facts = literal(" · ".join(story.facts), "$foreground-muted")
    return Content("\n").join([literal(story.name, "bold $text-accent"), facts])
