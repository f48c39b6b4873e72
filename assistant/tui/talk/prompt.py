"""Where questions are typed: several lines, history, completion, and an editor of your own."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from assistant.tui.messages import Asked
from assistant.tui.talk.completion import Offer, offers, shown
from assistant.tui.talk.history import History

LONGEST = 20_000
"""Characters of a question, as for `explain`."""


class Offers(OptionList, can_focus=False):
    """The list of completions above the prompt."""

    def __init__(self) -> None:
        super().__init__(id="offers", markup=False, compact=True)
        self.found: list[Offer] = []
        self.display = False

    def show(self, found: list[Offer]) -> None:
        """Shows some; none hides the list."""
        self.found = found
        self.clear_options()
        self.add_options([Option(Content(row)) for row in shown(found)])
        self.highlighted = 0 if found else None
        self.display = bool(found)


class Prompt(TextArea):
    """The text that is being typed. Enter sends it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", id="prompt.send", priority=False),
        Binding("ctrl+j,shift+enter,alt+enter", "newline", "New line", show=False, id="prompt.newline"),
        Binding("tab", "complete", "Complete", show=False, id="prompt.complete"),
        Binding("ctrl+g", "screen.edit", "Editor", show=False, id="prompt.editor"),
    ]

    class Refused(Message):
        """The question is too long."""

    def __init__(self, offers_list: Offers, history: History) -> None:
        super().__init__(id="prompt", soft_wrap=True, show_line_numbers=False, compact=True, tab_behavior="focus",
                         placeholder="Ask, or / for commands, @ for names; F1 helps")  # fmt: skip
        self.names: list[Offer] = []
        self.past = history
        self._offers = offers_list
        self._replaces = 0

    def on_text_area_changed(self) -> None:
        """Offers completions for what stands before the cursor."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        self._replaces, found = offers(before, self.names)
        self._offers.show(found)

    async def _on_key(self, event: events.Key) -> None:
        if self._offers.display and event.key in ("up", "down", "escape"):
            event.prevent_default().stop()
            if event.key == "escape":
                self._offers.show([])
            else:
                (self._offers.action_cursor_up if event.key == "up" else self._offers.action_cursor_down)()
            return
        if event.key == "up" and self.cursor_location[0] == 0 and self._go(self.past.older(self.text)):
            event.prevent_default().stop()
            return
        if event.key == "down" and self.cursor_at_last_line and self._go(self.past.newer()):
            event.prevent_default().stop()
            return
        if event.key in ("enter", "tab"):
            event.prevent_default().stop()
            (self.action_send if event.key == "enter" else self.action_complete)()
            return
        await super()._on_key(event)

    def _go(self, text: str | None) -> bool:
        if text is None:
            return False
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._offers.show([])
        return True

    def action_send(self) -> None:
        """Takes the offer that is chosen, or sends the text."""
        if self._offers.display and self._completes():
            self._take()
            return
        text = self.text.strip()
        if len(text) > LONGEST:
            self.post_message(self.Refused())
        elif text:
            self.post_message(Asked(text))

    def sent(self) -> None:
        """The question was taken: it goes into the history, and the prompt is empty."""
        self.past.add(self.text.strip())
        self.load_text("")

    def action_newline(self) -> None:
        """Begins a new line."""
        self.insert("\n")

    def action_complete(self) -> None:
        """Takes the offer that is chosen; without one goes to the next part of the screen."""
        if self._offers.display:
            self._take()
        else:
            self.screen.focus_next()

    def _completes(self) -> bool:
        """Whether the chosen offer adds anything to what is typed."""
        at = self._offers.highlighted
        return at is not None and not self.text.endswith(self._offers.found[at].word.rstrip())

    def _take(self) -> None:
        at = self._offers.highlighted
        if at is None:
            return
        row, column = self.cursor_location
        word = self._offers.found[at].word
        word = word if word.endswith(" ") else f"{word} "
        self.replace(word, (row, column - self._replaces), (row, column))
        self._offers.show([])
