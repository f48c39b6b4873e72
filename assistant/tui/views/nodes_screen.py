"""The table of nodes and ranks, and one node against its peers side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import DataTable, Footer

from assistant.errors import RootrankError
from assistant.tui.safe import Literal, literal, plain
from assistant.tui.views.standings import ORDERS, Section, Standing, against_peers, standings

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

MOST = 4_096
"""Rows that are shown; more are counted."""
COLUMNS = ("suspicion", "node", "rank", "state", "last iteration", "last line (UTC)", "errors")


class NodesScreen(Screen[None]):
    """Every rank; keys sort, enter compares its node with the others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "order('suspicion')", "By suspicion", id="nodes.suspicion"),
        Binding("i", "order('iteration')", "iteration", id="nodes.iteration"),
        Binding("t", "order('time')", "last line", id="nodes.time"),
        Binding("r", "order('errors')", "errors", id="nodes.errors"),
        Binding("a", "order('name')", "name", id="nodes.name"),
        Binding("enter", "compare", "Against peers", id="nodes.compare"),
        Binding("escape,q", "dismiss", "Back", id="nodes.back"),
    ]

    def __init__(self, place: Workplace) -> None:
        super().__init__()
        self._place = place
        self._rows: list[Standing] = standings(place.table.case, place.table.examination)

    def compose(self) -> ComposeResult:
        yield Literal(id="nodes-head")
        table: DataTable[Text] = DataTable(id="nodes", cursor_type="row", zebra_stripes=False)
        yield table
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Fills the table."""
        self._table.add_columns(*COLUMNS)
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
            self._table.add_row(*_cells(row))
        rest = f" · {len(self._rows) - MOST} more not shown" if len(self._rows) > MOST else ""
        self.query_one("#nodes-head", Literal).show(f"{len(self._rows)} ranks by {name}{rest}")

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Compares the node of the row."""
        self.action_compare()

    def action_compare(self) -> None:
        """Reads what the node of the row has that the others lack."""
        if self._rows:
            node = self._rows[self._table.cursor_row].node
            self._compare(node)

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _compare(self, node: str) -> None:
        try:
            sections = against_peers(self._place.table.calls.desk, node)
        except RootrankError as error:
            self.app.call_from_thread(self._place.tell, f"{error.message}; {error.hint}", warning=True)
        else:
            self.app.call_from_thread(self.app.push_screen, PeersScreen(node, sections))


def _cells(row: Standing) -> list[Text]:
    style = "bold red" if row.blamed else ""
    iteration = "" if row.last_iteration is None else str(row.last_iteration)
    rank = "" if row.rank is None else str(row.rank)
    texts = (
        f"{row.score:.2f}",
        plain(row.node, 60),
        rank,
        row.state.value,
        iteration,
        row.last_time[:19],
        str(row.errors),
    )
    return [Text(text, style) for text in texts]


class PeersScreen(ModalScreen[None]):
    """What one node has and the others lack, beside what they have and it lacks."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Back", id="peers.back")]

    def __init__(self, node: str, sections: list[Section]) -> None:
        super().__init__()
        self._node = node
        self._heads = [one for one in sections if not one.title.startswith(("Only", "At"))]
        self._sections = [one for one in sections if one.title.startswith(("Only", "At"))]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="window"):
            yield Literal(literal(f"{self._node} against its peers", "bold"), classes="heading")
            yield Literal(Content("\n").join([literal(one.title, "$text-muted") for one in self._heads]))
            with Horizontal(id="peers"):
                for one in self._sections[:2]:
                    yield Literal(_drawn(one), classes="peer")
            for one in self._sections[2:]:
                yield Literal(_drawn(one))
        yield Footer(show_command_palette=False, compact=True)


def _drawn(section: Section) -> Content:
    rows = [literal(section.title, "bold $text-accent"), *(literal(f"• {row}") for row in section.rows)]
    return Content("\n").join([*rows, Content("")])
