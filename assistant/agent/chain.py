"""Several answerers behind one: where one fails, the next goes on in the same stream, and what was said stays."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Protocol, runtime_checkable

from assistant.answers.models import (
    Answerer,
    AnswerEvent,
    Done,
    Failed,
    Fallback,
    Question,
    Replaced,
    Suggested,
    Text,
    Turn,
    Usage,
)


@runtime_checkable
class Cancellable(Protocol):
    """An answerer whose turn can be ended from outside."""

    def cancel(self) -> None:
        """Ends the current turn."""


class FallbackAnswerer:
    """Asks the first; where it fails, says so and asks the next."""

    def __init__(self, answerers: Sequence[Answerer]) -> None:
        self._answerers = tuple(answerers)
        self._current: Answerer = self._answerers[0]

    @property
    def name(self) -> str:
        """Name of the first."""
        return self._answerers[0].name

    def cancel(self) -> None:
        """Ends the current turn, where the one that answers can be ended."""
        if isinstance(self._current, Cancellable):
            self._current.cancel()

    async def answer(self, question: Question, history: tuple[Turn, ...] = ()) -> AsyncIterator[AnswerEvent]:
        """The events of one turn, whoever answers."""
        sums = _Sums()
        for place, answerer in enumerate(self._answerers):
            self._current = answerer
            after = self._answerers[place + 1 :]
            failed: Failed | None = None
            async with contextlib.aclosing(closable(answerer.answer(question, history))) as events:
                async for event in events:
                    if isinstance(event, Failed) and after:
                        failed = event
                    elif failed is None or not isinstance(event, Done | Suggested):
                        yield sums.continued(event)
            if failed is None:
                return
            sums.next()
            yield Fallback(source=answerer.name, target=after[0].name, reason=failed.message, hint=failed.hint)


class _Sums:
    """Numbers and sums that run on from one answerer to the next."""

    def __init__(self) -> None:
        self._offset = self._last = 0
        self._before = self._now = Usage(model="")

    def next(self) -> None:
        """Another answerer begins."""
        self._offset, self._before = self._last, self._now

    def continued(self, event: AnswerEvent) -> AnswerEvent:
        """The event, counted on."""
        if isinstance(event, Text | Replaced):
            self._last = max(self._last, event.number + self._offset)
            return event.model_copy(update={"number": event.number + self._offset})
        if isinstance(event, Usage):
            self._now = _added(self._before, event)
            return self._now
        return event


def _added(before: Usage, now: Usage) -> Usage:
    costs = [cost for cost in (before.cost, now.cost) if cost is not None]
    return now.model_copy(
        update={
            "input_tokens": before.input_tokens + now.input_tokens,
            "output_tokens": before.output_tokens + now.output_tokens,
            "calls": before.calls + now.calls,
            "cost": sum(costs) if costs else None,
        }
    )


async def closable(events: AsyncIterator[AnswerEvent]) -> AsyncGenerator[AnswerEvent, None]:
    """Any iterator as one that can be closed, and closes what it reads from."""
    try:
        async for event in events:
            yield event
    finally:
        if (close := getattr(events, "aclose", None)) is not None:
            await close()
