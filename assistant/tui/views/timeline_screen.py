"""What happened when, on one line of time and as a list; iteration times and losses as charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, OptionList
from textual.widgets.option_list import Option

from assistant.case.text import plural
from assistant.tools.moments import Moment
from assistant.tui.marks import untimed
from assistant.tui.safe import Literal, literal
from assistant.tui.views.chart import Chart
from assistant.tui.views.heat import clock
from assistant.tui.views.moments import SIGNS, Line, axis, line_of, sign, span_of

if TYPE_CHECKING:
    from assistant.tui.workplace import Workplace

MOST = 1_000
STYLES = {"▼": "bold $text-error", "x": "$text-warning", "t": "$foreground-muted", "C": "$text-success"}
DAY = len("2031-04-02T")
LEGEND = "  ".join(f"{mark} {word}" for word, mark in SIGNS)


class TimelineScreen(Screen[None]):
    """Enter opens the log line of a moment."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Its log line", id="time.open", priority=True),
        Binding("j", "move(1)", "Down", show=False, id="time.down"),
        Binding("k", "move(-1)", "Up", show=False, id="time.up"),
        Binding("escape,q", "dismiss", "Back", id="time.back"),
    ]

    def __init__(self, place: Workplace) -> None:
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-tall")]
        self._place = place
        self._moments: list[Moment] = []
        self._day = ""
        """The day of all moments, told once."""
        self._line: Line | None = None

    def compose(self) -> ComposeResult:
        yield Literal("reading", id="time-head")
        yield Literal("", id="time-axis")
        yield Literal("", id="time-ends")
        yield Chart("pace", "Iteration time, s")
        yield Chart("loss", "Loss")
        yield OptionList(id="moments", markup=False, compact=True)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Reads in a thread: the logs of a stored case may have to be read again."""
        self._read()

    @work(thread=True, exit_on_error=False)
    def _read(self) -> None:
        table = self._place.table
        found = table.calls.aside(lambda desk: line_of(desk, table.examination))
        self.app.call_from_thread(self._show, found)

    def _show(self, found: Line) -> None:
        self._moments = found.moments[:MOST]
        days = {one.time[:DAY] for one in self._moments}
        self._day = days.pop() if len(days) == 1 else ""
        self.query_one("#time-head", Literal).show(LEGEND)
        self._line = found
        self._draw()
        self.query_one("#pace", Chart).set_values(found.durations)
        self.query_one("#loss", Chart).set_values(found.losses)
        rows = self.query_one("#moments", OptionList)
        rows.add_options([Option(_row(one, len(self._day))) for one in self._moments])
        rows.focus()

    def on_resize(self) -> None:
        """Fits the line to the width."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        span = span_of(self._line.timed) if self._line else None
        if self._line is not None and span is not None:
            columns = max(10, self.size.width - 2)
            self.query_one("#time-axis", Literal).show(_coloured(axis(self._line.timed, columns)))
            first, last = f"{self._day.replace('T', ' ')}{clock(span[0])}", f"{clock(span[1])} UTC"
            middle = f"{self._count():^{max(0, columns - len(first) - len(last))}}"
            self.query_one("#time-ends", Literal).show(f"{first}{middle}{last}")

    def _count(self) -> str:
        count = len(self._line.moments) if self._line else 0
        rest = f", {count - len(self._moments)} not listed" if count > len(self._moments) else ""
        return f"{plural(count, 'moment')}{rest}"

    def action_move(self, step: int) -> None:
        """The next moment, or the one before."""
        rows = self.query_one("#moments", OptionList)
        (rows.action_cursor_down if step > 0 else rows.action_cursor_up)()

    def action_open(self) -> None:
        """Opens what the chosen moment rests on."""
        at = self.query_one("#moments", OptionList).highlighted
        item = self._moments[at].evidence if at is not None and at < len(self._moments) else None
        if item is not None:
            self._place.open_place(item.id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Opens it."""
        self.action_open()


def _row(one: Moment, day: int) -> Content:
    mark, when = sign(one), one.time[day:19].replace("T", " ")
    text = literal(untimed(one.text))
    return Content.assemble((f"{when} ", "$foreground-muted"), (f"{mark} ", STYLES.get(mark, "")), text)


def _coloured(line: str) -> Content:
    return Content.assemble(*((mark, STYLES.get(mark, "$foreground-muted")) for mark in line))
