"""What the parts of a screen say, as plain text without frames, signs of the layout and line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import DataTable, OptionList

from assistant.tui.safe import Literal

TITLES = {"verdict": "Verdict", "transcript": "Conversation", "log": "Log lines", "moments": "Timeline"}
"""Names of parts that have no title on the screen."""


@runtime_checkable
class Worded(Protocol):
    """A widget that knows best what it says."""

    def plain_text(self) -> str:
        """It, as lines."""
        ...


@runtime_checkable
class Named(Protocol):
    """A widget that has a title on the screen."""

    named: str


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a screen."""

    title: str
    text: str


def parts_of(screen: Screen[object]) -> tuple[list[Part], int]:
    """All parts in sight that say something, and which of them has the focus."""
    found = [(widget, part) for widget in _shown(screen) if (part := _part(widget)) is not None]
    return [part for _, part in found], _chosen(screen.focused, [widget for widget, _ in found])


def _shown(screen: Screen[object]) -> Iterator[Widget]:
    for widget in screen.walk_children(Widget):
        if all(one.display for one in widget.ancestors_with_self if isinstance(one, Widget)):
            yield widget


def _chosen(focused: Widget | None, widgets: list[Widget]) -> int:
    """The focused part, or the first one in it; from a field in which one types, the one that changes most."""
    for at, widget in enumerate(widgets):
        if focused is not None and focused in widget.ancestors_with_self:
            return at
    speaking = [at for at, widget in enumerate(widgets) if widget.id == "transcript"]
    return speaking[0] if speaking else 0


def _part(widget: Widget) -> Part | None:
    text = _text(widget).strip("\n")
    return Part(_title(widget), text) if text.strip() else None


def _title(widget: Widget) -> str:
    if isinstance(widget, Named) and widget.named:
        return widget.named
    name = widget.id or "text"
    return TITLES.get(name, name.capitalize())


def _text(widget: Widget) -> str:
    if isinstance(widget, Worded):
        return widget.plain_text()
    if isinstance(widget, OptionList):
        return "\n".join(_plain(option.prompt) for option in widget.options)
    if isinstance(widget, DataTable):
        return _table(widget)
    # Lines of one row are heads and states of the screen, no part that anybody copies.
    if isinstance(widget, Literal) and widget.size.height > 1:
        return _plain(widget.content)
    return ""


def _table(table: DataTable[object]) -> str:
    heads = [str(column.label) for column in table.ordered_columns]
    rows = [[str(cell) for cell in table.get_row(row.key)] for row in table.ordered_rows]
    wide = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    return "\n".join("  ".join(f"{cell:<{wide[at]}}" for at, cell in enumerate(row)).rstrip() for row in [heads, *rows])


def _plain(drawn: object) -> str:
    return drawn.plain if isinstance(drawn, Content) else str(drawn)
