"""The workplace: the verdict and everything it rests on beside the conversation, and the prompt below both."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer

from assistant.answers.sessions import Session
from assistant.errors import RootrankError, UsageError
from assistant.incidents.confirm import Ruling
from assistant.tui.commands import split
from assistant.tui.deeds import do
from assistant.tui.logs.desk import LogDesk
from assistant.tui.messages import Asked, PlaceWanted, RowWanted
from assistant.tui.palette import Commands
from assistant.tui.ports import Table, Workshop
from assistant.tui.reading_screen import ReadingScreen
from assistant.tui.safe import Literal, plain
from assistant.tui.sessions_screen import SessionsScreen
from assistant.tui.shelf import KEY, Shelf
from assistant.tui.statusbar import StatusBar
from assistant.tui.talk.completion import names_of
from assistant.tui.talk.conversation import Conversation
from assistant.tui.talk.editor import edited
from assistant.tui.talk.history import History
from assistant.tui.talk.prompt import Offers, Prompt
from assistant.tui.views.casepane import CasePane

TWICE = 2.0
"""Seconds within which a second ctrl+c ends the program."""
TYPED = 3
"""Questions that are told at the end where they could not be kept."""
SMALLEST = (40, 10)
"""Columns and rows below which only a message is shown."""


class Workplace(Screen[None]):
    """One case on the screen."""

    COMMANDS = Screen.COMMANDS | {Commands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help", id="app.help", priority=True),
        Binding("f2", "other", "Case/chat", id="app.other", priority=True),
        Binding("f3", "deed('nodes')", "Nodes", id="app.nodes"),
        Binding("f4", "deed('timeline')", "Time", id="app.timeline"),
        Binding("f5", "deed('actions')", "Actions", id="app.actions"),
        Binding("ctrl+p", "app.command_palette", "Commands", id="app.palette", priority=True),
        Binding("escape", "escape", "Stop", show=False, id="app.stop"),
        Binding("ctrl+g", "edit", "Editor", show=False, id="app.editor"),
        Binding("ctrl+l", "redraw", "Draw anew", show=False, id="app.redraw"),
        Binding("ctrl+z", "app.suspend_process", "Suspend", show=False, id="app.suspend", priority=True),
        Binding("ctrl+c", "interrupt", "Stop, end", show=False, id="app.interrupt", priority=True),
        Binding("ctrl+q", "app.quit", "Quit", id="app.quit", priority=True),
    ]

    class Left(Message):
        """Another conversation is wanted; None is a new one."""

        def __init__(self, table: Table, session: Session | None) -> None:
            super().__init__()
            self.table, self.session = table, session

    def __init__(self, workshop: Workshop, table: Table) -> None:
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-tall")]
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]
        self.workshop, self.table = workshop, table
        self.talk = Conversation(workshop, table)
        self.pane = CasePane(table)
        self.logs = LogDesk(self)
        self.shelf = Shelf(self)
        self._interrupted = -TWICE
        self._left: Widget | None = None
        """What had the focus when the window became too small."""
        self.steps_done: set[int] = set()
        """Steps of the action that a person ticked off."""
        self._offers = Offers()
        self.prompt = Prompt(self._offers, History(workshop.folder))

    def compose(self) -> ComposeResult:
        yield Literal(id="headline")
        with Horizontal(id="body"):
            yield self.pane
            yield self.talk
        yield Literal(id="hidden")
        yield self._offers
        yield self.prompt
        yield StatusBar()
        yield Footer(show_command_palette=False, compact=True)
        yield Literal("", id="too-small")

    def on_mount(self) -> None:
        """Fills the screen."""
        self.show_table(self.table)
        self.prompt.focus()
        if self.workshop.earlier() is not None:
            self.add_class("-talking")
        self.on_conversation_changed()

    def show_table(self, table: Table) -> None:
        """Shows a case, the present one or its next revision."""
        self.table = table
        case = table.case
        revision = f" revision {case.revision}" if case.revision > 1 else ""
        read = f"{case.timing.bytes:,} bytes read in {case.timing.seconds:.1f} s"
        unread = f" · {len(case.not_read)} not read" if case.not_read else ""
        if table.unkept:
            unread += " · CASE NOT KEPT"
            self.tell(f"the case is not kept: {table.unkept}", warning=True)
        self.query_one("#headline", Literal).show(f"Rootrank · {plain(case.case)}{revision} · {read}{unread}")
        self.show_marked()
        self.call_after_refresh(self.tell_hidden)

    def show_marked(self) -> None:
        """Lists and completions with what a person marked."""
        self.pane.set_table(self.table, self.logs.marked)
        self.prompt.names = names_of(self.table.case, self.table.examination, self.logs.marked)

    def on_resize(self) -> None:
        """What does not fit is told anew."""
        width, height = self.app.size
        small = width < SMALLEST[0] or height < SMALLEST[1]
        if small and not self.has_class("-small"):
            # The prompt stays, so that what is typed meanwhile is not lost.
            self._left = self.focused
            self.prompt.focus()
        elif not small and self._left is not None:
            self.call_after_refresh(self._left.focus)
            self._left = None
        self.set_class(small, "-small")
        lead = "too small: " if height > 3 else ""
        self.query_one("#too-small", Literal).show(f"{lead}needs {SMALLEST[0]}x{SMALLEST[1]}")
        self.call_after_refresh(self.tell_hidden)

    def tell_hidden(self) -> None:
        """One line that says what the window is too small for."""
        parts = self.pane.hidden()
        if self.has_class("-narrow"):
            talking = self.has_class("-talking")
            parts = ["the case (F2)"] if talking else ["the conversation (F2)", *parts]
        text = f"hidden: {', '.join(parts)}" if parts else ""
        self.query_one("#hidden", Literal).show(Content(text))
        self.query_one("#hidden").display = bool(text) and not self.has_class("-small")

    def tell(self, text: str, *, warning: bool = False) -> None:
        """A short word of the program."""
        self.notify(plain(text, 400), severity="warning" if warning else "information", markup=False)

    def on_asked(self, message: Asked) -> None:
        """A question or a command; it stays in the prompt where it cannot be taken now."""
        message.stop()
        if (command := split(message.text)) is not None:
            if do(self, *command):
                self.prompt.sent()
            return
        if not self.talk.ask(message.text):
            self.tell("an answer is being written; escape stops it", warning=True)
            return
        self._sent(message.text)

    def _sent(self, text: str) -> None:
        if self.prompt.text.strip() == text:
            self.prompt.sent()
        self.add_class("-talking")
        self.tell_hidden()

    def on_key(self, event: events.Key) -> None:
        """What is typed beside the prompt, and means nothing there, is typed into the prompt."""
        if event.is_printable and event.character and event.key not in self.active_bindings:
            event.stop()
            self.prompt.focus()
            self.prompt.insert(event.character)

    def on_prompt_refused(self) -> None:
        """Longer than what an answerer takes."""
        self.tell("the question is too long; attach long text as a file", warning=True)

    def on_place_wanted(self, message: PlaceWanted) -> None:
        """Something cited was picked."""
        message.stop()
        self.open_place(message.name)

    def on_row_wanted(self, message: RowWanted) -> None:
        """A tool row was picked."""
        message.stop()
        self.talk.transcript.fold(message.name)

    def open_place(self, name: str) -> None:
        """Opens what is cited: a tool's row, a page of knowledge, or a log line."""
        if KEY.fullmatch(name):
            self.shelf.open(name)
            return
        if name in self.table.calls.results and self.talk.transcript.show_row(name):
            self.add_class("-talking")
            self.tell_hidden()
            return
        self.logs.open(name)

    def recall_hypotheses(self) -> None:
        """Shows the explanations of this session at the end of the conversation."""
        if self.talk.scribe.recall():
            self.talk.transcript.following = True
            self.add_class("-talking")
            self.tell_hidden()
        else:
            self.tell("no explanation was considered yet; ask: could it be ...?")

    def attach(self, file: str) -> None:
        """Judges the case again, with a file more."""
        if self.talk.busy:
            self.tell("an answer is being written; escape stops it", warning=True)
            return
        table = self.table
        self.app.push_screen(ReadingScreen(lambda hook: self.workshop.attach(table, [file], hook), f"Adding {file}"))

    def change(self, table: Table) -> None:
        """Shows the next revision."""
        self.steps_done.clear()
        self.show_table(table)
        self.talk.change(table)
        self.add_class("-talking")

    @work(thread=True, group="ruling", exit_on_error=False)
    def rule(self, ruling: Ruling) -> None:
        """Keeps what a person says of the verdict."""
        try:
            said, failed = f"kept as {self.workshop.confirm(self.table.case, ruling)}", False
        except RootrankError as error:
            said, failed = f"{error.message}; {error.hint}", True
        self.app.call_from_thread(self.tell, said, warning=failed)

    def on_conversation_changed(self) -> None:
        """Draws the status line anew."""
        self.query_one(StatusBar).show_state(self.talk)

    def action_escape(self) -> None:
        """Stops the answer; else goes back to the prompt."""
        if not self.talk.stop():
            self.prompt.focus()

    def action_other(self) -> None:
        """In a narrow window: the other of case and conversation; in a wide one the focus goes there."""
        talking = not self.has_class("-talking")
        self.set_class(talking, "-talking")
        self.tell_hidden()
        if self.has_class("-wide"):
            (self.talk.transcript if talking else self.pane.first).focus()
        elif not talking:
            self.pane.first.focus()

    def show_sessions(self) -> None:
        """Lists the conversations; a chosen one takes the place of this one."""
        current = self.talk.dialogue.session if self.talk.dialogue else ""
        self.app.push_screen(SessionsScreen(self.workshop.sessions, current), self._chosen)

    def _chosen(self, session: Session | None) -> None:
        if session is not None:
            self.turn_to(session)

    def turn_to(self, session: Session | None) -> None:
        """Another conversation, or a new one."""
        self.talk.stop()
        self.keep_draft()
        self.post_message(self.Left(self.table, session))

    def keep_draft(self) -> None:
        """Puts what is being typed into the history."""
        self.prompt.past.add(self.prompt.text.strip())

    def unkept(self) -> Iterator[str]:
        """What would be lost with the program: a conversation that could not be saved, and what was typed."""
        if self.talk.dialogue is not None and self.talk.dialogue.unsaved:
            yield f"the conversation was not saved: {self.talk.dialogue.unsaved}"
        for text in self.prompt.past.unkept[-TYPED:]:
            yield f"typed and not kept: {text}"

    def action_interrupt(self) -> None:
        """Ctrl-C: copies a selection, stops the answer, and twice ends the program."""
        if chosen := self.prompt.selected_text or self.get_selected_text():
            self.app.copy_to_clipboard(chosen)
            return
        if self.talk.stop():
            return
        now = time.monotonic()
        if now - self._interrupted < TWICE:
            self.app.exit()
        self._interrupted = now
        self.tell("ctrl+c again ends; the session is kept")

    def action_deed(self, name: str) -> None:
        """Does a slash command that wants nothing more."""
        do(self, name, "")

    def action_help(self) -> None:
        """Shows keys and commands."""
        do(self, "help", "")

    def action_redraw(self) -> None:
        """Draws everything anew, after something else wrote on the terminal."""
        self.refresh(layout=True)

    def action_edit(self) -> None:
        """Writes the question in an editor."""
        try:
            with self.app.suspend():
                text = edited(self.prompt.text)
        except SuspendNotSupported:
            self.tell("a browser shows no editor; ctrl+j begins a new line here", warning=True)
        except UsageError as error:
            self.tell(f"{error.message}; {error.hint}", warning=True)
        else:
            self.prompt.load_text(text)
            self.prompt.focus()
