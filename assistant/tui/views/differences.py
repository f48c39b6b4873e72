"""Tables of what two sides write differently; enter opens the first such line of this side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content
from textual.screen import Screen
from textual.widgets import DataTable

from assistant.patterns.contrast import Contrast, Difference
from assistant.tui.messages import PlaceWanted
from assistant.tui.safe import plain

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

NAMES = ("only-here", "only-there", "changed")
"""Ids of the three tables."""

MOST = 500
"""Rows of one table; the rest is counted in its title."""
LONGEST = 300
NARROW = 20
"""Columns of an event, at least."""


class DifferenceTable(DataTable[Text]):
    """One group of differences."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id, cursor_type="row", zebra_stripes=False, classes="differences")
        self.rows_shown: list[Difference] = []

    def on_resize(self) -> None:
        """Events take what room the other columns leave; a cut one shows it, and enter opens its line."""
        if self.ordered_columns:
            *others, event = self.ordered_columns
            # Each column has one cell free on either side; one more is the bar that scrolls.
            taken = sum(one.get_render_width(self) for one in others)
            event.auto_width, event.width = False, max(NARROW, self.size.width - taken - 3)
            self.refresh()

    def fill(self, title: str, found: Sequence[Difference], columns: Sequence[str]) -> None:
        """Shows the group.

        Args:
            title: of the table.
            found: its rows.
            columns: of `here`, `there`, `times`; the event itself stands last.
        """
        self.rows_shown = list(found[:MOST])
        rest = f" · {len(found) - MOST} more not shown" if len(found) > MOST else ""
        self.border_title = Content(f"{title} ({len(found)}){rest}")
        self.clear(columns=True)
        self.add_columns(*columns, "event")
        for one in self.rows_shown:
            cells = {"here": _count(one.here), "there": _count(one.there), "times": _times(one)}
            note = f"  ({one.note})" if one.note else ""
            values = [cells[name] for name in columns]
            event = Text(plain(one.text, LONGEST) + note, no_wrap=True, overflow="ellipsis")
            self.add_row(*map(Text, values), event)
        self.set_class(not found, "-none")
        self.show_header = bool(found)
        self.call_after_refresh(self.on_resize)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Opens the first line."""
        event.stop()
        one = self.rows_shown[self.cursor_row] if self.cursor_row < len(self.rows_shown) else None
        if one is not None and one.source:
            self.post_message(PlaceWanted(f"{one.source}:{one.line}"))


class DifferencesScreen(Screen[None]):
    """A screen with the three tables of a contrast; what is picked in them opens in its log."""

    def __init__(self, place: Workplace) -> None:
        super().__init__()
        self._place = place

    def fill(self, titles: Sequence[str], found: Contrast) -> None:
        """Fills the tables (only here, only there, at another rate) and turns to the first that holds something."""
        columns = (("here",), ("there",), ("here", "there", "times"))
        groups = (found.only_here, found.only_there, found.changed)
        tables = [self.query_one(f"#{name}", DifferenceTable) for name in NAMES]
        for table, title, group, wanted in zip(tables, titles, groups, columns, strict=True):
            table.fill(title, group, wanted)
        next((table for table in tables if table.rows_shown), tables[0]).focus()

    def on_place_wanted(self, message: PlaceWanted) -> None:
        """A line of a log."""
        message.stop()
        self._place.open_place(message.name)

    def action_open(self) -> None:
        """Opens the first line of the chosen event."""
        if isinstance(self.focused, DifferenceTable):
            self.focused.action_select_cursor()


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def _times(one: Difference) -> str:
    if math.isinf(one.times):
        return ""
    return f"x{one.times:.3g}" if one.times >= 1 else f"x1/{1 / one.times:.3g}" if one.times else "none"
