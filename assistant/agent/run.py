"""One attempt to answer one question with one profile: what the loops share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant.agent import hypotheses
from assistant.agent.budget import Budget, tokens_in
from assistant.agent.conversation import Conversation
from assistant.agent.outlet import Outlet
from assistant.answers.models import ToolFinished, ToolStarted, Usage
from assistant.case.text import clean
from assistant.errors import AnswerCut, AnswerEmpty
from assistant.profiles import Profile
from assistant.tools.models import ResultStatus, ToolResult

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

SUBMIT = "submit_diagnosis"
MOST_REFUSALS = 3
"""Refused calls in a row after which the model is told to answer."""


@dataclass(slots=True)
class Run:
    """The state of an attempt."""

    name: str
    profile: Profile
    talk: Conversation
    outlet: Outlet
    budget: Budget
    streaming: BaseChatModel
    """The model as prose is asked for."""
    whole: BaseChatModel
    """The model as JSON is asked for: never streamed."""
    characters: int
    """Of one tool result that the model is shown."""
    messages: list[BaseMessage] = field(default_factory=list)
    """The conversation with the model so far, as it was sent."""
    refusals: int = 0
    asked: int = 0
    """Tool calls of this attempt."""
    heard: bool = False
    """Whether the current reply came as a stream."""
    sent: int = 0
    """Tokens of a request whose reply is not there yet, roughly."""
    waiting: asyncio.Task[Any] | None = None
    """What waits for the endpoint or a tool inside the agent."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """A tool's answer as the model gets it: masked, delimited, bounded. Raises nothing that a tool did."""
        real = self.outlet.veil.restored(dict(arguments))
        async with self._lock:  # a desk serves one call at a time
            self.asked += 1
            return self._note(real) if tool == hypotheses.NAME else await self._call(tool, real)

    def _note(self, arguments: dict[str, Any]) -> str:
        told, kept = hypotheses.noted(self.talk, arguments)
        if kept is not None:
            self.outlet.emit(kept)
        self.refusals = 0 if kept is not None else self.refusals + 1
        return self.outlet.veil.out(told)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> str:
        calls = self.talk.calls
        if tool == SUBMIT and (problem := _unfounded(self.talk, arguments)) is not None:
            self.refusals += 1
            return self.outlet.veil.out(problem)
        name = calls.claim_id()
        self.outlet.emit(ToolStarted(call=name, tool=clean(tool)[:60], arguments=arguments))
        result = await asyncio.to_thread(calls.call, tool, arguments, self.outlet.turn, name)
        self.outlet.emit(finished(result))
        self.refusals = self.refusals + 1 if result.status is ResultStatus.REFUSED else 0
        if tool == SUBMIT and result.status is ResultStatus.FOUND:
            self.outlet.emit(hypotheses.verdict_of(calls, arguments))
        return self.wrapped(result)

    def wrapped(self, result: ToolResult) -> str:
        """A result as data for the model."""
        masked = self.outlet.veil.result(result)
        return self.talk.envelope.wrap(result.id, clean(result.tool)[:60], fitted(masked, self.characters, result.id))

    def narrow(self, characters: int) -> None:
        """From now on a result is shown with so many characters at the most."""
        self.characters = self.talk.calls.characters = characters

    @property
    def stubborn(self) -> bool:
        """Whether the model only repeats itself."""
        return self.refusals >= MOST_REFUSALS

    def must_finish(self) -> bool:
        """Whether no more tools are offered."""
        return self.stubborn or self.budget.share >= 0.8 or self.asked >= self.talk.chat.max_calls

    def count(self, reply: AIMessage) -> None:
        """Adds up what a reply has used, and tells it."""
        sent, self.sent = self.sent, 0
        used = reply.usage_metadata
        received = used["output_tokens"] if used else tokens_in(str(reply.text))
        self.budget.add(used["input_tokens"] if used else sent, received)
        self.outlet.emit(self.usage())

    def count_lost(self) -> None:
        """Adds up a request whose reply broke off: it was paid for too."""
        if self.sent and self.heard:
            self.budget.add(self.sent, tokens_in(self.outlet.message))
            self.sent = 0
            self.outlet.emit(self.usage())

    def usage(self) -> Usage:
        """Sums of the turn."""
        budget = self.budget
        share = min(1.0, budget.last_sent / self.profile.context_window)
        return Usage(
            model=self.profile.model, input_tokens=budget.sent, output_tokens=budget.received, cost=budget.cost,
            context_share=round(share, 3), calls=self.asked,
        )  # fmt: skip

    def is_cut(self, reply: AIMessage) -> bool:
        """Whether a streamed reply has no end."""
        return _reason(reply) is None and self.profile.stream

    def check_end(self, reply: AIMessage, text: str) -> None:
        """Raises where a reply broke off or says nothing; notes where it reached its length."""
        reason = _reason(reply)
        if self.is_cut(reply):
            hint = "what was said stands above; ask again for the rest"
            raise AnswerCut(f"the answer of {self.profile.model} broke off", hint=hint)
        if not text.strip() and not reply.tool_calls:
            hint = f"ask in other words, or raise max_output of [profiles.{self.name}]"
            raise AnswerEmpty(f"{self.profile.model} gave an empty answer", hint=hint)
        if reason in ("length", "incomplete"):
            self.outlet.note(f"The answer ends here: max_output = {self.profile.max_output} tokens are reached.")


def _reason(reply: AIMessage) -> object:
    """Why a reply ended, as the endpoint tells it."""
    return reply.response_metadata.get("finish_reason") or reply.response_metadata.get("status")


def size(messages: Iterable[BaseMessage]) -> int:
    """Tokens of some messages, where the endpoint does not count."""
    return tokens_in("".join(str(message.content) for message in messages))


def finished(result: ToolResult) -> ToolFinished:
    """The event of a result."""
    return ToolFinished(
        call=result.id, tool=clean(result.tool)[:60], status=result.status, text=result.text, evidence=result.evidence,
        omitted=result.omitted, spilled=result.spilled, seconds=result.seconds,
    )  # fmt: skip


def fitted(text: str, characters: int, name: str) -> str:
    """As many whole lines as fit, and what to do about the rest."""
    if len(text) <= characters:
        return text
    cut = max(text.rfind("\n", 0, characters), 0) or max(text.rfind(" ", 0, characters), 0) or characters
    shown = text[:cut]
    return f"{shown}\n({len(text) - len(shown)} more characters of {name} are left out here: ask for less at once)"


def _unfounded(talk: Conversation, arguments: Mapping[str, Any]) -> str | None:
    """Why a conclusion cannot be taken down, where its sentence claims more than it cites."""
    statement, cited = arguments.get("statement"), arguments.get("evidence")
    if not isinstance(statement, str) or not isinstance(cited, list | tuple):
        return None  # the tool itself says what is wrong
    problem = hypotheses.unsupported(talk.calls, statement, tuple(map(str, cited)))
    departs = arguments.get("cause") != talk.calls.desk.case.verdict.cause
    return problem or hypotheses.unargued(talk.calls, str(arguments.get("argument") or ""), departs=departs)
