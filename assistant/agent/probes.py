"""Small requests that find out what an endpoint is able to do: plain HTTP, so that no library stands in between."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant.agent.endpoint import NO_KEY, request_headers
from assistant.case.text import clean
from assistant.profiles import Profile

if TYPE_CHECKING:
    import httpx2

WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train")
LONGEST_REMARK = 120
TOOL = {
    "type": "function",
    "function": {
        "name": "read_line",
        "description": "Reads one line of a log file.",
        "parameters": {
            "type": "object",
            "properties": {"line": {"type": "integer"}},
            "required": ["line"],
        },
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["green"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Result:
    """What one probe found: able, unable, or not to be told (None), with a remark."""

    name: str
    able: bool | None
    remark: str = ""
    sets: dict[str, Any] = field(default_factory=dict)
    """Fields of the profile that follow from it."""


@dataclass(slots=True)
class Probe:
    """One endpoint under examination."""

    profile: Profile
    key: str
    client: httpx2.AsyncClient

    async def get(self, path: str) -> tuple[int, Any]:
        """Status and parsed body; None for a body that is no JSON."""
        answer = await self.client.get(f"{self.profile.base_url}{path}", headers=self._headers(), params=self._query())
        return answer.status_code, _parsed(answer.content)

    async def post(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """The same for a request with a body."""
        answer = await self.client.post(
            f"{self.profile.base_url}{path}", json=body, headers=self._headers(), params=self._query()
        )
        return answer.status_code, _parsed(answer.content)

    async def stream(self, body: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
        """Status and the events of a stream, at most a few hundred."""
        events: list[dict[str, Any]] = []
        url = f"{self.profile.base_url}/chat/completions"
        async with self.client.stream(
            "POST", url, json={**body, "stream": True}, headers=self._headers(), params=self._query()
        ) as answer:
            if answer.status_code != 200:
                return answer.status_code, [{"error": _parsed(await answer.aread())}]
            async for line in answer.aiter_lines():
                event = _parsed(line.removeprefix("data:").strip().encode()) if line.startswith("data:") else None
                events += [event] if isinstance(event, dict) else []
                if len(events) > 400:
                    break
        return 200, events

    def chat(self, text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """A small chat request."""
        messages = [{"role": "user", "content": text}]
        return {"model": self.profile.model, "messages": messages, self.profile.output_field: 64, **more}

    def _headers(self) -> dict[str, str]:
        bearer = {} if self.key == NO_KEY else {"Authorization": f"Bearer {self.key}"}
        return {**bearer, **request_headers(self.profile, self.key)}

    def _query(self) -> dict[str, str]:
        return {"api-version": self.profile.api_version} if self.profile.api_version else {}


async def models(probe: Probe) -> Result:
    """The list of models; also tells the window, where the endpoint says it."""
    status, body = await probe.get("/models")
    listed = body.get("data") if isinstance(body, dict) else None
    if status != 200 or not isinstance(listed, list):
        return Result("models", None, f"not listed ({status})")
    own = next((one for one in listed if isinstance(one, dict) and one.get("id") == probe.profile.model), None)
    if own is None:
        names = ", ".join(str(one.get("id")) for one in listed[:6] if isinstance(one, dict))
        return Result("models", False, f"{probe.profile.model} is not among them: {names}")
    window = _window(own)
    return Result("models", True, f"window {window}" if window else "", {"context_window": window} if window else {})


def _window(model: dict[str, Any]) -> int | None:
    meta = model.get("meta")
    for place in (model, meta if isinstance(meta, dict) else {}):
        for name in WINDOW_FIELDS:
            if isinstance(place.get(name), int) and place[name] >= 512:
                return int(place[name])
    return None


async def answers(probe: Probe) -> Result:
    """Whether it answers at all."""
    started = time.monotonic()
    status, body = await probe.post("/chat/completions", probe.chat("Reply with the word ready."))
    if status == 404 and probe.profile.api == "responses" and (found := await responses(probe)).able:
        return Result("answers", True, f"by the Responses API only, {time.monotonic() - started:.1f} s", found.sets)
    if status != 200:
        return Result("answers", False, _refusal(status, body))
    if _message(body) is None:
        return Result("answers", False, "no choice in the answer")
    return Result("answers", True, f"{time.monotonic() - started:.1f} s")


async def streaming(probe: Probe) -> Result:
    """Whether it streams, and counts tokens in streams."""
    ask = probe.chat("Count from one to five.", stream_options={"include_usage": True})
    status, events = await probe.stream(ask)
    counts = any(event.get("usage") for event in events) if status == 200 else False
    if status != 200:
        status, events = await probe.stream(probe.chat("Count from one to five."))
    if status != 200 or not any(event.get("choices") for event in events):
        return Result("streaming", False, _refusal(status, events[:1]), {"stream": False, "stream_usage": False})
    remark = "counts tokens" if counts else "does not count tokens; they are estimated"
    return Result("streaming", True, remark, {"stream": True, "stream_usage": counts})


async def tools(probe: Probe) -> Result:
    """Whether the model calls a tool when it should."""
    ask = "Use the tool read_line to read line 7."
    status, body = await probe.post("/chat/completions", probe.chat(ask, tools=[TOOL], tool_choice="auto"))
    if status != 200:
        return Result("tools", False, _refusal(status, body), {"tools": False})
    called = bool((_message(body) or {}).get("tool_calls"))
    return Result("tools", called, "" if called else "the model answers in text instead", {"tools": called})


async def tool_choice(probe: Probe) -> Result:
    """Whether a demanded call is made."""
    body = probe.chat("Say hello.", tools=[TOOL], tool_choice="required")
    status, answer = await probe.post("/chat/completions", body)
    called = status == 200 and bool((_message(answer) or {}).get("tool_calls"))
    remark = "" if called else "ignored" if status == 200 else _refusal(status, answer)
    return Result("tool_choice", called, remark, {"tool_choice": called})


async def json_schema(probe: Probe) -> Result:
    """Whether an answer is held to a schema."""
    form = {"type": "json_schema", "json_schema": {"name": "colour", "schema": SCHEMA}}
    status, body = await probe.post("/chat/completions", probe.chat("Name any colour.", response_format=form))
    if status != 200:
        return Result("json_schema", False, _refusal(status, body), {"json_schema": False})
    content = (_message(body) or {}).get("content")
    held = isinstance(content, str) and _parsed(content.encode()) == {"colour": "green"}
    return Result("json_schema", held, "" if held else "not heeded", {"json_schema": held})


async def responses(probe: Probe) -> Result:
    """Whether the Responses API is there; its absence matters only to a profile that asks for it."""
    body = {"model": probe.profile.model, "input": "Reply with the word ready.", "max_output_tokens": 64}
    status, answer = await probe.post("/responses", body)
    able = status == 200 and isinstance(answer, dict) and isinstance(answer.get("output"), list)
    sets = {"api": "chat"} if not able and probe.profile.api == "responses" else {}
    return Result("responses", able, "" if able else _refusal(status, answer), sets)


PROBES: tuple[Callable[[Probe], Awaitable[Result]], ...] = (
    models,
    answers,
    streaming,
    tools,
    tool_choice,
    json_schema,
    responses,
)


def _message(body: Any) -> dict[str, Any] | None:  # noqa: ANN401 - JSON
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else None


def _refusal(status: int, body: Any) -> str:  # noqa: ANN401 - JSON
    error = body.get("error") if isinstance(body, dict) else None
    said = error.get("message") if isinstance(error, dict) else None
    return f"{status}: {clean(said)[:LONGEST_REMARK]}" if isinstance(said, str) else str(status)


def _parsed(data: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
