"""Small models: circles, answers that rest on nothing, small windows; somebody else answers then."""

from __future__ import annotations

import json

import pytest

from assistant.agent.actions import schema
from assistant.answers.models import Done, Fallback, Text, Usage
from tests.agent.talks import Steps, ask

GOOD = "Rank 3 ran out of memory [E1]."


CIRCLES = [
    "The next step is to look at the next step. " * 40,
    "rank five " * 400,
    "The rank failed as it was told to. Which one will make you happy. And so it went on and on. " * 30,
]


@pytest.mark.parametrize("text", CIRCLES, ids=["a sentence", "words", "several sentences"])
def test_a_model_that_goes_round_in_circles_is_not_heard_to_the_end(text: str) -> None:
    heard = ask([{"text": f"{GOOD} {text}"}], able={"window": 100_000})
    assert "again and again" in heard.of(Fallback)[0].reason
    assert heard.text.startswith(GOOD)
    assert len(heard.of(Text)) < 40
    assert heard.of(Usage)[-1].output_tokens > 0
    assert heard.of(Done)[-1].answerer == "offline"


@pytest.mark.parametrize("sentences", [2, 30])
def test_an_answer_of_which_nothing_holds_is_no_answer(sentences: int) -> None:
    wrong = [f"Rank {number + 20} ran out of memory [E1]." for number in range(sentences)]
    heard = ask([{"when": {"contains": "A program has checked"}, "text": "no"}, {"text": " ".join(wrong)}])
    assert "rests on evidence" in heard.of(Fallback)[0].reason
    assert len(heard.unsupported) == min(sentences, 5)
    assert heard.of(Done)[-1].answerer == "offline"


def test_a_question_that_comes_back_is_no_answer() -> None:
    heard = ask([{"text": "The question:\n\nWhat failed, and why?"}], "What failed, and why?")
    assert "rests on evidence" in heard.of(Fallback)[0].reason
    assert heard.of(Done)[-1].answerer == "offline"


LOOSE = "The next step is to look around. The job is in a good state. The team is happy with it. Restart it."


def test_statements_without_any_citation_are_no_answer_about_a_job() -> None:
    heard = ask([{"text": LOOSE}], "Is it safe to restart?")
    assert "rests on evidence" in heard.of(Fallback)[0].reason
    assert ask([{"text": "No."}], "Is it safe to restart?").of(Fallback)
    assert not ask([{"text": "Restart it. Shall I look closer?"}], "Is it safe to restart?").of(Fallback)
    assert not ask([{"text": LOOSE}], "What is a checkpoint?").of(Fallback)
    assert not ask([{"text": f"{LOOSE} {GOOD}"}], "Is it safe to restart?").of(Fallback)


def test_an_action_that_only_gives_the_example_back_is_no_answer() -> None:
    echo = json.dumps({"action": "answer", "answer": "ANSWER"})
    steps: Steps = [{"when": {"anywhere": "There are no tools."}, "text": GOOD}, {"text": echo}]
    assert ask(steps, fields={"tools": False}).text.strip() == GOOD


def test_a_small_window_gets_brief_instructions_and_the_whole_overview() -> None:
    heard = ask([{"text": GOOD}], fields={"context_window": 2048, "max_output": 256}, able={"window": 2048})
    told = heard.requests[0]
    assert "Then stop." in told
    assert "Evidence of the verdict" in told
    assert heard.text.strip() == GOOD


def test_marked_sentences_are_not_asked_for_again_where_there_is_no_room() -> None:
    steps: Steps = [{"text": "Rank 3 ran out of GPU memory [T1]. Rank 7 ran out of memory [T1]."}]
    heard = ask(steps, fields={"context_window": 760, "max_output": 256}, able={"window": 1024})
    assert len(heard.requests) == 1
    assert heard.unsupported == ["Rank 7 ran out of memory [T1]."]
    assert heard.of(Done)[-1].answerer == "gw"


def test_a_schema_for_a_small_model_stays_below_what_llama_cpp_takes() -> None:
    assert schema(1_024)["properties"]["answer"]["maxLength"] < 1_000
    assert "maxLength" not in schema(4_096)["properties"]["answer"]
