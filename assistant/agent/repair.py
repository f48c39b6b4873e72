"""The one chance to mend sentences that did not pass their check."""

from __future__ import annotations

import asyncio
import re

from langchain_core.messages import AIMessage, HumanMessage

from assistant.agent.run import Run, size
from assistant.agent.thinking import Thoughts
from assistant.answers.models import Standing, Text

MOST = 12
_ITEM = re.compile(r"^[ \t]*(?:\*\*)?#?(\d{1,4})(?:\*\*)?[.):][ \t]*", re.MULTILINE)
DROP = "DROP"


async def repair(run: Run) -> None:
    """Asks once for better sentences and puts those that pass in place of the marked ones."""
    marked = [text for text in run.outlet.said if text.standing is Standing.UNSUPPORTED][:MOST]
    if not marked:
        return
    listed = "\n".join(f"{one.number}: {one.text.strip()}\n   ({'; '.join(one.problems)})" for one in marked)
    ask = HumanMessage(run.talk.prompts.filled("repair", sentences=run.outlet.veil.out(listed)))
    messages = [*run.messages, ask]
    run.sent = size(messages)
    if run.sent + run.profile.max_output > run.profile.context_window:
        run.sent = 0
        return  # it would be refused; the sentences stay marked
    run.budget.check()
    async with asyncio.timeout(run.profile.timeout_seconds):
        reply = await run.whole.ainvoke(messages)
    assert isinstance(reply, AIMessage)
    run.count(reply)
    thoughts = Thoughts()
    better = _items(thoughts.feed(str(reply.text)) + thoughts.rest())
    for one in marked:
        _replaced(run, one, better.get(one.number))


def _replaced(run: Run, old: Text, new: str | None) -> None:
    if new is not None:
        run.outlet.replace(old, "" if new.strip(" .*`") == DROP else new)


def _items(text: str) -> dict[int, str]:
    """Numbered sentences."""
    parts = _ITEM.split(text)[1:]
    return {int(number): " ".join(said.split()) for number, said in zip(parts[::2], parts[1::2], strict=True)}
