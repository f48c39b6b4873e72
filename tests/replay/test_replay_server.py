"""The scripted server over real HTTP on loopback: what it says, what it refuses, and how it breaks off."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assistant.errors import ConfigError
from assistant.replay.models import Script, load_script
from assistant.replay.server import ReplayServer, serving

PATIENCE = 30
"""Seconds after which a request hangs."""
ASK = {"model": "scripted", "messages": [{"role": "user", "content": "What failed?"}]}
TOOLS = {"tools": [{"type": "function", "function": {"name": "overview", "parameters": {"type": "object"}}}]}
SAID = "Rank 3 ran out of memory [E1]."


@contextmanager
def server_of(*steps: Mapping[str, Any], **able: Any) -> Iterator[ReplayServer]:  # noqa: ANN401 - YAML values
    """A server that plays these steps."""
    with serving(Script.model_validate({"schema": "rootrank.replay/1", "able": able, "steps": steps})) as server:
        yield server


@dataclass(frozen=True, slots=True)
class Told:
    """A response that was read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        """Its body, parsed."""
        return json.loads(self.body)


def call(
    server: ReplayServer,
    body: object = None,
    path: str = "/v1/chat/completions",
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> Told:
    """One request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=PATIENCE)
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    with contextlib.closing(connection):
        connection.request(method, path, data, {"content-type": "application/json", **(headers or {})})
        with connection.getresponse() as answer:
            return Told(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def arrived(server: ReplayServer) -> None:
    """Waits until a request has come."""
    until = time.monotonic() + PATIENCE
    while not server.requests and time.monotonic() < until:
        threading.Event().wait(0.01)
    assert server.requests


def whole(server: ReplayServer, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A chat answer that is not streamed."""
    answer: dict[str, Any] = call(server, {**ASK, **more}).json
    return answer


def streamed(server: ReplayServer, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    """The events of a chat stream; `{}` stands for its closing mark."""
    raw = call(server, {**ASK, "stream": True, **more}).body.decode()
    lines = [line.removeprefix("data: ") for line in raw.splitlines() if line.startswith("data: ")]
    return [{} if line == "[DONE]" else json.loads(line) for line in lines]


def text_of(events: list[dict[str, Any]]) -> str:
    """What the pieces of a stream say together."""
    deltas = [choice["delta"] for event in events for choice in event.get("choices", ())]
    return "".join(delta.get("content") or "" for delta in deltas)


def test_a_whole_answer_with_its_counts() -> None:
    with server_of({"text": SAID}) as server:
        answer = whole(server)
    assert answer["choices"][0]["message"]["content"] == SAID
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]


@pytest.mark.parametrize("piece", [1, 7, 500])
def test_a_stream_in_pieces_ends_with_a_reason_and_a_mark(piece: int) -> None:
    with server_of({"text": SAID, "piece": piece}) as server:
        events = streamed(server)
    assert text_of(events) == SAID
    assert len([event for event in events if event and event["choices"][0]["delta"].get("content")]) == -(-30 // piece)
    assert events[-1] == {}
    assert events[-2]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(("usage", "asked", "told"), [(True, True, True), (True, False, False), (False, True, False)])
def test_a_stream_counts_tokens_where_it_is_asked_and_may(usage: bool, asked: bool, told: bool) -> None:
    with server_of({"text": SAID, "usage": usage}) as server:
        events = streamed(server, **({"stream_options": {"include_usage": True}} if asked else {}))
    assert any(event.get("usage") for event in events) is told


def test_calls_of_tools_whole_and_in_pieces() -> None:
    calls = [{"name": "overview", "arguments": {"a": 1}}, {"name": "timeline", "raw": "{not json"}]
    with server_of({"tool_calls": calls, "piece": 3}) as server:
        made = whole(server, **TOOLS)["choices"][0]
        parts = streamed(server, **TOOLS)
    assert made["finish_reason"] == "tool_calls"
    assert [one["function"]["arguments"] for one in made["message"]["tool_calls"]] == ['{"a": 1}', "{not json"]
    deltas = [
        one for event in parts if event for choice in event["choices"] for one in choice["delta"].get("tool_calls", ())
    ]
    for at, one in enumerate(made["message"]["tool_calls"]):
        own = [delta for delta in deltas if delta["index"] == at]
        assert own[0]["id"] == one["id"]
        assert "".join(delta["function"].get("arguments", "") for delta in own) == one["function"]["arguments"]


def test_the_step_after_a_tool_is_chosen_by_its_name() -> None:
    steps: list[dict[str, Any]] = [
        {"when": {"after_tool": "overview"}, "text": "after the overview"},
        {"when": {"with_tools": True}, "tool_calls": [{"name": "overview"}]},
        {"when": {"contains": "WHAT"}, "text": "without tools"},
    ]
    asked = [{"id": "c1", "type": "function", "function": {"name": "overview", "arguments": "{}"}}]
    turn = [{"role": "assistant", "tool_calls": asked}, {"role": "tool", "tool_call_id": "c1", "content": "found"}]
    with server_of(*steps) as server:
        assert whole(server, **TOOLS)["choices"][0]["message"]["tool_calls"]
        assert (
            whole(server, messages=[*ASK["messages"], *turn], **TOOLS)["choices"][0]["message"]["content"]
            == "after the overview"
        )
        assert whole(server)["choices"][0]["message"]["content"] == "without tools"


def test_a_step_is_used_up_and_then_the_next_answers() -> None:
    with server_of({"times": 2, "text": "a"}, {"times": 1, "text": "b"}) as server:
        said = [whole(server)["choices"][0]["message"]["content"] for _ in range(4)]
    assert said == ["a", "a", "b", "I have nothing to say to that."]


def test_many_at_once_use_up_a_step_exactly() -> None:
    said: list[str] = []
    with server_of({"times": 5, "text": "few"}, {"text": "rest"}) as server:

        def ask() -> None:
            said.append(whole(server)["choices"][0]["message"]["content"])

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(server.requests) == 16
    assert sorted(said) == ["few"] * 5 + ["rest"] * 11


@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limit_error"), (500, "invalid_request_error")])
def test_an_error_with_its_headers(status: int, kind: str) -> None:
    with server_of({"status": status, "text": "not now", "headers": {"retry-after": "7"}}) as server:
        answer = call(server, ASK)
        assert (answer.status, answer.headers["retry-after"]) == (status, "7")
        assert answer.json["error"] == {"message": "not now", "type": kind, "param": None, "code": None}


def test_a_stream_that_is_cut_has_neither_reason_nor_mark() -> None:
    with server_of({"text": SAID * 20, "fault": "cut"}) as server:
        events = streamed(server)
    assert SAID in text_of(events)
    assert len(text_of(events)) < len(SAID) * 20
    assert {} not in events
    assert not any(choice["finish_reason"] for event in events for choice in event["choices"])


def test_a_whole_answer_that_is_cut_is_shorter_than_it_says() -> None:
    with server_of({"text": SAID, "fault": "cut"}) as server, pytest.raises(http.client.IncompleteRead):
        call(server, ASK)


def test_a_broken_event_is_no_json() -> None:
    with server_of({"text": SAID * 20, "fault": "garbage"}) as server, pytest.raises(json.JSONDecodeError):
        streamed(server)


def test_a_page_instead_of_json() -> None:
    with server_of({"fault": "not_json"}) as server:
        answer = call(server, ASK)
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html")
        assert answer.body.startswith(b"<html>")


def test_a_connection_that_is_refused() -> None:
    with server_of({"fault": "refuse"}) as server, pytest.raises(http.client.RemoteDisconnected):
        call(server, ASK)


def test_an_answer_without_a_choice_or_without_an_end() -> None:
    with server_of({"times": 1, "fault": "empty"}, {"text": SAID, "fault": "no_finish"}) as server:
        assert whole(server)["choices"] == []
        events = streamed(server)
    assert text_of(events) == SAID
    assert not any(choice["finish_reason"] for event in events if event for choice in event["choices"])


def test_a_thought_leaks_before_the_answer() -> None:
    with server_of({"text": SAID, "fault": "leaked_thinking", "piece": 2}) as server:
        said = text_of(streamed(server))
    assert said.startswith("<think>")
    assert said.endswith(f"</think>\n{SAID}")


@pytest.mark.parametrize("step", [{"text": SAID, "delay": 3_600}, {"text": SAID * 9, "fault": "stall"}])
def test_a_server_that_waits_stops_at_once_when_it_is_closed(step: Mapping[str, Any]) -> None:
    heard = threading.Event()

    def ask(server: ReplayServer) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            call(server, {**ASK, "stream": True})
        heard.set()

    with server_of(step) as server:
        thread = threading.Thread(target=ask, args=(server,))
        thread.start()
        arrived(server)
    assert heard.wait(PATIENCE)
    thread.join(PATIENCE)


@pytest.mark.parametrize(
    ("able", "more", "status", "told"),
    [
        ({"tools": False}, TOOLS, 400, "does not support tools"),
        ({"tool_choice": False}, {**TOOLS, "tool_choice": "required"}, 400, "tool_choice is not supported"),
        ({"json_schema": False}, {"response_format": {"type": "json_object"}}, 500, "response_format"),
        ({"stream": False}, {"stream": True}, 400, "streaming is not supported"),
        ({"window": 16}, {"messages": [{"role": "user", "content": "x" * 400}]}, 400, "maximum context length is 16"),
        ({"key": "right"}, {}, 401, "Incorrect API key"),
    ],
)
def test_what_it_is_not_able_to_do_is_refused_as_by_real_servers(
    able: Mapping[str, Any], more: Mapping[str, Any], status: int, told: str
) -> None:  # fmt: skip
    with server_of({"text": SAID}, **able) as server:
        answer = call(server, {**ASK, **more})
        assert (answer.status, told in answer.body.decode()) == (status, True)


def test_a_tool_choice_is_ignored_where_the_script_says_nothing_else() -> None:
    with server_of({"text": SAID}) as server:
        assert whole(server, **TOOLS, tool_choice="required")["choices"][0]["message"]["content"] == SAID


def test_the_right_key_and_the_list_of_models() -> None:
    with server_of({"text": SAID}, key="right", window=4096) as server:
        assert call(server, ASK, headers={"authorization": "Bearer right"}).status == 200
        model = call(server, path="/v1/models", method="GET").json["data"][0]
    assert (model["id"], model["max_model_len"]) == ("scripted", 4096)


@pytest.mark.parametrize(
    ("body", "path", "status"),
    [
        (b"{not json", "/v1/chat/completions", 400),
        (b"[1, 2]", "/v1/chat/completions", 400),
        (b"", "/v1/chat/completions", 400),
        (b'"\xff\xfe"', "/v1/chat/completions", 400),
        (json.dumps(ASK).encode(), "/v1/elsewhere", 404),
        (json.dumps(ASK).encode(), "/v1/responses", 404),
    ],
)
def test_a_request_that_makes_no_sense_gets_an_error_and_the_server_goes_on(
    body: bytes, path: str, status: int
) -> None:
    with server_of({"text": SAID}) as server:
        assert call(server, body, path).status == status
        assert whole(server)["choices"][0]["message"]["content"] == SAID


def test_the_responses_api_whole_and_streamed() -> None:
    body = {"model": "scripted", "input": "What failed?"}
    with server_of({"text": SAID, "piece": 4}, responses=True) as server:
        answer = call(server, body, "/v1/responses").json
        raw = call(server, {**body, "stream": True}, "/v1/responses").body.decode()
    assert answer["output"][0]["content"][0]["text"] == SAID
    events = [json.loads(line.removeprefix("data: ")) for line in raw.splitlines() if line.startswith("data: ")]
    assert "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta") == SAID
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "response.completed"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("steps: [", ""),
        ("schema: rootrank.replay/2\n", "schema"),
        ("schema: rootrank.replay/1\nsteps: [{fault: explode}]\n", "steps.0.fault"),
        ("schema: rootrank.replay/1\nsteps: [{texts: typo}]\n", "steps.0.texts"),
        ("schema: rootrank.replay/1\nable: {window: 3}\n", "able.window"),
        ("schema: rootrank.replay/1\nsteps: [{piece: 0}]\n", "steps.0.piece"),
        ("- a list\n", ""),
        ("", ""),
    ],
)
def test_a_bad_script_is_refused_by_place_with_a_hint(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load_script(path)
    assert str(path) in raised.value.message
    assert told in raised.value.message
    assert "docs/replay.md" in raised.value.hint


def test_a_script_that_is_no_text_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00schema")
    for path in (tmp_path / "bytes.yaml", tmp_path / "none.yaml", tmp_path):
        with pytest.raises(ConfigError) as raised:
            load_script(path)
        assert str(path) in raised.value.message
