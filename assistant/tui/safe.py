"""Text from outside, drawn as it is: never read as markup, never more than a screen can need.

Logs, models, file names and settings may hold brackets that look like markup, terminal escapes and endless lines. Every
widget that shows such text takes it through here; a test looks for those that do not.
"""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Input, Static

from assistant.case.text import clean

LONGEST = 4_096
"""Characters of one line that are drawn; the log viewer opens the full text of longer ones."""


def plain(text: str, longest: int = LONGEST) -> str:
    """`text` on one line, bounded, with nothing that a terminal would act on."""
    if len(text) <= longest:
        return clean(text)
    return f"{clean(text[:longest])}… ({len(text) - longest:,} characters more)"


def literal(text: str, style: str = "") -> Content:
    """One line of outside text, every character shown."""
    return Content.styled(plain(text), style) if style else Content(plain(text))


def literal_lines(text: str, style: str = "", most: int = 2_000) -> Content:
    """Several lines of outside text."""
    rows = text.split("\n", most)
    kept = [literal(row, style) for row in rows[:most]]
    return Content("\n").join(kept)


class Literal(Static):
    """A Static that never reads markup; it shows Content, or plain text as it stands."""

    def __init__(self, text: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(_drawn(text), id=id, classes=classes, markup=False)

    def show(self, text: str | Content) -> None:
        """Replaces what it shows."""
        self.update(_drawn(text))


class PlainInput(Input):
    """A line of input that takes nothing that a terminal would act on, whatever is pasted into it."""

    def validate_value(self, value: str) -> str:
        """What is kept of a new value."""
        return value if value.isprintable() else clean(value)


def _drawn(text: str | Content) -> Content:
    return literal_lines(text) if isinstance(text, str) else text
