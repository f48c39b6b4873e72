"""Plays one turn: each event is written down first, and then shown."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.answers.models import Answerer, AnswerEvent, Cancelled, Failed, Fallback, Question, Replaced, Text
from assistant.answers.models import Turn as Earlier
from assistant.answers.revising import announced
from assistant.cli import narration
from assistant.cli.answers import printer_for
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

    @property
    def history(self) -> tuple[Earlier, ...]:
        """What was asked and answered before."""
        return self.earlier.turns if self.earlier is not None else ()


def play(turn: Turn) -> bool:
    """Runs the turn to its end; whether it failed. KeyboardInterrupt passes through when all is written."""
    with turn.writer if turn.writer is not None else contextlib.nullcontext():
        if turn.writer is not None:
            if turn.opened.before is not None:
                turn.writer.attach(turn.opened.case.revision, turn.opened.added)
            turn.writer.ask(turn.question)
        return asyncio.run(_played(turn))


async def _played(turn: Turn) -> bool:
    printer = printer_for(turn.form, turn.opened.calls.desk)
    failed = False
    english_only(turn.answerer.name, turn.question)

    def take(event: AnswerEvent) -> None:
        if turn.writer is not None:
            turn.writer.add(event)
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
