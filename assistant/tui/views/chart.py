"""A small chart of one curve: blocks of eighths, with its range beside it and its iterations below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual import events
from textual.content import Content

from assistant.tui.safe import Literal
from assistant.tui.views.moments import Value

EIGHTHS = " ▁▂▃▄▅▆▇█"
LABEL = 10
"""Columns for the range."""


class Chart(Literal):
    """One curve. Each column shows the largest of its values, so that a single slow iteration stays in sight."""

    def __init__(self, id: str, title: str) -> None:
        super().__init__(id=id, classes="chart")
        self._heading = title
        self._values: list[Value] = []
        self.display = False

    def set_values(self, values: Sequence[Value]) -> None:
        """Shows a curve; nothing at all where there is none."""
        self._values = list(values)
        self.display = bool(self._values)
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Fits the columns to the width."""
        self._draw()

    def _draw(self) -> None:
        if self._values:
            room = max(4, self.content_size.width - LABEL)
            rows = max(1, self.content_size.height - 2)
            self.show(Content("\n").join(_lines(self._heading, self._values, room, rows)))


def columns_of(values: Sequence[Value], room: int) -> list[float]:
    """The largest value of each column; no more columns than values."""
    count = min(room, len(values))
    return [
        max(value for _, value in values[at * len(values) // count : (at + 1) * len(values) // count])
        for at in range(count)
    ]


def _lines(title: str, values: Sequence[Value], room: int, rows: int) -> Iterator[Content]:
    numbers = [value for _, value in values]
    low, high = min(numbers), max(numbers)
    yield Content.assemble((title, "$text-accent"), f": {low:.4g} to {high:.4g}, last {numbers[-1]:.4g}")
    shape = columns_of(values, room)
    for row in range(rows, 0, -1):
        label = f"{high:.4g}" if row == rows else f"{low:.4g}" if row == 1 else ""
        cells = "".join(EIGHTHS[_filled(value, low, high, row, rows)] for value in shape)
        yield Content.assemble((f"{label:>{LABEL - 1}} ", "$foreground-muted"), (cells, "$text-accent"))
    first, last = values[0][0], values[-1][0]
    if first is not None and last is not None:
        gap = max(1, len(shape) - len(str(first)) - len(str(last)))
        yield Content.styled(f"{'iteration':>{LABEL - 1}} {first}{' ' * gap}{last}", "$foreground-muted")


def _filled(value: float, low: float, high: float, row: int, rows: int) -> int:
    """Eighths of a cell of a row, counted from below; the lowest value still shows."""
    share = (value - low) / (high - low) if high > low else 0.5
    eighths = 1 + round(share * (8 * rows - 1))
    return max(0, min(8, eighths - 8 * (row - 1)))
