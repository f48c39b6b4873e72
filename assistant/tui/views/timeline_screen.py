"""What happened when, on one line of time and as a list; iteration times and losses as charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Sparkline
from textual.widgets.option_list import Option

from assistant.tools.moments import Moment
from assistant.tui.safe import Literal, literal
from assistant.tui.views.moments import SIGNS, Line, axis, line_of, sign

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

MOST = 1_000
STYLES = {"▼": "bold $text-error", "x": "$text-warning", "t": "$text-muted", "C": "$text-success"}
LEGEND = "  ".join(f"{mark} {word}" for word, mark in SIGNS)


class TimelineScreen(Screen[None]):
    """Enter opens the log line of a moment."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Back", id="time.back")]

    def __init__(self, place: Workplace) -> None:
        super().__init__()
        self._place = place
        self._moments: list[Moment] = []

    def compose(self) -> ComposeResult:
        yield Literal("reading", id="time-head")
        yield Literal("", id="time-axis")
        yield Literal("", id="pace-head")
        yield Sparkline([], id="pace", summary_function=max)
        yield Literal("", id="loss-head")
        yield Sparkline([], id="loss", summary_function=max)
        yield OptionList(id="moments", markup=False, compact=True)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Reads in a thread: the logs of a stored case may have to be read again."""
        self._read()

    @work(thread=True, exit_on_error=False)
    def _read(self) -> None:
        table = self._place.table
        found = line_of(table.calls.desk, table.examination)
        self.app.call_from_thread(self._show, found)

    def _show(self, found: Line) -> None:
        self._moments = found.moments[:MOST]
        rest = len(found.moments) - len(self._moments)
        head = f"{len(found.moments)} moments{f', {rest} not listed' if rest else ''}   {LEGEND}"
        self.query_one("#time-head", Literal).show(head)
        self.query_one("#time-axis", Literal).show(_coloured(axis(found.moments, max(10, self.size.width - 2))))
        self._chart("pace", "Iteration time, s", found.durations)
        self._chart("loss", "Loss", found.losses)
        rows = self.query_one("#moments", OptionList)
        rows.add_options([Option(_row(one)) for one in self._moments])
        rows.focus()

    def _chart(self, name: str, title: str, values: list[float]) -> None:
        told = f"{title}: {min(values):.3g} to {max(values):.3g}, last {values[-1]:.3g}" if values else ""
        self.query_one(f"#{name}-head", Literal).show(told)
        self.query_one(f"#{name}-head").display = self.query_one(f"#{name}").display = bool(values)
        self.query_one(f"#{name}", Sparkline).data = values

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Opens what a moment rests on."""
        item = self._moments[event.option_index].evidence
        if item is not None:
            self._place.open_place(item.id)


def _row(one: Moment) -> Content:
    mark = sign(one)
    return Content.assemble((f"{one.time[:19]} ", "$text-muted"), (f"{mark} ", STYLES.get(mark, "")), literal(one.text))


def _coloured(line: str) -> Content:
    return Content.assemble(*((mark, STYLES.get(mark, "$text-muted")) for mark in line))
