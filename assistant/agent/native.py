"""The loop for models that call tools: langchain's agent, bounded by us on every side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from assistant.agent import hypotheses
from assistant.agent.misplaced import calls_in
from assistant.agent.run import Run, size
from assistant.errors import CannotDo, EndlessCalls
from assistant.tools.models import Arguments
from assistant.tools.registry import TOOLS

BROKEN = "_broken"
"""Stands in for arguments that were no JSON."""
MOST_AT_ONCE = 16
"""Calls of one reply; more are left out of it."""
PATIENCE = 50
"""Tenths of a second in which a cancelled agent must have ended."""
TOOL_TOKENS = 1_500
"""Descriptions of the tools, roughly."""
SLACK = 2
"""Replies beyond the bound, in which the model may still answer."""


async def converse(run: Run, system: str, messages: list[AnyMessage]) -> None:
    """Answers through the outlet. Raises ModelError, and whatever the client libraries raise."""
    agent: Any = create_agent(
        run.streaming, tools=tools(), system_prompt=SystemMessage(system), middleware=[Bounds(run)]
    )  # fmt: skip
    limit = 4 * (run.talk.chat.max_calls + SLACK) + 20
    given = {"callbacks": [Hearing(run)], "recursion_limit": limit}
    await _ended_with_us(run, asyncio.ensure_future(agent.ainvoke({"messages": messages}, given)))


async def _ended_with_us(run: Run, task: asyncio.Future[Any]) -> None:
    """Waits for the agent. Where we are cancelled, what it waits for is cancelled too: left alone it would wait on."""
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        for _ in range(PATIENCE):
            for one in (run.waiting, task):
                if one is not None:
                    one.cancel()
            if (await asyncio.wait({task}, timeout=0.1))[0]:
                break
        raise
    task.result()


def tools() -> list[StructuredTool]:
    """The tools in langchain's form; they are run by `Bounds`, so that nothing of them is lost on the way."""
    named: list[tuple[str, str, type[Arguments]]] = [(tool.name, tool.summary, tool.arguments) for tool in TOOLS]
    named.append((hypotheses.NAME, hypotheses.SUMMARY, hypotheses.HypothesisArguments))
    return [
        StructuredTool.from_function(coroutine=_unused, name=name, description=summary, args_schema=arguments)
        for name, summary, arguments in named
    ]


async def _unused(**_: object) -> str:
    return ""


class Hearing(AsyncCallbackHandler):
    """Passes on a model's words as they come."""

    raise_error = True
    run_inline = True

    def __init__(self, run: Run) -> None:
        self._run = run

    async def on_llm_new_token(self, token: Any, *, chunk: Any = None, **_: Any) -> None:  # noqa: ANN401
        """A piece of the reply; reasoning in fields of its own is not part of it."""
        message = getattr(chunk, "message", None)
        text = str(message.text) if message is not None else str(token)
        self._run.heard = True
        if text:
            self._run.outlet.say(text)


class Bounds(AgentMiddleware[AgentState[Any], None]):
    """Counts, bounds and keeps everything that goes to the model and comes back."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run
        self._replies = 0

    async def awrap_model_call(
        self, request: ModelRequest[None], handler: Callable[[ModelRequest[None]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """One reply of the model."""
        run = self._run
        run.budget.check()
        self._replies += 1
        last = run.must_finish() or self._replies > run.talk.chat.max_calls + 1
        if self._replies > run.talk.chat.max_calls + 1 + SLACK:
            raise _endless(run)
        asked = _without_tools(run, request) if last else request
        run.heard, run.sent, run.waiting = False, _size(asked), asyncio.current_task()
        async with asyncio.timeout(run.profile.timeout_seconds):
            response = await handler(asked)
        reply = next(message for message in response.result if isinstance(message, AIMessage))
        kept = _settled(run, reply, offered=not last)
        run.messages = [*asked.messages, kept]
        return ModelResponse(result=[kept])

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """A tool's answer; a failure is an answer too."""
        call = request.tool_call
        self._run.waiting = asyncio.current_task()
        if BROKEN in call["args"]:
            told = "The arguments were not valid JSON. Send one JSON object."
        else:
            told = await self._run.ask(call["name"], call["args"])
        return ToolMessage(content=told, tool_call_id=call["id"] or "", name=call["name"])


def _settled(run: Run, reply: AIMessage, *, offered: bool) -> AIMessage:
    """The reply after its end: counted, shown, with calls in the wrong place put right."""
    if not run.heard:
        run.outlet.say(str(reply.text))
    run.count(reply)
    broken = [
        {"name": call["name"] or "unknown", "args": {BROKEN: True}, "id": call["id"] or f"broken_{number}"}
        for number, call in enumerate(reply.invalid_tool_calls)
    ]
    misplaced = calls_in(run.outlet.message) if not reply.tool_calls and not broken else []
    if misplaced:
        run.outlet.close(drop=True)
        raise CannotDo(
            f"{run.profile.model} writes tool calls as text", hint=f"set tools = false in [profiles.{run.name}]"
        )  # fmt: skip
    text = run.outlet.close(broken=run.is_cut(reply))
    if not offered and (reply.tool_calls or broken):
        if not text.strip():
            raise _endless(run)
        return AIMessage(content=text, response_metadata=reply.response_metadata)
    calls = [*reply.tool_calls, *broken]
    if calls:
        return AIMessage(content=text, tool_calls=calls[:MOST_AT_ONCE])
    run.check_end(reply, text)
    return reply


def _without_tools(run: Run, request: ModelRequest[None]) -> ModelRequest[None]:
    """Tells the model to answer. Tools stay described where they can be forbidden: some servers want them described
    for as long as their calls stand in the conversation."""
    messages = [*request.messages, HumanMessage(run.talk.prompts.filled("finish"))]
    if run.profile.tool_choice:
        return request.override(tool_choice="none", messages=messages)
    return request.override(tools=[], tool_choice=None, messages=messages)


def _size(request: ModelRequest[None]) -> int:
    """Tokens that were sent, where the endpoint does not count."""
    return size(request.messages) + TOOL_TOKENS


def _endless(run: Run) -> EndlessCalls:
    hint = "ask in smaller steps, or name the file or rank that matters; chat.max_calls bounds the calls"
    return EndlessCalls(f"{run.profile.model} asked {run.asked} tools and did not answer", hint=hint)
