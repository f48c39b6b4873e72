"""The answerer that asks one profile's model. Whatever goes wrong becomes an event; what was said stays."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from assistant.agent.budget import Budget
from assistant.agent.conversation import Conversation
from assistant.agent.endpoint import http_client, key_of
from assistant.agent.evidence import loops_for
from assistant.agent.failures import failure_of
from assistant.agent.outlet import Outlet
from assistant.agent.veil import veil_for
from assistant.answers.models import AnswerEvent, Cancelled, Done, Failed, Question, Turn
from assistant.errors import AnswerRepeats, AnswerUnfounded, BudgetSpent, ConfigError, ModelError
from assistant.profiles import Profile
from assistant.tools.spills import SHOWN_CHARACTERS

if TYPE_CHECKING:
    from assistant.agent.attempt import Attempt


class ModelAnswerer:
    """Answers with a language model, from tools, in checked sentences."""

    def __init__(self, name: str, profile: Profile, talk: Conversation) -> None:
        self.name = name
        self._profile = profile
        self._talk = talk
        self._attempt: Attempt | None = None
        self._worker: asyncio.Task[None] | None = None

    @property
    def protocol(self) -> str:
        """How the model is asked: `native` tool calls, JSON `actions`, or just `reading`; the last turn's, or the first
        that will be tried."""
        return self._attempt.protocol if self._attempt is not None else loops_for(self._profile)[0]

    async def answer(self, question: Question, history: tuple[Turn, ...] = ()) -> AsyncIterator[AnswerEvent]:
        """The events of one turn. Closing the stream ends the request."""
        started = time.monotonic()
        turn = self._talk.calls.begin_turn()
        outlet = Outlet(self._talk.calls, veil_for(self._profile, self._talk.redactor))
        self._worker = asyncio.create_task(self._work(question, history, outlet))
        try:
            while (event := await outlet.queue.get()) is not None:
                yield event
        finally:
            self._talk.calls.end_turn(turn)
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
            self._talk.calls.characters = SHOWN_CHARACTERS
        yield Done(answerer=self.name, seconds=round(time.monotonic() - started, 3))

    def cancel(self) -> None:
        """Ends the current turn: `Cancelled` and `Done` follow, and what was said stays."""
        if self._worker is not None:
            self._worker.cancel()

    async def _work(self, question: Question, history: tuple[Turn, ...], outlet: Outlet) -> None:
        try:
            await self._bounded(question, history, outlet)
        except asyncio.CancelledError:
            outlet.emit(Cancelled())
            raise
        except Exception as error:
            outlet.close(drop=outlet.holding or isinstance(error, AnswerRepeats | AnswerUnfounded), broken=True)
            failure = error if isinstance(error, ConfigError) else failure_of(error, self.name, self._profile)
            outlet.emit(Failed(message=failure.message, hint=failure.hint))
        finally:
            outlet.queue.put_nowait(None)

    async def _bounded(self, question: Question, history: tuple[Turn, ...], outlet: Outlet) -> None:
        """The attempt within the turn's time."""
        budget = Budget(self._talk.chat, self._profile, self._talk.before)
        try:
            async with asyncio.timeout(budget.seconds_left) as bound:
                await self._asked(question, history, outlet, budget)
        except (TimeoutError, ModelError):
            if not bound.expired():
                raise
            hint = "raise chat.max_seconds, or take a faster model"
            raise BudgetSpent("the time for this turn is used up", hint=hint) from None

    async def _asked(
        self, question: Question, history: tuple[Turn, ...], outlet: Outlet, budget: Budget
    ) -> None:  # fmt: skip
        key = key_of(self.name, self._profile)
        budget.check()
        client = http_client(self._profile)
        async with client:
            if self._attempt is None:
                self._attempt = await asyncio.to_thread(_attempt, self.name, self._profile, self._talk)
            await self._attempt.answer(question, history, outlet, budget, key, client)


def _attempt(name: str, profile: Profile, talk: Conversation) -> Attempt:
    """Imports the client libraries, which takes seconds, beside the event loop."""
    try:
        from assistant.agent.attempt import Attempt
    except ImportError as error:
        hint = 'pip install "rootrank[chat]"'
        raise ConfigError(f"a library for models is missing: {error.name}", hint=hint) from None
    return Attempt(name, profile, talk)
