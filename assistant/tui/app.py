"""The application: which screen is shown when, themes, keys, and its end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import ClassVar, cast

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from assistant.errors import RootrankError
from assistant.tui import mouse
from assistant.tui.copy_screen import CopyScreen
from assistant.tui.help_screen import HelpScreen
from assistant.tui.ports import Workshop
from assistant.tui.reading_screen import ReadingScreen
from assistant.tui.terminal import Colourless, Spelled, terminal
from assistant.tui.wording import parts_of
from assistant.tui.workplace import Workplace

TOLD = 15
"""Seconds that a word about the terminal stays in sight."""
COLOURLESS = Colourless()
SYSTEM = "Theme"
"""What the palette takes over from Textual."""
COPIED = 200_000
"""Characters that are copied at once; terminals drop what is longer."""


class RootrankApp(App[RootrankError | None]):
    """Shows how the logs are read, then the workplace. Ends with the error that kept it from opening, if one did."""

    CSS_PATH = "look.tcss"
    TITLE = "Rootrank"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help_here", "Help on this view", show=False, id="app.help-here", priority=True),
        Binding("f6", "mouse", "Mouse", show=False, id="app.mouse", priority=True),
        Binding("f7", "copy_mode", "Copy mode", show=False, id="app.copy-mode", priority=True),
    ]

    def __init__(self, workshop: Workshop) -> None:
        super().__init__()
        self.terminal = terminal(os.environ)
        # Styles for `:nocolor` go by this; terminals without colour are treated as where NO_COLOR is set.
        self.no_color = self.no_color or not self.terminal.colours
        self._spelled = Spelled(self.terminal.charset) if self.terminal.charset != "utf-8" else None
        self.workshop = workshop
        self._leaving = False
        """Another conversation is being opened in place of the present one."""
        self.farewell: list[str] = []
        """What is to be told on the terminal after the end: what could not be kept."""

    def on_mount(self) -> None:
        """Sets theme and keys, and starts to read."""
        look = self.workshop.look
        self.theme = theme_of(look.theme, set(self.available_themes))
        self.set_keymap(dict(look.keys))
        if self.terminal.why:
            said = f"{self.terminal.why}: signs are drawn in ASCII; with LANG=C.UTF-8 all are shown"
            self.notify(said, markup=False, timeout=TOLD)
        self.push_screen(ReadingScreen(self.workshop.open))

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is taken from each line for this terminal, the last before it is drawn."""
        filters = [*super().get_line_filters()]
        filters += [self._spelled] if self._spelled else []
        return [*filters, COLOURLESS] if self.no_color else filters

    def get_key_display(self, binding: Binding) -> str:
        """Names of keys in the footer; a terminal of few signs has none for enter."""
        shown = super().get_key_display(binding)
        return shown.replace("⏎", "enter") if self._spelled else shown

    def on_reading_screen_ready(self, message: ReadingScreen.Ready) -> None:
        """The case is there: a workplace takes over, or shows its next revision."""
        place = self._place
        if place is not None:
            self.pop_screen()
        if place is None or self._leaving:
            self._note_unkept()
            self._leaving = False
            self.switch_screen(Workplace(self.workshop, message.table))
        else:
            place.change(message.table)

    def on_reading_screen_stopping(self) -> None:
        """Where there is nothing to go back to, nobody waits for the reader to notice."""
        if self._place is None:
            self.exit()

    def on_reading_screen_refused(self, message: ReadingScreen.Refused) -> None:
        """There is nothing to show, or nothing new: what was there stays."""
        place, error = self._place, message.error
        if place is None:
            self.exit(error, return_code=0 if error is None else 1)
            return
        self._leaving = False
        self.pop_screen()
        place.tell("stopped" if error is None else f"{error.message}; {error.hint}", warning=error is not None)

    def on_workplace_left(self, message: Workplace.Left) -> None:
        """Leaves the workplace for another conversation, once that is open."""
        self._leaving = True
        self.workshop.turn_to(message.table, message.session)
        self.push_screen(ReadingScreen(self.workshop.open, "Opening"))

    def leave(self) -> None:
        """Ends: the terminal is gone, or the process was asked to end."""
        self.exit()

    def on_exit_app(self) -> None:
        """Keeps what was being typed, whoever asked for the end: a key, a signal, a closed tab of a browser."""
        if self._place is not None:
            self._place.keep_draft()
        self._note_unkept()

    def _note_unkept(self) -> None:
        if self._place is not None:
            self.farewell += [text for text in self._place.unkept() if text not in self.farewell]

    def copy_to_clipboard(self, text: str) -> None:
        """Copies through the terminal (OSC 52), whatever the text holds."""
        super().copy_to_clipboard(text[:COPIED].encode("utf-8", "replace").decode())

    def action_help_here(self) -> None:
        """Shows the keys of the view that is open, or closes that again."""
        if isinstance(self.screen, HelpScreen):
            self.pop_screen()
        else:
            self.push_screen(HelpScreen(cast("Screen[None]", self.screen)))

    def action_mouse(self) -> None:
        """Gives the mouse to the terminal, or takes it again."""
        mouse.take(self, not mouse.taken(self))
        said = "the mouse acts here again" if mouse.taken(self) else "the terminal has the mouse: it marks text"
        self.notify(f"{said}; f6 changes it", markup=False)

    def action_copy_mode(self) -> None:
        """Shows the part that has the focus as plain text that can be marked."""
        if not isinstance(self.screen, CopyScreen):
            self.push_screen(CopyScreen(*parts_of(self.screen)))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """In the palette of every screen; the workplace offers them among its own commands."""
        if not isinstance(screen, Workplace):
            yield from (one for one in super().get_system_commands(screen) if one.title == SYSTEM)
            yield SystemCommand("Mouse", "Give the mouse to the terminal, or take it again", self.action_mouse)
            yield SystemCommand("Plain", "Plain text that can be marked: copy mode", self.action_copy_mode)

    @property
    def _place(self) -> Workplace | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, Workplace)), None)


def theme_of(wanted: str, known: set[str]) -> str:
    """The theme that is asked for, if there is one of that name; the terminal's own colours where it has only those."""
    if wanted in known:
        return wanted
    dull = os.environ.get("TERM", "") in ("dumb", "linux", "vt100", "vt220")
    return "ansi-dark" if dull and "ansi-dark" in known else "textual-dark"
