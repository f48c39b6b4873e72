"""The table of nodes and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import DataTable, Footer

from assistant.case.text import plural
from assistant.errors import RootrankError
from assistant.tui.safe import Literal, plain
from assistant.tui.views.heat import UNKNOWN
from assistant.tui.views.peers import against_peers
from assistant.tui.views.peers_screen import PeersScreen
from assistant.tui.views.standings import ORDERS, Standing, standings

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

MOST = 4_096
"""Rows that are shown; more are counted."""
COLUMNS = ("suspicion", "node", "rank", "state", "iteration", "last line", "errors")
NODE = COLUMNS.index("node")
DAY = len("2031-04-02T")


class NodesScreen(Screen[None]):
    """Every rank; keys sort, enter compares its node with the others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "order('suspicion')", "By suspicion", id="nodes.suspicion"),
        Binding("i", "order('iteration')", "iteration", id="nodes.iteration"),
        Binding("t", "order('time')", "last line", id="nodes.time"),
        Binding("r", "order('errors')", "errors", id="nodes.errors"),
        Binding("a", "order('name')", "name", id="nodes.name"),
        Binding("enter", "compare", "Against peers", id="nodes.compare", priority=True),
        Binding("j", "move(1)", "Down", show=False, id="nodes.down"),
        Binding("k", "move(-1)", "Up", show=False, id="nodes.up"),
        Binding("escape,q", "dismiss", "Back", id="nodes.back"),
    ]

    def __init__(self, place: Workplace) -> None:
        super().__init__()
        self._place = place
        self._rows: list[Standing] = standings(place.table.case, place.table.examination)
        days = {row.last_time[:DAY] for row in self._rows if row.last_time}
        self._day = days.pop() if len(days) == 1 else ""
        """The day of all last lines, told once: in a narrow window the time of day would be cut off."""
        self._named = any(row.node != UNKNOWN for row in self._rows)

    def compose(self) -> ComposeResult:
        yield Literal(id="nodes-head")
        table: DataTable[Text] = DataTable(id="nodes", cursor_type="row", zebra_stripes=False)
        yield table
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Fills the table."""
        self._table.add_columns(*self._shown(COLUMNS))
        self.action_order("suspicion")
        self._table.focus()

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one("#nodes", DataTable)

    def action_order(self, name: str) -> None:
        """Sorts the rows."""
        self._rows.sort(key=ORDERS[name])
        self._table.clear()
        for row in self._rows[:MOST]:
            style = "bold red" if row.blamed else ""
            self._table.add_row(*(Text(text, style) for text in self._shown(_texts(row, self._day))))
        rest = f" · {len(self._rows) - MOST} more not shown" if len(self._rows) > MOST else ""
        day = f" · last lines of {self._day.rstrip('T')}, UTC" if self._day else " · last lines in UTC"
        self.query_one("#nodes-head", Literal).show(f"{plural(len(self._rows), 'rank')} by {name}{day}{rest}")

    def _shown(self, cells: Sequence[str]) -> list[str]:
        """The cells of a row without that of the node, where no line tells any node."""
        return [cell for at, cell in enumerate(cells) if at != NODE or self._named]

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Compares the node of the row."""
        self.action_compare()

    def action_compare(self) -> None:
        """Reads what the node of the row has that the others lack; the rank of the row, where there is one node."""
        if self._rows:
            self._compare(self._rows[self._table.cursor_row])

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _compare(self, chosen: Standing) -> None:
        rows = list(self._rows)
        try:
            found = self._place.table.calls.aside(lambda desk: against_peers(desk, rows, chosen))
        except RootrankError as error:
            self.app.call_from_thread(self._place.tell, f"{error.message}; {error.hint}", warning=True)
        else:
            self.app.call_from_thread(self.app.push_screen, PeersScreen(self._place, found))

    def action_move(self, step: int) -> None:
        """The next row, or the one before."""
        (self._table.action_cursor_down if step > 0 else self._table.action_cursor_up)()


def _texts(row: Standing, day: str) -> tuple[str, ...]:
    iteration = "" if row.last_iteration is None else str(row.last_iteration)
    rank = "" if row.rank is None else str(row.rank)
    when = row.last_time[len(day) : len("2031-04-02T10:00:00")]
    return f"{row.score:.2f}", plain(row.node, 60), rank, row.state.value, iteration, when, str(row.errors)
