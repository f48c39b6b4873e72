"""Everything that can go wrong with an endpoint ends in a useful answer, says what it was, and loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from assistant.answers.models import Done, Failed, Fallback, Question, Text, Usage
from tests.agent.talks import Heard, Steps, answerer_of, ask, calls_on, listened, profile, server_of

GOOD = "Rank 3 ran out of memory [E1]."
LONG = f"{GOOD} It tried to allocate 2.50 GiB [E1]. Its GPU is GPU 3 [E1]. Lower the batch size. Then start again. " * 3


def fell_back(heard: Heard, reason: str, hint: str = "") -> None:
    """The offline answerer has taken over, after a note that names the reason."""
    fallback = heard.of(Fallback)[-1]
    assert reason in fallback.reason
    assert hint in fallback.hint
    assert fallback.hint
    assert fallback.target == "offline"
    assert heard.events[-1].kind == "done"
    assert heard.of(Done)[-1].answerer == "offline"
    assert len(heard.of(Done)) == 1
    assert not heard.of(Failed)
    assert "memory.gpu_oom" in heard.text or "ran out of GPU memory" in heard.text


FAULTS: list[tuple[str, Mapping[str, Any], Mapping[str, Any], str]] = [
    ("cut", {"text": LONG, "fault": "cut"}, {}, "broke off"),
    ("no finish", {"text": GOOD, "fault": "no_finish"}, {}, "broke off"),
    ("garbage", {"text": LONG, "fault": "garbage"}, {}, "a piece of it is no JSON"),
    ("an object", {"text": '{"oh": "no"}'}, {"tools": False}, "answers in the wrong form"),
    ("a broken object", {"text": "{oh no"}, {"tools": False}, "answers in the wrong form"),
    ("empty", {"text": ""}, {}, "empty answer"),
    ("no choice", {"fault": "empty"}, {"stream": False}, "no proper answer"),
    ("web page", {"fault": "not_json"}, {}, "perhaps a web page"),
    ("web page, whole", {"fault": "not_json"}, {"stream": False}, "no proper answer"),
    ("refused", {"fault": "refuse"}, {}, "closed the connection without an answer"),
    ("silence", {"text": LONG, "fault": "stall"}, {"first_token_seconds": 2.0}, "in time"),
    ("slow", {"text": GOOD, "delay": 3000}, {"timeout_seconds": 2.0, "stream": False}, "in time"),
    ("half of a body", {"text": GOOD, "fault": "cut"}, {"stream": False}, "in the middle of its answer"),
    ("server error", {"status": 503, "text": "overloaded"}, {}, "(503): overloaded"),
    ("too many", {"status": 429, "text": "slow down", "headers": {"retry-after": "7"}}, {}, "(429): slow down"),
    ("forbidden", {"status": 403, "text": "not for you"}, {}, "refuses the key (403)"),
    ("no such model", {"status": 404, "text": "no model of that name"}, {}, "knows no model"),
    ("moved", {"status": 307, "headers": {"location": "http://elsewhere.example/v1"}}, {}, "sends elsewhere"),
]


@pytest.mark.parametrize(("step", "fields", "reason"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_ends_in_an_offline_answer(step: Mapping[str, Any], fields: Mapping[str, Any], reason: str) -> None:
    fell_back(ask([step], fields=fields), reason)


def test_half_a_sentence_is_not_shown() -> None:
    heard = ask([{"text": f"{GOOD} Rank 7 failed with an ECC error and so on and on.", "fault": "cut", "piece": 1}])
    assert "(It breaks off here.)" in heard.text
    assert heard.unsupported == []
    assert "Rank 7" not in heard.text


def test_what_was_said_before_a_fault_stays_and_numbers_run_on() -> None:
    heard = ask([{"text": LONG, "fault": "cut"}])
    numbers = [event.number for event in heard.of(Text)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert heard.text.startswith("Rank 3 ran out of memory [E1].")
    at = heard.events.index(heard.of(Fallback)[0])
    assert any(isinstance(event, Text) for event in heard.events[:at])
    assert heard.of(Usage)[-1].input_tokens > 0


def test_a_key_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    heard = ask([], fields={"key_env": "NO_SUCH_KEY"})
    fell_back(heard, "NO_SUCH_KEY is not set", "export NO_SUCH_KEY")
    assert heard.requests == []


def test_a_wrong_key_is_never_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GW_KEY", "sk-wrong-0123456789")
    heard = ask([], able={"key": "sk-right"}, fields={"key_env": "GW_KEY"})
    fell_back(heard, "refuses the key (401)", "GW_KEY")
    assert "sk-wrong" not in "".join(event.model_dump_json() for event in heard.events)


@pytest.mark.parametrize(
    ("url", "reason"),
    [("http://127.0.0.1:9/v1", "nobody listens"), ("http://gateway.example/v1", "there is no host")],
)
def test_an_address_where_nothing_is(url: str, reason: str) -> None:
    answerer = answerer_of({"gw": profile(url)}, calls_on())
    fell_back(Heard(asyncio.run(listened(answerer, Question(text="What failed?")))), reason, "base_url")


def test_a_path_that_is_wrong() -> None:
    with server_of([{"text": GOOD}]) as server:
        answerer = answerer_of({"gw": profile(f"{server.base_url}/nowhere/v9")}, calls_on())
        heard = Heard(asyncio.run(listened(answerer, Question(text="What failed?"))))
    assert heard.of(Done)[-1].answerer == "gw" or "no such path" in heard.of(Fallback)[-1].reason


def test_a_secure_address_of_a_server_without_tls() -> None:
    with server_of([]) as server:
        answerer = answerer_of({"gw": profile(server.base_url.replace("http:", "https:"))}, calls_on())
        heard = Heard(asyncio.run(listened(answerer, Question(text="What failed?"))))
    fell_back(heard, "does not speak TLS")


def test_a_certificate_file_that_is_none(tmp_path: Any) -> None:  # noqa: ANN401
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    fell_back(ask([], fields={"ca_file": str(file)}), "ca_file", "PEM")


def test_a_request_is_tried_again_where_that_may_help() -> None:
    steps: Steps = [{"times": 1, "status": 503, "text": "busy"}, {"text": GOOD}]
    heard = ask(steps, fields={"retries": 2})
    assert heard.of(Done)[-1].answerer == "gw"
    assert heard.text.strip() == GOOD
    assert not heard.of(Fallback)


def test_without_a_fallback_the_failure_stands() -> None:
    heard = ask([{"status": 503, "text": "overloaded"}], fallback=False)
    assert "overloaded" in heard.of(Failed)[0].message
    assert heard.of(Failed)[0].hint
    assert heard.events[-1].kind == "done"
    assert not heard.of(Fallback)


def test_the_next_profile_takes_over_first() -> None:
    with server_of([{"status": 500, "text": "no"}]) as broken, server_of([{"text": GOOD}]) as sound:
        profiles = {"one": profile(broken.base_url), "two": profile(sound.base_url)}
        heard = Heard(asyncio.run(listened(answerer_of(profiles, calls_on()), Question(text="What failed?"))))
    assert [(one.source, one.target) for one in heard.of(Fallback)] == [("one", "two")]
    assert heard.of(Done)[-1].answerer == "two"
    assert heard.text.strip() == GOOD


def test_the_endpoint_s_words_cannot_act_on_a_terminal() -> None:
    heard = ask([{"status": 500, "text": "\x1b[2J\x1b]0;owned\x07" + "x" * 5000}])
    reason = heard.of(Fallback)[0].reason
    assert reason.isprintable()
    assert len(reason) < 600
