"""The list of conversations: take one up again, search their words, delete one."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList
from textual.widgets.option_list import Option

from assistant.answers.sessions import Session, SessionStore
from assistant.case.text import plural
from assistant.errors import RootrankError
from assistant.tui.safe import Literal, literal, plain

EVERY = 0.3
"""Seconds after which those that are read by then are listed, the newest first."""
MOST = 500
"""Sessions that are listed; older ones are found by searching."""


class SessionsScreen(Screen["Session | None"]):
    """Dismissed with the session that is to go on, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", id="sessions.search"),
        Binding("enter", "resume", "Go on with it", id="sessions.resume", priority=True),
        Binding("delete,d", "delete", "Delete (twice)", id="sessions.delete"),
        Binding("escape,q", "back", "Back", id="sessions.back"),
    ]

    def __init__(self, store: SessionStore, current: str) -> None:
        super().__init__()
        self._store, self._current = store, current
        self._found: list[Session] = []
        self._doomed = ""

    def compose(self) -> ComposeResult:
        yield Literal("reading", id="sessions-head")
        yield OptionList(id="sessions", markup=False, compact=True)
        yield Input(id="sessions-search", placeholder="words of a question or an answer", compact=True)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Lists them."""
        self.query_one("#sessions-search").display = False
        self.query_one("#sessions").focus()
        self._read("")

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _read(self, words: str) -> None:
        found: list[Session] = []
        shown = time.monotonic()
        try:
            for one in self._store.sessions():
                found += [one] if _holds(one, words) else []
                if time.monotonic() - shown > EVERY:
                    self.app.call_from_thread(self._show, list(found), words, more=True)
                    shown = time.monotonic()
        except RootrankError as error:
            self.app.call_from_thread(self._head, f"{error.message}; {error.hint}")
            return
        self.app.call_from_thread(self._show, found, words)

    def _head(self, text: str) -> None:
        self.query_one("#sessions-head", Literal).show(text)

    def _show(self, found: list[Session], words: str, *, more: bool = False) -> None:
        at = self.query_one("#sessions", OptionList).highlighted if len(found) > len(self._found) else None
        self._found = found[:MOST]
        told = plural(len(found), "session") + (f" with {plain(words, 60)}" if words else "")
        told += ", reading on" if more else ", the newest first; times in UTC, ▶ is this one"
        self._head(told + (f", the newest {MOST} are listed" if len(found) > MOST else ""))
        rows = self.query_one("#sessions", OptionList)
        rows.clear_options()
        rows.add_options([Option(self._row(one)) for one in self._found])
        rows.highlighted = min(at or 0, len(self._found) - 1) if self._found else None

    def _row(self, one: Session) -> Content:
        head, turns = one.header, one.turns
        first = turns[0].question.text if turns else "(no question)"
        here = "▶ " if head.session == self._current else "  "
        when = plain(head.created[:16].replace("T", " "), 16)
        return Content.assemble(
            (here, "$text-accent"), (f"{when}  ", "$foreground-muted"), (f"{plain(head.case, 14)}  ", "bold"),
            (f"{plural(len(turns), 'question'):>13}  {plain(head.answerer, 12):<12}  ", "$foreground-muted"),
            literal(first[:300]),
        )  # fmt: skip

    def action_search(self) -> None:
        """Asks for words."""
        field = self.query_one("#sessions-search", Input)
        field.display = True
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Lists those that hold the words."""
        event.stop()
        self._leave_search()
        self._read(event.value.strip())

    def _leave_search(self) -> None:
        self.query_one("#sessions-search").display = False
        self.query_one("#sessions").focus()

    @property
    def _chosen(self) -> Session | None:
        at = self.query_one("#sessions", OptionList).highlighted
        return self._found[at] if at is not None and at < len(self._found) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Goes on with it."""
        self.action_resume()

    def action_resume(self) -> None:
        """Goes on with the chosen session; in the field, searches."""
        field = self.query_one("#sessions-search", Input)
        if field.has_focus:
            self.call_later(field.action_submit)
        elif (one := self._chosen) is not None:
            self.dismiss(None if one.header.session == self._current else one)

    def action_delete(self) -> None:
        """Deletes the chosen session when asked twice; never the present one."""
        one = self._chosen
        if one is None:
            return
        name = one.header.session
        if name == self._current:
            self.notify("this is the present session", severity="warning", markup=False)
        elif self._doomed != name:
            self._doomed = name
            self.notify(f"once more deletes {name}", severity="warning", markup=False)
        else:
            self._delete(name)

    def _delete(self, name: str) -> None:
        try:
            self._store.remove(name)
        except RootrankError as error:
            self.notify(plain(f"{error.message}; {error.hint}"), severity="error", markup=False)
        self._read("")

    def action_back(self) -> None:
        """Ends the search, else the list."""
        if self.query_one("#sessions-search").display:
            self._leave_search()
        else:
            self.dismiss(None)


def _holds(session: Session, words: str) -> bool:
    """Whether all words stand in the questions and answers together."""
    if not words:
        return True
    text = "\n".join(f"{turn.question.text}\n{turn.answer}" for turn in session.turns).lower()
    return all(word in text for word in words.lower().split())
