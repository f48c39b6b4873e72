"""The node x time heat map of failure-indicating events."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.content import Content

from assistant.case.models import Case
from assistant.case.text import tail
from assistant.pipeline import Examination
from assistant.tui.safe import Literal
from assistant.tui.views.heat import Heat, clock, heat

SHADES = "·░▒▓█"
"""None, then more and more; a sign, so that it reads without colour."""
NAME = 14
"""Columns for the name of a place."""
ROWS_WIDE, ROWS_LOW = 12, 4


class HeatMap(Literal):
    """One row a node (a rank where there is one node), one column a stretch of time."""

    def __init__(self, case: Case, examination: Examination | None) -> None:
        super().__init__(id="heat", classes="card")
        self._case, self._examination = case, examination
        self.hidden = 0
        self.named = ""
        """Its title, as text."""

    def set_case(self, case: Case, examination: Examination | None) -> None:
        """Shows a case."""
        self._case, self._examination = case, examination
        self.draw()

    def on_resize(self, event: events.Resize) -> None:
        """Fits the columns to the width."""
        self.draw()

    def draw(self) -> None:
        """Lays the map out anew."""
        columns = max(8, min(120, self.content_size.width - NAME - 2))
        found = heat(self._case, self._examination, columns)
        rows = ROWS_LOW if self.app.size.height < 40 else ROWS_WIDE
        self.hidden = max(0, len(found.rows) - rows)
        self.named = _title(found, self.hidden)
        self.border_title = Content(self.named)
        self.show(Content("\n").join(_lines(found, rows, columns)))


def _title(found: Heat, hidden: int) -> str:
    what = "Failure events: " + ("rank x time" if found.by_rank else "node x time")
    rest = f" · {hidden} more rows hidden" if hidden else ""
    return what + (f" · {found.untimed} without a time" if found.untimed else "") + rest


def _lines(found: Heat, rows: int, columns: int) -> Iterator[Content]:
    if not found.rows or not found.most:
        why = "no failure event has a readable time" if found.untimed else "no failure event was found"
        yield Content.styled(why, "$foreground-muted")
        return
    for name, counts in found.rows[:rows]:
        label = f"{tail(name, NAME):<{NAME}} "
        yield Content.assemble((label, "$foreground-muted"), *(_cell(count, found.most) for count in counts))
    if found.end > found.start:
        first, last = clock(found.start), clock(found.end)
        ends = f"{first}{f'{last} UTC':>{columns - len(first)}}" if columns >= 22 else f"{first} UTC"
        yield Content.styled(f"{'':<{NAME}} {ends}", "$foreground-muted")
    else:
        yield Content.styled(f"{'':<{NAME}} all at {clock(found.start)} UTC", "$foreground-muted")


def _cell(count: int, most: int) -> tuple[str, str]:
    if not count:
        return SHADES[0], "$foreground-muted"
    level = 1 + min(3, count * 4 // (most + 1))
    return SHADES[level], ("$text-warning", "$text-warning", "$text-error", "bold $text-error")[level - 1]
