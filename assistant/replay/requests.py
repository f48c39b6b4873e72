"""What a request asks for, whichever of the two APIs it came in by, and which step of the script answers it."""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from assistant.replay.models import Script, Step, When

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of a request that decide its answer."""

    body: dict[str, Any]
    messages: tuple[dict[str, Any], ...]
    stream: bool
    whole: str
    """The request as text."""

    @property
    def tokens(self) -> int:
        """Tokens of the request, roughly."""
        return len(self.whole) // CHARACTERS_PER_TOKEN

    @property
    def last(self) -> str:
        """Text of the last message that is not the model's own."""
        others = [m for m in self.messages if m.get("role", m.get("type")) not in ("assistant", "function_call")]
        return _text(others[-1]) if others else ""

    @property
    def last_tool(self) -> str | None:
        """Name of the tool whose result is the last message."""
        last = self.messages[-1] if self.messages else {}
        call = last.get("tool_call_id") or last.get("call_id")
        if call is None or (last.get("role") != "tool" and last.get("type") != "function_call_output"):
            return None
        return _name_of(self.messages, str(call))

    @property
    def wants_schema(self) -> bool:
        """Whether a JSON schema is asked for."""
        form = self.body.get("response_format") or (self.body.get("text") or {}).get("format") or {}
        return form.get("type") in ("json_schema", "json_object")


def parsed(raw: bytes) -> Request:
    """A request from its body. Raises ValueError for what is no JSON object."""
    body = json.loads(raw)
    if not isinstance(body, dict):
        raise ValueError("the body is not an object")
    given = body.get("messages") or body.get("input") or []
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    kept = tuple(message for message in messages if isinstance(message, dict))
    return Request(body, kept, bool(body.get("stream")), json.dumps(body, ensure_ascii=False))


def _text(message: dict[str, Any]) -> str:
    content = message.get("content", message.get("output", ""))
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))


def _name_of(messages: tuple[dict[str, Any], ...], call: str) -> str | None:
    for message in messages:
        if message.get("type") == "function_call" and message.get("call_id") == call:
            return str(message.get("name"))
        for tool_call in message.get("tool_calls") or ():
            if tool_call.get("id") == call:
                return str(tool_call["function"]["name"])
    return None


@dataclass(slots=True)
class Director:
    """Walks through the script; safe in threads."""

    script: Script
    requests: list[Request] = field(default_factory=list)
    """All requests so far, for tests to look at."""
    _given: Counter[int] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def step_for(self, request: Request) -> Step:
        """The first fitting step that is not used up."""
        with self._lock:
            self.requests.append(request)
            for number, step in enumerate(self.script.steps):
                if (not step.times or self._given[number] < step.times) and fits(step.when, request):
                    self._given[number] += 1
                    return step
        return self.script.otherwise


def fits(when: When, request: Request) -> bool:
    """Whether a step is meant for a request."""
    return (
        (when.contains is None or when.contains.lower() in request.last.lower())
        and (when.anywhere is None or when.anywhere in request.whole)
        and (when.after_tool is None or when.after_tool == request.last_tool)
        and (when.with_tools is None or when.with_tools == bool(request.body.get("tools")))
        and (when.with_schema is None or when.with_schema == request.wants_schema)
    )
