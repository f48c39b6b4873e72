"""The loop for models that can only read: the evidence goes into the prompt, and the model just answers."""

from __future__ import annotations

import asyncio

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage

from assistant.agent.native import Hearing
from assistant.agent.run import Run, size


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
    text = run.outlet.close()
    run.messages = [*run.messages, AIMessage(text)]
    run.check_end(reply, text)
