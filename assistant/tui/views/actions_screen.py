"""The recovery steps as a checklist: command, risk, how to verify, how to undo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList
from textual.widgets.option_list import Option

from assistant.case.models import Action, Step
from assistant.case.vocabulary import ActionKind
from assistant.tui.safe import Literal, literal
from assistant.tui.views.hanging import hanging


class ActionsScreen(ModalScreen[None]):
    """Space ticks a step off, c copies its command. Nothing is ever run from here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "tick", "Done", id="actions.done"),
        Binding("c,y", "copy", "Copy command", id="actions.copy"),
        Binding("escape,q", "dismiss", "Back", id="actions.back"),
    ]

    def __init__(self, action: Action, done: set[int]) -> None:
        super().__init__()
        self._action, self._done = action, done

    def compose(self) -> ComposeResult:
        kind = "" if self._action.kind is ActionKind.NONE else f"{self._action.kind.value.replace('_', ' ')}: "
        with Vertical(id="window"):
            yield Literal(literal(f"{kind}{self._action.text}", "bold"), classes="heading")
            yield OptionList(id="steps", markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Lists the steps."""
        self._list(0)
        self.query_one("#steps").focus()

    def on_resize(self) -> None:
        """Fits the steps to the width."""
        self.call_after_refresh(lambda: self._list(self._at or 0))

    def _list(self, at: int) -> None:
        rows = self.query_one("#steps", OptionList)
        # One column is left for the bar that scrolls.
        width = max(20, rows.size.width - 3)
        rows.clear_options()
        rows.add_options([Option(_drawn(n, step, n in self._done, width)) for n, step in enumerate(self._action.steps)])
        rows.highlighted = at if self._action.steps else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Ticks it off."""
        self.action_tick()

    @property
    def _at(self) -> int | None:
        return self.query_one("#steps", OptionList).highlighted

    def action_tick(self) -> None:
        """Ticks a step off, or takes that back."""
        if (at := self._at) is not None:
            self._done ^= {at}
            self._list(at)

    def action_copy(self) -> None:
        """Copies the command of a step, through the terminal (OSC 52)."""
        command = self._action.steps[at].command if (at := self._at) is not None else None
        if command:
            self.app.copy_to_clipboard(command)
        self.notify("copied" if command else "this step has no command", markup=False)


def _drawn(number: int, step: Step, done: bool, width: int) -> Content:
    return Content("\n").join(_lines(number, step, done, width))


def _lines(number: int, step: Step, done: bool, width: int) -> Iterator[Content]:
    box = ("[x] ", "$text-success") if done else ("[ ] ", "$foreground-muted")
    lead = Content.assemble(box, (f"{number + 1}. ", "bold"))
    yield hanging(lead, literal(step.text, "$foreground-muted" if done else ""), width)
    if step.command:
        yield hanging(Content("       $ "), literal(step.command, "$text-accent"), width)
    for word, text in (("risk", step.risk), ("verify", step.verify), ("undo", step.undo)):
        if text:
            lead = Content.styled(f"       {word:<7}", "$foreground-muted")
            yield hanging(lead, literal(text, "$foreground-muted"), width)
