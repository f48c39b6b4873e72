"""How the agent works with models of different abilities, and how it stays within bounds."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assistant.answers.models import (
    Cancelled,
    Done,
    Fallback,
    Hypothesis,
    Question,
    Replaced,
    Standing,
    Text,
    ToolFinished,
    ToolStarted,
    Turn,
    Usage,
    VerdictGiven,
)
from tests.agent.talks import PATIENCE, Steps, answerer_of, ask, calls_on, profile, server_of

GOOD = "Rank 3 ran out of memory [E1]."


def call(name: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
    """A scripted tool call."""
    return {"name": name, "arguments": arguments}


def test_tools_are_asked_and_their_results_are_citable() -> None:
    steps: Steps = [
        {"times": 1, "tool_calls": [call("list_events"), call("explain_word", word="rank")]},
        {"when": {"after_tool": "explain_word"}, "text": "The event CUDA out of memory came once [T2]."},
    ]
    heard = ask(steps)
    assert [event.tool for event in heard.of(ToolStarted)] == ["overview", "list_events", "explain_word"]
    assert [event.call for event in heard.of(ToolFinished)] == ["T1", "T2", "T3"]
    assert heard.unsupported == []
    assert heard.of(Done)[-1].answerer == "gw"


def test_wrong_calls_are_answered_and_not_fatal() -> None:
    wrong = [
        {"name": "rank_status", "raw": "{not json"},
        {"name": "run_shell", "arguments": {"command": "rm -rf /"}},
        {"name": "rank_status", "arguments": {"rank": "many", "also": 1}},
        {"name": "read_window", "arguments": {"evidence": "E1"}},
    ]
    heard = ask([{"times": 1, "tool_calls": wrong}, {"text": GOOD}])
    assert heard.text.strip() == GOOD
    assert heard.of(Done)[-1].answerer == "gw"
    told = heard.requests[-1]
    assert "not valid JSON" in told or "Wrong arguments" in told
    assert "There is no tool" in told


def test_a_tool_with_a_fault_of_its_own_is_an_answer_too() -> None:
    calls = calls_on()

    def broken(query: object) -> Any:  # noqa: ANN401 - what a search gives back
        raise ZeroDivisionError("a fault of ours")

    calls.desk.search = broken
    heard = ask([{"times": 1, "tool_calls": [call("similar_incidents")]}, {"text": GOOD}], calls=calls)
    assert heard.text.strip() == GOOD
    assert heard.of(Done)[-1].answerer == "gw"


def test_an_endless_loop_of_calls_is_ended() -> None:
    heard = ask([{"tool_calls": [call("list_events")]}], chat={"max_calls": 5})
    assert "did not answer" in heard.of(Fallback)[0].reason
    assert len(heard.requests) < 12


def test_a_model_that_only_repeats_itself_is_told_to_answer() -> None:
    steps: Steps = [{"when": {"with_tools": True}, "tool_calls": [call("list_events")]}, {"text": GOOD}]
    heard = ask(steps, fields={"tool_choice": False})
    assert heard.text.strip() == GOOD
    assert "No more tools can be asked" in heard.requests[-1]
    assert len(heard.requests) < 8


def test_where_tools_can_be_forbidden_they_stay_described() -> None:
    steps: Steps = [{"when": {"anywhere": "No more tools"}, "text": GOOD}, {"tool_calls": [call("list_events")]}]
    heard = ask(steps)
    assert heard.text.strip() == GOOD
    last = json.loads(heard.requests[-1])
    assert last["tool_choice"] == "none"
    assert last["tools"]


def test_a_flood_of_calls_and_of_text_is_bounded() -> None:
    calls = [call("explain_word", word=f"w{n}") for n in range(300)]
    assert len(ask([{"times": 1, "tool_calls": calls}, {"text": GOOD}]).of(ToolStarted)) < 30
    words = " ".join(f"and {chr(97 + number % 26)}{number % 7 * 'so'}" for number in range(90_000))
    heard = ask([{"text": words, "piece": 4_000}])
    assert "longer than" in heard.of(Fallback)[0].reason


def test_an_endpoint_without_tools_gets_json_actions() -> None:
    action = json.dumps({"action": "tool", "tool": "list_events", "arguments": {}})
    answer = json.dumps({"action": "answer", "answer": GOOD})
    heard = ask([{"times": 1, "text": action}, {"text": answer}], able={"tools": False})
    assert heard.text.strip() == GOOD
    assert "list_events" in [event.tool for event in heard.of(ToolStarted)]
    assert '"json_schema"' in heard.requests[-1]


def test_where_a_schema_is_refused_a_plain_object_is_asked_for_and_then_text() -> None:
    steps: Steps = [
        {"when": {"with_schema": True}, "status": 500, "text": "response_format is not supported"},
        {"text": f"```json\n{json.dumps({'action': 'answer', 'answer': GOOD})}\n```"},
    ]
    heard = ask(steps, fields={"tools": False})
    forms = [json.loads(body).get("response_format", {}).get("type") for body in heard.requests]
    assert forms == ["json_schema", "json_object", "json_object", None]
    assert heard.text.strip() == GOOD


def test_a_model_that_keeps_to_no_form_is_given_the_evidence() -> None:
    steps: Steps = [{"when": {"anywhere": "There are no tools."}, "text": GOOD}, {"text": "{oh no"}]
    heard = ask(steps, fields={"tools": False})
    assert heard.text.strip() == GOOD
    assert {"overview", "list_events", "list_unread"} <= {event.tool for event in heard.of(ToolStarted)}


def test_a_tool_call_written_as_text_is_never_shown() -> None:
    text = '```json\n{"name": "list_events", "arguments": {}}\n```'
    answer = json.dumps({"action": "answer", "answer": GOOD})
    steps: Steps = [{"when": {"with_tools": True}, "text": text}, {"text": answer}]
    heard = ask(steps)
    assert heard.text.strip() == GOOD


def test_a_small_window_gets_the_evidence_and_no_tools() -> None:
    heard = ask([{"text": GOOD}], fields={"context_window": 4096, "max_output": 512}, able={"window": 4096})
    assert heard.text.strip() == GOOD
    assert "tools" not in json.loads(heard.requests[0])


def test_a_window_smaller_than_configured_is_tried_once_more_with_less() -> None:
    heard = ask([{"text": GOOD}], able={"window": 2600})
    assert heard.text.strip() == GOOD
    assert heard.of(Done)[-1].answerer == "gw"


def test_a_window_in_which_nothing_fits_is_named() -> None:
    heard = ask([{"text": GOOD}], able={"window": 200})
    assert "do not fit the window" in heard.of(Fallback)[0].reason
    assert heard.of(Done)[-1].answerer == "offline"


@pytest.mark.parametrize("able", [True, False])
def test_the_responses_api_or_what_stands_in_for_it(able: bool) -> None:
    steps: Steps = [{"times": 1, "tool_calls": [call("list_events")]}, {"text": GOOD}]
    heard = ask(steps, able={"responses": able}, fields={"api": "responses"})
    assert heard.text.strip() == GOOD
    assert heard.of(Done)[-1].answerer == "gw"
    assert heard.of(Usage)[-1].output_tokens > 0


def test_an_endpoint_that_cannot_stream() -> None:
    heard = ask([{"text": GOOD}], able={"stream": False})
    assert heard.text.strip() == GOOD
    assert heard.of(Done)[-1].answerer == "gw"


@pytest.mark.parametrize("piece", [1, 3, 400])
def test_thoughts_that_leak_are_dropped(piece: int) -> None:
    steps: Steps = [{"text": f"{GOOD} Check its logs.", "fault": "leaked_thinking", "piece": piece}]
    heard = ask(steps)
    assert heard.text.strip() == f"{GOOD} Check its logs."


def test_only_a_thought_is_an_empty_answer() -> None:
    heard = ask([{"text": "<think>I wonder about rank 99."}])
    assert "empty answer" in heard.of(Fallback)[0].reason
    assert "99" not in heard.text


def test_an_unsupported_sentence_is_marked_and_may_be_mended_once() -> None:
    steps: Steps = [
        {"when": {"contains": "A program has checked"}, "text": "1: Rank 3 ran out of memory [E1].\n2: DROP"},
        {"text": "Rank 7 ran out of memory [E1]. It happened 512 times [E1]. Check the batch size."},
    ]
    heard = ask(steps)
    assert heard.unsupported == ["Rank 7 ran out of memory [E1].", "It happened 512 times [E1]."]
    mended = heard.of(Replaced)
    assert [(one.number, one.text.strip(), one.standing) for one in mended] == [
        (1, "Rank 3 ran out of memory [E1].", Standing.SUPPORTED),
        (2, "", Standing.PLAIN),
    ]
    assert len(heard.requests) == 2


def test_what_is_not_mended_stays_marked() -> None:
    steps: Steps = [
        {"when": {"contains": "A program has checked"}, "text": "1: Rank 8 ran out of memory [E1]."},
        {"text": f"{GOOD} Rank 7 ran out of memory [E1]."},
    ]
    heard = ask(steps)
    assert heard.unsupported == ["Rank 7 ran out of memory [E1]."]
    assert heard.of(Replaced) == []
    assert heard.of(Done)[-1].answerer == "gw"


def test_a_conclusion_never_takes_the_verdict_s_place() -> None:
    own = {
        "cause": "hardware.gpu_memory", "statement": "The watchdog of rank 1 timed out", "evidence": ["E3"],
        "rank": 1, "argument": "The timeout came too [E3].", "confidence": "low",
    }  # fmt: skip
    calls = calls_on()
    steps: Steps = [
        {"times": 1, "tool_calls": [call("list_events")]},
        {"times": 1, "tool_calls": [call("submit_diagnosis", **own)]},
        {"text": GOOD},
    ]
    heard = ask(steps, calls=calls)
    assert [(one.cause, one.agrees) for one in heard.of(VerdictGiven)] == [("hardware.gpu_memory", False)]
    assert calls.desk.case.verdict.cause == "memory.gpu_oom"


def test_a_conclusion_that_its_evidence_does_not_carry_is_not_taken_down() -> None:
    own = {"cause": "memory.gpu_oom", "statement": "Rank 9 ran out of memory", "evidence": ["E1"], "rank": 3}
    heard = ask([{"times": 1, "tool_calls": [call("submit_diagnosis", **own)]}, {"text": GOOD}])
    assert heard.of(VerdictGiven) == []
    assert "does not hold" in heard.requests[-1]


@pytest.mark.parametrize(
    ("argument", "told"), [("Trust me.", "cite in `argument`"), ("Rank 9 was first [E3].", "does not hold")]
)
def test_an_alternative_must_argue_with_evidence(argument: str, told: str) -> None:
    own = {"cause": "code.exception", "statement": "It was the code", "evidence": ["E3"], "argument": argument}
    steps: Steps = [
        {"times": 1, "tool_calls": [call("list_events")]},
        {"times": 1, "tool_calls": [call("submit_diagnosis", **own)]},
        {"text": GOOD},
    ]
    heard = ask(steps)
    assert heard.of(VerdictGiven) == []
    assert told in heard.requests[-1]


def test_hypotheses_are_kept_with_for_and_against() -> None:
    first = {"cause": "memory.gpu_oom", "statement": "Rank 3 ran out of memory", "state": "proposed"}
    better = {**first, "id": "H1", "state": "supported"}
    steps: Steps = [
        {"times": 1, "tool_calls": [call("note_hypothesis", **first, supporting=["E1"])]},
        {"times": 1, "tool_calls": [call("note_hypothesis", **better, supporting=["E1", "E2"])]},
        {"times": 1, "tool_calls": [call("note_hypothesis", **first, supporting=["E99"])]},
        {"text": GOOD},
    ]  # fmt: skip
    heard = ask(steps)
    kept = heard.of(Hypothesis)
    assert [(one.id, one.state, one.supporting) for one in kept] == [
        ("H1", "proposed", ("E1",)),
        ("H1", "supported", ("E1", "E2")),
    ]
    assert "Not shown in this case: E99" in heard.requests[-1]


def test_usage_sums_up_and_has_a_price() -> None:
    steps: Steps = [{"times": 1, "tool_calls": [call("list_events")]}, {"text": GOOD}]
    heard = ask(steps, fields={"input_price": 1.0, "output_price": 2.0})
    usage = heard.of(Usage)
    assert usage[0].input_tokens < usage[-1].input_tokens
    last = usage[-1]
    assert last.cost == pytest.approx((last.input_tokens + 2 * last.output_tokens) / 1_000_000)
    assert last.calls == 2
    assert last.context_share is not None


@pytest.mark.parametrize(
    ("chat", "fields", "bound"),
    [
        ({"max_tokens": 100}, {}, "chat.max_tokens"),
        ({"max_cost": 0.000001}, {"input_price": 5.0, "output_price": 5.0}, "chat.max_cost"),
        ({"case_tokens": 100}, {}, "chat.case_tokens"),
    ],
)
def test_a_budget_ends_the_turn_with_an_offline_answer(
    chat: dict[str, Any], fields: dict[str, Any], bound: str
) -> None:  # fmt: skip
    steps: Steps = [{"tool_calls": [call("list_events")]}]
    heard = ask(steps, chat=chat, fields=fields)
    assert bound in heard.of(Fallback)[0].reason
    assert heard.of(Done)[-1].answerer == "offline"
    assert len(heard.requests) == 1


def test_the_time_of_a_turn_is_bounded() -> None:
    heard = ask([{"text": GOOD, "delay": 3000}], chat={"max_seconds": 3.0})
    assert "time for this turn" in heard.of(Fallback)[0].reason


def test_a_cancelled_turn_keeps_what_was_said() -> None:
    async def cancelled(url: str) -> list[Any]:
        answerer: Any = answerer_of({"gw": profile(url)}, calls_on())
        events = []
        async with asyncio.timeout(PATIENCE):
            async for event in answerer.answer(Question(text="What failed?"), ()):
                events.append(event)
                if isinstance(event, Text):
                    answerer.cancel()
        return events

    with server_of([{"text": f"{GOOD} {GOOD} {GOOD} And then nothing.", "fault": "stall"}]) as server:
        events = asyncio.run(cancelled(server.base_url))
    assert [event.kind for event in events[-2:]] == ["cancelled", "done"]
    assert any(isinstance(event, Text) for event in events)
    assert any(isinstance(event, Cancelled) for event in events)


def test_a_stream_that_is_closed_ends_the_request() -> None:
    async def closed(url: str) -> set[str]:
        answerer: Any = answerer_of({"gw": profile(url)}, calls_on())
        stream = answerer.answer(Question(text="What failed?"), ())
        async for event in stream:
            if isinstance(event, Text):
                break
        await stream.aclose()
        return {task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()}

    with server_of([{"text": f"{GOOD} " * 5, "fault": "stall"}]) as server:
        assert asyncio.run(closed(server.base_url)) == set()


def test_earlier_turns_language_and_newcomer_are_told() -> None:
    history = (Turn(question=Question(text="Who broke it?"), answer="Rank 3 on node-alpha-17 [E1]."),)
    question = Question(text="Und warum?", language="de", newcomer=True)
    heard = ask([{"text": GOOD}], question=question, history=history)
    body = heard.requests[0]
    assert "Who broke it?" in body
    assert "the tag de" in body
    assert "has not run such jobs" in body
    assert "node-alpha-17" not in body
