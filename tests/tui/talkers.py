"""Answerers whose events are written down here, for what the offline one never says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from assistant.answers.models import AnswerEvent, Done, Question, Standing, Text, Turn


class Scripted:
    """Says the given events, one after another; `hold` keeps it from ending."""

    name = "scripted"

    def __init__(self, events: Iterable[AnswerEvent], *, hold: bool = False) -> None:
        self.events = list(events)
        self.hold = hold
        self.asked: list[tuple[Question, tuple[Turn, ...]]] = []
        self.stopped = False

    async def answer(self, question: Question, history: tuple[Turn, ...]) -> AsyncIterator[AnswerEvent]:
        self.asked.append((question, history))
        for event in self.events:
            yield event
            await asyncio.sleep(0)
        if self.hold:
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped = True
        yield Done(answerer=self.name)


class Broken:
    """Raises in the middle of an answer, which the port forbids."""

    name = "broken"

    async def answer(self, question: Question, history: tuple[Turn, ...]) -> AsyncIterator[AnswerEvent]:
        yield said(1, "It begins well. ")
        raise ZeroDivisionError


def said(number: int, text: str, standing: Standing = Standing.PLAIN, *cites: str) -> Text:
    return Text(number=number, text=text, standing=standing, citations=cites)
