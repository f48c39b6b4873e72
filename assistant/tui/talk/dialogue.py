"""Asks the answerer and writes everything down as it happens. Knows no screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from assistant.answers.models import (
    Answerer,
    AnswerEvent,
    Cancelled,
    Done,
    Failed,
    Question,
    Replaced,
    Text,
    ToolFinished,
    ToolStarted,
    Turn,
)
from assistant.answers.sessions import SessionWriter
from assistant.case.models import Evidence
from assistant.case.text import plural
from assistant.errors import RootrankError, SessionBusy
from assistant.tools.calls import Calls
from assistant.tools.models import ResultStatus

Write = Callable[[SessionWriter], object]
OWED = 200_000
"""Lines that wait for a session to be begun, at most."""
BOOKMARK = "bookmark"
"""Name of the result that holds a line which a person marked; no tool that could be asked."""


class Dialogue:
    """One conversation: its answerer, its session, and what was said so far."""

    def __init__(
        self, answerer: Answerer, begin: Callable[[], SessionWriter | None], history: tuple[Turn, ...] = ()
    ) -> None:
        self.answerer = answerer
        self.history = history
        self.unsaved = ""
        """Why nothing is written down any more; empty while it is."""
        self.notice = ""
        """What has become of the session, to be told once."""
        self._begin = begin
        self._writer: SessionWriter | None = None
        self._keeps = True
        """False where nothing is to be kept."""
        self._owed: list[Write] = []
        """What was said while no session could be begun."""

    @property
    def session(self) -> str:
        """Id of the session; empty before the first question."""
        return self._writer.header.session if self._writer else ""

    async def ask(self, question: Question) -> AsyncIterator[AnswerEvent]:
        """The events of one turn, each written down before it is shown. Stopping it writes that down, too."""
        self._start()
        self._keep(lambda writer: writer.ask(question))
        pieces: dict[int, str] = {}
        ended = False
        try:
            async for event in self.answerer.answer(question, self.history):
                self._note(event, pieces)
                ended = isinstance(event, Done)
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            if not ended:
                self._note(Cancelled(), pieces)
            raise
        except Exception as error:
            failed = Failed(message=f"the answerer broke: {type(error).__name__}", hint="ask again; please report it")
            self._note(failed, pieces)
            yield failed
        finally:
            said = "".join(text for _, text in sorted(pieces.items()))
            self.history = (*self.history, Turn(question=question, answer=said))

    def record(self, question: Question, events: list[AnswerEvent]) -> None:
        """Writes a turn down that no answerer made."""
        self._start()
        self._keep(lambda writer: writer.ask(question))
        pieces: dict[int, str] = {}
        for event in events:
            self._note(event, pieces)
        self.history = (*self.history, Turn(question=question, answer="".join(pieces.values())))

    def attached(self, revision: int, files: tuple[str, ...]) -> None:
        """Notes that the case got a new revision."""
        self._start()
        self._keep(lambda writer: writer.attach(revision, files))

    def mark(self, calls: Calls, item: Evidence) -> list[AnswerEvent]:
        """A line that a person marked becomes evidence that answers may rest on."""
        text = f"[{item.id}] {item.source}:{item.line} | {item.text}"
        name = calls.add(BOOKMARK, {"line": item.id}, text, (item,)).id
        events: list[AnswerEvent] = [
            ToolStarted(call=name, tool=BOOKMARK, arguments={"line": item.id}),
            ToolFinished(call=name, tool=BOOKMARK, status=ResultStatus.FOUND, text=text, evidence=(item,)),
        ]
        self._start()
        for event in events:
            self._note(event, {})
        return events

    def close(self) -> None:
        """Closes the session; what could not be kept so far is tried once more."""
        if self._owed:
            self._start()
        if self._writer is not None:
            self._writer.__exit__(None, None, None)
            self._writer = None

    def said(self) -> str:
        """How far it is, in words."""
        return plural(len(self.history), "question")

    def _note(self, event: AnswerEvent, pieces: dict[int, str]) -> None:
        if isinstance(event, Text | Replaced):
            pieces[event.number] = event.text
        self._keep(lambda writer: writer.add(event))

    def _start(self) -> None:
        """Begins the session with the first thing that is worth keeping; where that fails, with the next question."""
        if self._writer is not None or not self._keeps:
            return
        try:
            writer = self._begin()
            self._writer = self._entered(writer) if writer is not None else None
            self._keeps = writer is not None
        except RootrankError as error:
            self.unsaved = error.message
        else:
            self._pay()

    def _entered(self, writer: SessionWriter) -> SessionWriter:
        """The session, or where another process goes on with it a new one that begins with the same."""
        try:
            return writer.__enter__()
        except SessionBusy:
            aside = writer.beside().__enter__()
            old, new = writer.header.session, aside.header.session
            self.notice = f"session {old} is open in another process; this conversation goes on as {new}"
            return aside

    def _keep(self, write: Write) -> None:
        if self._keeps and len(self._owed) < OWED:
            self._owed.append(write)
            self._pay()

    def _pay(self) -> None:
        """Writes what is owed; a full disk is told and ends nothing, since the writer keeps what it could not write."""
        if not self._keeps:
            self._owed.clear()
        if self._writer is None:
            return
        for write in self._owed:
            try:
                write(self._writer)
                self.unsaved = ""
            except RootrankError as error:
                self.unsaved = error.message
        self._owed.clear()
        if self._writer.renewed:
            self._writer.renewed = False
            self.notice = "the session's file was removed while it was open; it is written anew"
