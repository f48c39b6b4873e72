"""The case: verdict card, suspects, heat map, evidence."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll

from assistant.case.models import Evidence
from assistant.case.text import plural
from assistant.tui.ports import Table
from assistant.tui.views.heatmap import HeatMap
from assistant.tui.views.listing import EvidenceList, SuspectList
from assistant.tui.views.verdict import VerdictCard


class CasePane(Vertical):
    """Everything that the first screen tells."""

    def __init__(self, table: Table) -> None:
        super().__init__(id="case")
        self.table = table

    def compose(self) -> ComposeResult:
        yield VerdictCard(self.table.case)
        with VerticalScroll(id="details", can_focus=False):
            yield SuspectList("suspects")
            yield HeatMap(self.table.case, self.table.examination)
            yield EvidenceList("evidence")

    @property
    def first(self) -> SuspectList:
        """Where the focus goes first."""
        return self.query_one(SuspectList)

    def set_table(self, table: Table, marked: Sequence[Evidence] = ()) -> None:
        """Shows a case, with what a person marked."""
        self.table = table
        self.query_one(VerdictCard).set_case(table.case)
        self.query_one(SuspectList).set_case(table.case)
        self.query_one(HeatMap).set_case(table.case, table.examination)
        self.query_one(EvidenceList).set_evidence(table.case, marked)

    def hidden(self) -> list[str]:
        """What the window is too small for."""
        rows = self.query_one(HeatMap).hidden
        beneath = self.query_one("#details", VerticalScroll).max_scroll_y
        parts = [f"{plural(beneath, 'line')} of the case (scroll)"] if beneath else []
        return [*parts, f"{plural(rows, 'row')} of the heat map"] if rows else parts
