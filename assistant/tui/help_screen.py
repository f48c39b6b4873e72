"""The help: keys of the part that has the focus, and the slash commands."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Footer

from assistant.tui.commands import COMMANDS, usage
from assistant.tui.safe import Literal


class HelpScreen(ModalScreen[None]):
    """Shows it; escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1", "dismiss", "Close", id="help.close")]

    def __init__(self, about: Screen[None]) -> None:
        super().__init__()
        self._rows, self._usual = _keys(about)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="window"):
            yield Literal(Content.styled("Keys here", "bold"), classes="heading")
            yield Literal(Content("\n").join(self._rows))
            yield Literal(Content.styled("Commands, to be typed into the prompt", "bold"), classes="heading")
            yield Literal(Content("\n").join(map(_command, COMMANDS)))
            yield Literal(Content.styled("Moving and editing, as elsewhere", "bold"), classes="heading")
            yield Literal(Content("\n").join(self._usual))
        yield Footer(show_command_palette=False)


def _command(command: object) -> Content:
    one = next(known for known in COMMANDS if known is command)
    return Content.assemble((f"{usage(one):<28} ", "bold $text-accent"), one.help)


def _keys(about: Screen[None]) -> tuple[list[Content], list[Content]]:
    """Keys of this program, which have an id, and those that every list or field of text has."""
    own: list[tuple[bool, Content]] = []
    usual: list[Content] = []
    seen: set[str] = set()
    for binding in about.active_bindings.values():
        one = binding.binding
        if one.description and not one.system and one.action not in seen:
            seen.add(one.action)
            named = f"  ({one.id})" if one.id else ""
            key = (f"{about.app.get_key_display(one):<10} ", "bold $text-accent")
            row = Content.assemble(key, one.description, (named, "$foreground-muted"))
            if one.id:
                own.append((one.id.startswith("app."), row))
            else:
                usual.append(row)
    # What is particular to this part comes first.
    return [row for _, row in sorted(own, key=lambda pair: pair[0])], usual
