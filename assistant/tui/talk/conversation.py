"""The conversation: asks, shows what comes, stops. It decides nothing about answers."""

from __future__ import annotations

import asyncio
import contextlib

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.worker import Worker

from assistant.answers.models import AnswerEvent, Cancelled, Done, Question, Usage
from assistant.answers.revising import announced
from assistant.answers.sessions import Session
from assistant.case.models import Evidence
from assistant.errors import RootrankError
from assistant.tools.calls import Calls
from assistant.tui.pauses import spare_what_is_loaded
from assistant.tui.ports import Table, Workshop
from assistant.tui.talk.dialogue import Dialogue
from assistant.tui.talk.scribe import Scribe
from assistant.tui.talk.transcript import Transcript

UNSAVED = "The conversation goes on; it is written down as soon as that can be done."
SAVED = "Saved again, with what was said meanwhile."
WELCOME = "Ask about this job. Every sentence is checked against the logs; what they do not show is marked ⚠."


class Conversation(Vertical):
    """The transcript and what stands behind it."""

    class Changed(Message):
        """Something that the status line shows has changed."""

    def __init__(self, workshop: Workshop, table: Table) -> None:
        super().__init__(id="talk")
        self.newcomer = False
        self.language: str | None = None
        self.dialogue: Dialogue | None = None
        self._workshop, self._table = workshop, table
        self._ready = asyncio.Event()
        self._answering: Worker[None] | None = None
        self._unsaved = False
        """It was said that nothing is kept."""
        self.transcript = Transcript("transcript")
        self.scribe = Scribe(self.transcript)

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_mount(self) -> None:
        """Reads back the session that goes on, and gets the answerer ready."""
        earlier = self._workshop.earlier()
        if earlier is not None:
            self.scribe.replay(earlier)
        else:
            self.scribe.remark(WELCOME)
        self._prepare(earlier)

    @work(thread=True, group="answerer", exit_on_error=False)
    def _prepare(self, earlier: Session | None) -> None:
        """A model's library takes seconds to load; the screen does not wait."""
        table, said = self._table, None
        try:
            answerer = self._workshop.answerer(table, {})
        except RootrankError as error:
            answerer, said = table.offline, error
        history = earlier.turns if earlier is not None else ()
        dialogue = Dialogue(answerer, lambda: self._workshop.begin(table, answerer), history)
        with contextlib.suppress(RuntimeError):
            self.app.call_from_thread(self._prepared, dialogue, said)

    def _prepared(self, dialogue: Dialogue, error: RootrankError | None) -> None:
        self.dialogue = dialogue
        if error is not None:
            self.scribe.remark(f"{error.message}; {error.hint}. The offline answerer takes over.", "$text-warning")
        spare_what_is_loaded()
        self._ready.set()
        self.post_message(self.Changed())

    @property
    def usage(self) -> Usage | None:
        """What the last turn has used."""
        return self.scribe.usage

    @property
    def busy(self) -> bool:
        """Whether an answer is being written."""
        return self._answering is not None and self._answering.is_running

    def ask(self, text: str) -> bool:
        """Asks a question; refused while an answer is being written."""
        if self.busy:
            return False
        question = Question(text=text, newcomer=self.newcomer, language=self.language)
        self.scribe.ask(question)
        self.transcript.following = True
        self._answering = self._answer(question)
        self.post_message(self.Changed())
        return True

    @work(group="answer", exit_on_error=False)
    async def _answer(self, question: Question) -> None:
        await self._ready.wait()
        assert self.dialogue is not None
        events = self.dialogue.ask(question)
        try:
            async for event in events:
                self._take(event)
        except asyncio.CancelledError:
            self.scribe.take(Cancelled())
        finally:
            await events.aclose()  # type: ignore[attr-defined]
            self.call_later(self.post_message, self.Changed())

    def _take(self, event: AnswerEvent) -> None:
        self._tell_kept()
        self.scribe.take(event)
        if isinstance(event, Usage):
            self.post_message(self.Changed())

    def _tell_kept(self) -> None:
        """Says once that what is said is not kept, or is again; the status line shows it for as long as it is so."""
        dialogue = self.dialogue
        if dialogue is None:
            return
        if dialogue.notice:
            self.scribe.remark(dialogue.notice, "$text-warning")
            dialogue.notice = ""
        if bool(dialogue.unsaved) != self._unsaved:
            self._unsaved = bool(dialogue.unsaved)
            said = f"Not saved: {dialogue.unsaved}. {UNSAVED}" if self._unsaved else SAVED
            self.scribe.remark(said, "$text-warning")
            self.post_message(self.Changed())

    def mark(self, calls: Calls, item: Evidence) -> None:
        """A line that a person marked becomes a row of the conversation, and evidence that answers may rest on."""
        if self.dialogue is None:
            self.scribe.remark("marked too early: the answerer is still getting ready", "$text-warning")
            return
        for event in self.dialogue.mark(calls, item):
            self.scribe.take(event)
        self._tell_kept()

    def change(self, table: Table) -> None:
        """The case got a new revision: what was cited stays citable, and what has changed is told."""
        old, self._table = self._table, table
        table.calls.results.update(old.calls.results)
        for result in old.calls.results.values():
            table.calls.desk.shown.add(result.evidence)
        if self.dialogue is not None and table.before is not None:
            question = Question(text=f"What do these change: {', '.join(table.added)}?")
            events: list[AnswerEvent] = [*announced(table.calls, table.before, table.added), Done(answerer="offline")]
            self.dialogue.attached(table.case.revision, table.added)
            self.dialogue.record(question, events)
            self.scribe.ask(question)
            for event in events:
                self.scribe.take(event)
        self._renew(table)

    @work(thread=True, group="answerer", exclusive=True, exit_on_error=False)
    def _renew(self, table: Table) -> None:
        """An answerer for the new revision."""
        try:
            answerer = self._workshop.answerer(table, {})
        except RootrankError:
            answerer = table.offline
        if self.dialogue is not None:
            self.dialogue.answerer = answerer

    def stop(self) -> bool:
        """Stops the answer; whether there was one."""
        if not self.busy or self._answering is None:
            return False
        self._answering.cancel()
        return True

    def last_answer(self) -> str:
        """The last answer as plain text."""
        return self.dialogue.history[-1].answer if self.dialogue and self.dialogue.history else ""

    def on_unmount(self) -> None:
        """Closes the session."""
        if self.dialogue is not None:
            self.dialogue.close()
