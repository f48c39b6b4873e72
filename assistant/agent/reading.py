"""The loop for models that can only read: the evidence goes into the prompt, and the model just answers."""

from __future__ import annotations

import asyncio

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage

from assistant.agent.misplaced import object_in
from assistant.agent.native import Hearing
from assistant.agent.run import Run, size
from assistant.errors import AnswerOddForm


async def converse(run: Run, system: str, messages: list[AnyMessage]) -> None:
    """Answers through the outlet, in one reply."""
    prompt = f"{system}\n\n{run.talk.prompts.filled('reading')}"
    run.messages = [SystemMessage(prompt), *messages]
    await spoken(run)


async def spoken(run: Run) -> None:
    """One reply in prose to what stands in `run.messages`."""
    run.budget.check()
    run.heard, run.sent = False, size(run.messages)
    async with asyncio.timeout(run.profile.timeout_seconds):
        reply = await run.streaming.ainvoke(run.messages, {"callbacks": [Hearing(run)]})
    assert isinstance(reply, AIMessage)
    if not run.heard:
        run.outlet.say(str(reply.text))
    run.count(reply)
    text = run.outlet.close(broken=run.is_cut(reply)) if not _is_object(run) else _unwrapped(run)
    run.messages = [*run.messages, AIMessage(text)]
    run.check_end(reply, text)


def _is_object(run: Run) -> bool:
    """Whether the message is a piece of JSON or a tool call instead of sentences; nothing of it has been shown then."""
    return bool(run.outlet.message.strip()) and run.outlet.holding


def _unwrapped(run: Run) -> str:
    """The answer inside an object. Raises AnswerOddForm where there is none."""
    found = object_in(run.outlet.message)
    run.outlet.close(drop=True)
    said = found.get("answer") if found is not None else None
    if not isinstance(said, str) or not said.strip():
        hint = f"take a model that follows instructions; `rootrank doctor {run.name}` says what this one is able to do"
        raise AnswerOddForm(f"{run.profile.model} answers in the wrong form: an object, no sentences", hint=hint)
    run.outlet.say(said)
    return run.outlet.close()
