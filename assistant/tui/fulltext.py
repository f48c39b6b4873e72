"""A window with the full text of one thing that is cited."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer

from assistant.tui.safe import Literal, literal, literal_lines

CHARACTERS = 200_000
"""Of one text; more is cut, and said to be."""


class FullText(ModalScreen[None]):
    """Shows a text; escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="text.close"),
        Binding("c,y", "copy", "Copy", id="text.copy"),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._heading, self._text = title, text

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="window"):
            yield Literal(literal(self._heading, "bold"), classes="heading")
            yield Literal(self._content())
        yield Footer(show_command_palette=False)

    def _content(self) -> Content:
        shown = self._text[:CHARACTERS]
        # Pieces of a long line, each short enough to be drawn.
        rows = [row[at : at + 4_000] for row in shown.split("\n") for at in range(0, max(1, len(row)), 4_000)]
        content = literal_lines("\n".join(rows), most=20_000)
        rest = len(self._text) - len(shown)
        return content.append(f"\n… {rest:,} characters more") if rest > 0 else content

    def action_copy(self) -> None:
        """Copies it as it stands."""
        self.app.copy_to_clipboard(self._text[:CHARACTERS])
        self.notify("copied", markup=False)
