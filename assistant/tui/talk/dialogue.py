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
from assistant.errors import RootrankError
from assistant.tools.calls import Calls
from assistant.tools.models import ResultStatus

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
        self._begin = begin
        self._writer: SessionWriter | None = None
        self._begun = False

    @property
    def session(self) -> str:
        """Id of the session; empty before the first question."""
        return self._writer.header.session if self._writer else ""

    async def ask(self, question: Question) -> AsyncIterator[AnswerEvent]:
        """The events of one turn, each written down before it is shown. Stopping it writes that down, too."""
        writer = self._started()
        if writer is not None:
            self._kept(lambda: writer.ask(question))
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
        writer = self._started()
        if writer is not None:
            self._kept(lambda: writer.ask(question))
        pieces: dict[int, str] = {}
        for event in events:
            self._note(event, pieces)
        self.history = (*self.history, Turn(question=question, answer="".join(pieces.values())))

    def attached(self, revision: int, files: tuple[str, ...]) -> None:
        """Notes that the case got a new revision."""
        writer = self._started()
        if writer is not None:
            self._kept(lambda: writer.attach(revision, files))

    def mark(self, calls: Calls, item: Evidence) -> list[AnswerEvent]:
        """A line that a person marked becomes evidence that answers may rest on."""
        text = f"[{item.id}] {item.source}:{item.line} | {item.text}"
        name = calls.add(BOOKMARK, {"line": item.id}, text, (item,)).id
        events: list[AnswerEvent] = [
            ToolStarted(call=name, tool=BOOKMARK, arguments={"line": item.id}),
            ToolFinished(call=name, tool=BOOKMARK, status=ResultStatus.FOUND, text=text, evidence=(item,)),
        ]
        self._started()
        for event in events:
            self._note(event, {})
        return events

    def close(self) -> None:
        """Closes the session."""
        if self._writer is not None:
            self._writer.__exit__(None, None, None)
            self._writer = None

    def said(self) -> str:
        """How far it is, in words."""
        return plural(len(self.history), "question")

    def _note(self, event: AnswerEvent, pieces: dict[int, str]) -> None:
        if isinstance(event, Text | Replaced):
            pieces[event.number] = event.text
        if (writer := self._writer) is not None:
            self._kept(lambda: writer.add(event))

    def _started(self) -> SessionWriter | None:
        """The session, begun with the first thing that is worth keeping."""
        if not self._begun:
            self._begun = True
            try:
                writer = self._begin()
                self._writer = writer.__enter__() if writer is not None else None
            except RootrankError as error:
                self.unsaved = error.message
        return self._writer

    def _kept(self, write: Callable[[], object]) -> None:
        """Writes; a full disk is told and ends nothing."""
        try:
            write()
            self.unsaved = ""
        except RootrankError as error:
            self.unsaved = error.message
