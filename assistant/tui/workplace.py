"""The workplace: the verdict and everything it rests on, on one screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer

from assistant.case.text import plural
from assistant.tui.heatmap import HeatMap
from assistant.tui.listing import EvidenceList, SuspectList
from assistant.tui.ports import Table
from assistant.tui.safe import Literal, plain
from assistant.tui.verdict import VerdictCard


class Workplace(Screen[None]):
    """One case on the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "app.quit", "Quit", id="app.quit")]

    def __init__(self, table: Table) -> None:
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-tall")]
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]
        self.table = table

    def compose(self) -> ComposeResult:
        case = self.table.case
        yield Literal(id="headline")
        with Horizontal(id="body"), Vertical(id="case"):
            yield VerdictCard(case)
            with VerticalScroll(id="details", can_focus=False):
                yield SuspectList("suspects")
                yield HeatMap(case, self.table.examination)
                yield EvidenceList("evidence")
        yield Literal(id="hidden")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Fills the screen."""
        self.show_table(self.table)

    def show_table(self, table: Table) -> None:
        """Shows a case, the present one or its next revision."""
        self.table = table
        case = table.case
        revision = f" revision {case.revision}" if case.revision > 1 else ""
        read = f"{case.timing.bytes:,} bytes read in {case.timing.seconds:.1f} s"
        unread = f" · {len(case.not_read)} not read" if case.not_read else ""
        self.query_one("#headline", Literal).show(f"Rootrank · {plain(case.case)}{revision} · {read}{unread}")
        self.query_one(VerdictCard).set_case(case)
        self.query_one(SuspectList).set_case(case)
        self.query_one(HeatMap).set_case(case, table.examination)
        self.query_one(EvidenceList).set_case(case)
        self.call_after_refresh(self.tell_hidden)

    def on_resize(self) -> None:
        """What does not fit is told anew."""
        self.call_after_refresh(self.tell_hidden)

    def tell_hidden(self) -> None:
        """One line that says what the window is too small for."""
        parts = [part for part in (self._beneath(), self._rows_hidden()) if part]
        text = f"hidden: {', '.join(parts)}" if parts else ""
        self.query_one("#hidden", Literal).show(Content(text))
        self.query_one("#hidden").display = bool(text)

    def _rows_hidden(self) -> str:
        kept = self.query_one(HeatMap).hidden
        return f"{kept} rows of the heat map" if kept else ""

    def _beneath(self) -> str:
        scroll = self.query_one("#details", VerticalScroll)
        rest = scroll.max_scroll_y
        return f"{plural(rest, 'line')} of the case (scroll)" if rest else ""
