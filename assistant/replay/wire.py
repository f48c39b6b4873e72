"""A step in the words of the wire: Chat Completions and Responses, whole or as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from assistant.replay.models import Step, ToolCall
from assistant.replay.requests import CHARACTERS_PER_TOKEN, Request

THINKING = "<think>Let me think about what the log says.</think>\n"
CREATED = 1_700_000_000


def said(step: Step) -> str:
    """The text of a step, with what its fault adds."""
    return THINKING + step.text if step.fault == "leaked_thinking" else step.text


def usage(step: Step, request: Request) -> dict[str, int]:
    """Token counts, four characters a token."""
    out = max(1, len(step.text) // CHARACTERS_PER_TOKEN)
    return {"prompt_tokens": request.tokens, "completion_tokens": out, "total_tokens": request.tokens + out}


def chat(step: Step, request: Request, model: str) -> dict[str, Any]:
    """A whole chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": said(step) or None}
    if step.tool_calls:
        message["tool_calls"] = [_chat_call(call, number) for number, call in enumerate(step.tool_calls)]
    choice = {"index": 0, "message": message, "finish_reason": _finish(step)}
    choices = [] if step.fault == "empty" else [choice]
    whole = {**_head(model), "object": "chat.completion", "choices": choices}
    return {**whole, "usage": usage(step, request)} if step.usage else whole


def chat_events(step: Step, request: Request, model: str) -> Iterator[str]:
    """The same as a stream of data lines."""
    head = {**_head(model), "object": "chat.completion.chunk"}
    yield _data({**head, "choices": [_delta({"role": "assistant", "content": ""})]})
    text = said(step)
    for at in range(0, len(text), step.piece):
        yield _data({**head, "choices": [_delta({"content": text[at : at + step.piece]})]})
    for number, call in enumerate(step.tool_calls):
        for part in _call_parts(call, number, step.piece):
            yield _data({**head, "choices": [_delta({"tool_calls": [part]})]})
    if step.fault == "no_finish":
        return
    yield _data({**head, "choices": [{**_delta({}), "finish_reason": _finish(step)}]})
    if step.usage and (request.body.get("stream_options") or {}).get("include_usage"):
        yield _data({**head, "choices": [], "usage": usage(step, request)})
    yield "data: [DONE]\n\n"


def response(step: Step, request: Request, model: str) -> dict[str, Any]:
    """A whole answer of the Responses API."""
    items: list[dict[str, Any]] = []
    if said(step):
        items.append(_message(said(step)))
    items += [_response_call(call, number) for number, call in enumerate(step.tool_calls)]
    counts = usage(step, request)
    return {
        "id": "resp_1", "object": "response", "created_at": CREATED, "model": model, "status": "completed",
        "output": items, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
        "usage": {
            "input_tokens": counts["prompt_tokens"], "output_tokens": counts["completion_tokens"],
            "total_tokens": counts["total_tokens"], "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        } if step.usage else None,
    }  # fmt: skip


def response_events(step: Step, request: Request, model: str) -> Iterator[str]:
    """The same as a stream of named events."""
    whole = response(step, request, model)
    started = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": started}]
    for at, item in enumerate(whole["output"]):
        events += _item_events(item, at, step.piece)
    if step.fault != "no_finish":
        events.append({"type": "response.completed", "response": whole})
    for number, event in enumerate(events):
        yield f"event: {event['type']}\n" + _data({**event, "sequence_number": number})


def _item_events(item: dict[str, Any], at: int, piece: int) -> list[dict[str, Any]]:
    place = {"output_index": at, "item_id": item["id"]}
    done = {"type": "response.output_item.done", "output_index": at, "item": item}
    if item["type"] == "function_call":
        empty = {**item, "arguments": "", "status": "in_progress"}
        arguments = item["arguments"]
        parts = [arguments[i : i + piece] for i in range(0, len(arguments), piece)]
        deltas = [{"type": "response.function_call_arguments.delta", **place, "delta": part} for part in parts]
        last = {"type": "response.function_call_arguments.done", **place, "arguments": arguments}
        return [{"type": "response.output_item.added", "output_index": at, "item": empty}, *deltas, last, done]
    text = item["content"][0]["text"]
    inside = {**place, "content_index": 0}
    empty = {**item, "content": [], "status": "in_progress"}
    blank = {"type": "output_text", "text": "", "annotations": []}
    parts = [text[i : i + piece] for i in range(0, len(text), piece)]
    return [
        {"type": "response.output_item.added", "output_index": at, "item": empty},
        {"type": "response.content_part.added", **inside, "part": blank},
        *({"type": "response.output_text.delta", **inside, "delta": part, "logprobs": []} for part in parts),
        {"type": "response.output_text.done", **inside, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **inside, "part": item["content"][0]},
        done,
    ]


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def _response_call(call: ToolCall, number: int) -> dict[str, Any]:
    return {
        "id": f"fc_{number}", "type": "function_call", "call_id": f"call_{number}_{call.name}", "name": call.name,
        "arguments": _arguments(call), "status": "completed",
    }  # fmt: skip


def _chat_call(call: ToolCall, number: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _arguments(call)}
    return {"id": f"call_{number}_{call.name}", "type": "function", "function": function}


def _call_parts(call: ToolCall, number: int, piece: int) -> Iterator[dict[str, Any]]:
    whole = _chat_call(call, number)
    yield {"index": number, **whole, "function": {"name": call.name, "arguments": ""}}
    arguments = _arguments(call)
    for at in range(0, len(arguments), piece):
        yield {"index": number, "function": {"arguments": arguments[at : at + piece]}}


def _arguments(call: ToolCall) -> str:
    return call.raw if call.raw is not None else json.dumps(call.arguments)


def _finish(step: Step) -> str:
    return "tool_calls" if step.tool_calls else "stop"


def _head(model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "created": CREATED, "model": model}


def _delta(delta: dict[str, Any]) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": None}


def _data(event: dict[str, Any]) -> str:
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n"
