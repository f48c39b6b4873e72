"""Copy mode: one part of the screen as plain text from the first column on, with the mouse left to the terminal."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip

from assistant.case.text import plural
from assistant.tui import mouse
from assistant.tui.safe import Literal, plain
from assistant.tui.wording import Part

LONGEST = 16_384
"""Characters of one line that are shown."""
MOST = 50_000
"""Lines that are shown."""


class PlainLines(ScrollView, can_focus=True):
    """Lines of text and nothing else; long ones go on in the next row, or beyond the edge."""

    def __init__(self) -> None:
        super().__init__(id="plain")
        self.wrapped = True
        self._lines: list[str] = []
        self._rows: list[str] = []

    def show(self, lines: list[str]) -> None:
        """Replaces what it shows."""
        self._lines = lines
        self.lay_out()
        self.scroll_to(0, 0, animate=False)

    def lay_out(self) -> None:
        """Fits the rows to the width."""
        width = max(1, self.size.width)
        self._rows = [row for line in self._lines for row in _folded(line, width)] if self.wrapped else self._lines
        widest = max(map(len, self._rows), default=0)
        self.virtual_size = Size(width if self.wrapped else max(width, 2 * widest), len(self._rows))
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Another width has other rows."""
        self.lay_out()

    def render_line(self, y: int) -> Strip:
        """One row."""
        left, top = self.scroll_offset
        style, width = self.visual_style.rich_style, self.size.width
        row = self._rows[top + y] if top + y < len(self._rows) else ""
        return Strip([Segment(row, style)]).crop_extend(left, left + width, style)


class CopyScreen(Screen[None]):
    """Escape leads back, tab to the next part."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Back", id="copy.back"),
        Binding("tab", "part(1)", "Next part", id="copy.next"),
        Binding("shift+tab", "part(-1)", "Previous part", show=False, id="copy.previous"),
        Binding("y,c", "copy", "Copy all", id="copy.all"),
        Binding("w", "wrap", "Wrap", id="copy.wrap"),
    ]

    def __init__(self, parts: list[Part], at: int) -> None:
        super().__init__()
        self._parts = parts or [Part("Nothing", "There is no text in sight.")]
        self._at = min(at, len(self._parts) - 1)
        self._had_mouse = False

    def compose(self) -> ComposeResult:
        yield PlainLines()
        yield Literal(id="plain-state")

    def on_mount(self) -> None:
        """Gives the mouse to the terminal."""
        self._had_mouse = mouse.taken(self.app)
        mouse.take(self.app, False)
        self.query_one(PlainLines).focus()
        self.call_after_refresh(self._show)

    def on_unmount(self) -> None:
        """Takes the mouse again, if it was taken before."""
        mouse.take(self.app, self._had_mouse)

    def _show(self) -> None:
        part = self._parts[self._at]
        lines = [plain(line, LONGEST) for line in part.text.split("\n", MOST)[:MOST]]
        self.query_one(PlainLines).show(lines)
        more = "tab next part · " if len(self._parts) > 1 else ""
        about = f"{plain(part.title, 40)}, {plural(len(lines), 'line')}"
        told = f"{about} · mark with the mouse · y copies all · {more}esc back"
        self.query_one("#plain-state", Literal).show(told)

    def action_part(self, step: int) -> None:
        """Shows another part."""
        self._at = (self._at + step) % len(self._parts)
        self._show()

    def action_copy(self) -> None:
        """Copies the whole part through the terminal (OSC 52)."""
        self.app.copy_to_clipboard(self._parts[self._at].text)
        self.notify("copied", markup=False)

    def action_wrap(self) -> None:
        """Long lines go on in the next row, or beyond the edge."""
        lines = self.query_one(PlainLines)
        lines.wrapped = not lines.wrapped
        lines.lay_out()


def _folded(line: str, width: int) -> list[str]:
    if line.isascii():
        return [line[at : at + width] for at in range(0, max(1, len(line)), width)]
    return [row.plain for row in Content(line).fold(width)] or [""]
