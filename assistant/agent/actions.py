"""The loop for models without tool calls: each step is one JSON action, held to a schema where the endpoint can."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from assistant.agent import hypotheses
from assistant.agent.endpoint import extra_body
from assistant.agent.failures import failure_of
from assistant.agent.misplaced import calls_in, object_in
from assistant.agent.run import Run, size
from assistant.agent.thinking import Thoughts
from assistant.errors import CannotDo, EndpointFault, ModelError
from assistant.tools.registry import TOOLS

LONGEST_ANSWER = 900
"""Characters. Of a text that is bounded beyond a thousand llama.cpp makes no grammar; its Python server dies then."""
ROOMY = 2_048
"""Tokens of an answer from which on the schema bounds it no more."""
MOST_BROKEN = 2
"""Replies in the wrong form after which evidence is given instead of actions being asked for."""
MOST_STEPS = 10
FORMS = ("json_schema", "schema_object", "json_object", "text")
"""Ways to ask for a form, the strictest first; the second is that of llama.cpp and some gateways."""


def schema(room: int) -> dict[str, Any]:
    """What an action looks like. `room`: tokens of an answer; in a small one the text must end before them."""
    bound = {"maxLength": LONGEST_ANSWER} if room < ROOMY else {}
    names = [*(tool.name for tool in TOOLS), hypotheses.NAME]
    return {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["tool", "answer"]},
            "tool": {"type": "string", "enum": [*names, "none"]},
            "arguments": {"type": "object"},
            "answer": {"type": "string", **bound},
        },
        "required": ["action"],
    }


def tool_list() -> str:
    """The tools with their arguments, a line each."""
    named = [(tool.name, tool.summary, tool.arguments) for tool in TOOLS]
    named.append((hypotheses.NAME, hypotheses.SUMMARY, hypotheses.HypothesisArguments))
    return "\n".join(f"- {name}({', '.join(arguments.model_fields)}): {what}" for name, what, arguments in named)


async def converse(run: Run, system: str, messages: list[AnyMessage]) -> None:
    """Answers through the outlet. Raises CannotDo where the model keeps to no form."""
    prompt = f"{system}\n\n{run.talk.prompts.filled('actions', tools=tool_list())}"
    run.messages = [SystemMessage(prompt), *messages]
    forms = list(FORMS if run.profile.json_schema else FORMS[1:])
    broken = 0
    for _ in range(min(MOST_STEPS, run.talk.chat.max_calls + 1)):
        reply = await _reply(run, forms)
        text = _visible(reply)
        run.messages = [*run.messages, AIMessage(text)]
        step = object_in(text)
        if step is None and text.strip() and not text.lstrip().startswith(("{", "[", "```")):
            return _answer(run, reply, text)
        answer = _answer_in(step, prompt)
        if answer:
            return _answer(run, reply, answer)
        told = await _obeyed(run, step)
        broken = broken + 1 if told is None else 0
        if broken >= MOST_BROKEN or run.must_finish():
            break
        run.messages = [*run.messages, HumanMessage(told or run.talk.prompts.filled("form"))]
    raise CannotDo(f"{run.profile.model} keeps to no form", hint="evidence is given to it instead")


def _answer(run: Run, reply: AIMessage, text: str) -> None:
    run.outlet.say(text)
    run.check_end(reply, run.outlet.close())


def _answer_in(step: dict[str, Any] | None, prompt: str) -> str:
    """The answer of an action; none where it only gives back the example of the prompt."""
    said = step.get("answer") if step is not None else None
    return said if isinstance(said, str) and re.search(r"\w", said) and said.strip() not in prompt else ""


async def _obeyed(run: Run, step: dict[str, Any] | None) -> str | None:
    """What the asked tool says; None where no tool is asked."""
    if step is None:
        return None
    if step.get("action") == "tool" and isinstance(step.get("tool"), str) and step["tool"] != "none":
        arguments = step.get("arguments")
        return await run.ask(step["tool"], arguments if isinstance(arguments, dict) else {})
    for name, arguments in calls_in(_dumped(step)):
        return await run.ask(name, arguments)
    return None


def _dumped(step: dict[str, Any]) -> str:
    import json

    return json.dumps(step)


async def _reply(run: Run, forms: list[str]) -> AIMessage:
    """The next reply, in the strictest form that the endpoint takes; a form it refuses is never asked for again."""
    while True:
        run.budget.check()
        run.sent = size(run.messages)
        try:
            async with asyncio.timeout(run.profile.timeout_seconds):
                reply = await run.whole.bind(**_form(run, forms[0])).ainvoke(run.messages)
        except Exception as error:
            failure = failure_of(error, run.name, run.profile)
            run.sent = 0
            if len(forms) == 1 or not _is_about_form(failure):
                raise
            forms.pop(0)
            continue
        assert isinstance(reply, AIMessage)
        run.count(reply)
        return reply


def _is_about_form(failure: ModelError) -> bool:
    return isinstance(failure, CannotDo | EndpointFault)


def _form(run: Run, form: str) -> dict[str, Any]:
    """The request's part that asks for a form."""
    if form == "text":
        return {}
    named = {"name": "action", "schema": schema(run.profile.max_output)}
    if run.profile.api == "responses":
        shape = {"type": form, **named} if form == "json_schema" else {"type": "json_object"}
        return {"extra_body": {"text": {"format": shape}}}
    shape = {
        "json_schema": {"type": form, "json_schema": named},
        "schema_object": {"type": "json_object", "schema": schema(run.profile.max_output)},
    }.get(form, {"type": form})
    return {"extra_body": {**extra_body(run.profile), "response_format": shape}}


def _visible(reply: AIMessage) -> str:
    thoughts = Thoughts()
    return thoughts.feed(str(reply.text)) + thoughts.rest()
