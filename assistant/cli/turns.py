"""Plays one turn: each event is written down first, and then shown."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assistant.answers.models import Answerer, AnswerEvent, Cancelled, Failed, Fallback, Question, Replaced, Text
from assistant.answers.models import Turn as Earlier
from assistant.answers.revising import announced
from assistant.cli import narration
from assistant.cli.answers import printer_for
from assistant.errors import SessionBusy, StoreError
from assistant.profiles import OFFLINE

if TYPE_CHECKING:
    from assistant.answers.sessions import Session, SessionWriter
    from assistant.cli.conversing import Opened
    from assistant.cli.output import Form


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and everything around it."""

    opened: Opened
    answerer: Answerer
    question: Question
    form: Form
    earlier: Session | None = None
    writer: SessionWriter | None = None
    """Where it is written down; an earlier session that cannot be gone on with ends the turn, a new one does not."""
    unkept: list[str] = field(default_factory=list)
    """Why something could not be written down, each reason once."""

    @property
    def history(self) -> tuple[Earlier, ...]:
        """What was asked and answered before."""
        return self.earlier.turns if self.earlier is not None else ()


def play(turn: Turn) -> bool:
    """Runs the turn to its end; whether it failed. KeyboardInterrupt passes through when all is written."""
    with contextlib.ExitStack() as open_writer:
        writer = turn.writer
        try:
            writer = open_writer.enter_context(writer) if writer is not None else None
        except SessionBusy:
            raise
        except StoreError as error:
            if turn.earlier is not None:
                raise
            writer = None
            _not_kept(turn, error)
        if writer is not None:
            if turn.opened.before is not None:
                _noted(turn, writer.attach, turn.opened.case.revision, turn.opened.added)
            _noted(turn, writer.ask, turn.question)
        return asyncio.run(_played(turn, writer))


def _noted(turn: Turn, write: Callable[..., object], *what: object) -> None:
    """Writes something down; where that fails the answer goes on, and what waits is written with the next event."""
    try:
        write(*what)
    except StoreError as error:
        _not_kept(turn, error)


def _not_kept(turn: Turn, error: StoreError) -> None:
    if error.message not in turn.unkept:
        turn.unkept.append(error.message)
        narration.say(f"warning: the session is not kept: {error.message}; {error.hint}")


async def _played(turn: Turn, writer: SessionWriter | None) -> bool:
    printer = printer_for(turn.form, turn.opened.calls.desk)
    failed = False
    english_only(turn.answerer.name, turn.question)

    def take(event: AnswerEvent) -> None:
        if writer is not None:
            _noted(turn, writer.add, event)
        printer.show(event)

    try:
        async with contextlib.aclosing(events_of(turn)) as events:
            async for event in events:
                take(event)
                failed = failed or isinstance(event, Failed)
                if isinstance(event, Fallback):
                    english_only(event.target, turn.question)
    except asyncio.CancelledError:
        take(Cancelled())
        raise
    finally:
        printer.end()
    return failed


def english_only(name: str, question: Question) -> None:
    """Says that the offline answerer cannot answer in another language."""
    if name == OFFLINE and question.language and not question.language.lower().startswith("en"):
        narration.say("note: the offline answerer knows English only")


async def events_of(turn: Turn) -> AsyncGenerator[AnswerEvent, None]:
    """What files that were added have changed, and then the answer."""
    shown = 0
    if turn.opened.before is not None:
        for event in announced(turn.opened.calls, turn.opened.before, turn.opened.added):
            shown = event.number if isinstance(event, Text) else shown
            yield event
    answer = turn.answerer.answer(turn.question, turn.history)
    try:
        async for event in answer:
            counted = isinstance(event, Text | Replaced)
            yield event.model_copy(update={"number": event.number + shown}) if counted else event  # type: ignore[union-attr]
    finally:
        if (close := getattr(answer, "aclose", None)) is not None:
            await close()
