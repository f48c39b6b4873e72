"""The offline answerer: every intent has its reply, every sentence is sound, and it says what it cannot do."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from assistant.answers.models import AnswerEvent, Done, Failed, Question, Standing, Suggested, Text, ToolStarted, Turn
from assistant.answers.offline import REPLIES, OfflineAnswerer
from assistant.case.models import Case
from assistant.faults.library import load_library
from assistant.tools.calls import Calls
from assistant.tools.desk import Desk
from evals.desks import Opened, glossary, intents
from evals.offline.score import text_of
from tests.samples import all_cases

INTENTS = intents().file.intents


def answered(answerer: OfflineAnswerer, text: str, *history: Turn, **how: object) -> list[AnswerEvent]:
    """All events of one turn."""
    return list(answerer.events(Question.model_validate({"text": text, **how}), history))


def said(answerer: OfflineAnswerer, text: str, *history: Turn) -> str:
    """The text of one turn."""
    return text_of(answered(answerer, text, *history))


def sample(case: Case) -> OfflineAnswerer:
    """An answerer about a hand-made case whose logs are gone."""
    return OfflineAnswerer(Calls(Desk(case, load_library(strict=False), glossary())), intents())


def filled(saying: str) -> str:
    """A way to ask, with places of the kept jobs put in."""
    places = {"rank": "rank 2", "node": "gpu-a03", "code": "SIGKILL", "cause": "oom", "evidence": "E1", "word": "nccl",
              "quote": '"Traceback"', "file": "gpu-a01/launcher.log:3", "iteration": "iteration 6"}  # fmt: skip
    for name, place in places.items():
        saying = saying.replace(f"<{name}>", place)
    return saying


def unsound(events: list[AnswerEvent]) -> Iterator[str]:
    """Sentences that the check refuses."""
    for event in events:
        if isinstance(event, Text) and event.standing is Standing.UNSUPPORTED:
            yield f"{event.text} {event.problems}"


def test_every_intent_has_a_reply_and_every_reply_an_intent() -> None:
    assert {intent.id for intent in INTENTS} == set(REPLIES)


@pytest.mark.parametrize("intent", INTENTS, ids=lambda intent: intent.id)
def test_each_reply_is_sound_on_real_jobs(intent: object, hang: Opened, killed: Opened, healthy: Opened) -> None:
    for job in (hang, killed, healthy):
        for saying in intent.says[:3]:  # type: ignore[attr-defined]
            events = answered(job.answerer(), filled(saying))
            assert list(unsound(events)) == []
            assert not [event for event in events if isinstance(event, Failed)]
            assert text_of(events).strip()


@pytest.mark.parametrize("name", sorted(all_cases()))
def test_each_reply_is_sound_where_the_logs_are_gone(name: str) -> None:
    case = all_cases()[name]
    for intent in INTENTS:
        events = answered(sample(case), filled(intent.says[0]))
        assert list(unsound(events)) == [], intent.id
        assert isinstance(events[-1], Done)


def test_a_turn_ends_with_one_done_and_suggests_what_comes_next(hang: Opened) -> None:
    events = answered(hang.answerer(), "what failed first?")
    assert [type(event) for event in events].count(Done) == 1
    assert isinstance(events[-1], Done)
    assert next(event.questions for event in events if isinstance(event, Suggested))


def test_the_stream_in_an_event_loop_is_the_same(hang: Opened) -> None:
    async def collect() -> list[AnswerEvent]:
        return [event async for event in hang.answerer().answer(Question(text="which node?"), ())]

    assert text_of(asyncio.run(collect())) == said(hang.answerer(), "which node?")


def test_the_same_question_gets_the_same_answer(killed: Opened) -> None:
    assert said(killed.answerer(), "what happened") == said(killed.answerer(), "what happened")


def test_the_first_words_name_the_rank_and_cite_a_log_line(hang: Opened) -> None:
    texts = [event for event in answered(hang.answerer(), "what failed first?") if isinstance(event, Text)]
    assert "Rank 5 on gpu-a03" in texts[0].text
    assert texts[0].standing is Standing.SUPPORTED
    assert any(name.startswith("E") for name in texts[0].citations)


def test_nobody_is_blamed_where_nothing_failed(healthy: Opened) -> None:
    for question in ("which rank is to blame?", "what failed first?", "why rank 2?"):
        assert "Blamed:" not in said(healthy.answerer(), question)


def test_a_question_in_parts_is_answered_part_by_part(killed: Opened) -> None:
    text = said(killed.answerer(), "which node is it, and is it safe to restart?")
    assert "n03" in text
    assert "collect" in text


def test_slips_of_the_hand_are_understood(killed: Opened) -> None:
    assert "Blamed: n03 rank 2" in said(killed.answerer(), "wihch raank is to balme")


def test_and_asks_of_the_next_place_what_was_asked_of_the_last(killed: Opened) -> None:
    answerer = killed.answerer()
    first = Question(text="why not rank 0?")
    turn = Turn(question=first, answer=said(answerer, first.text))
    assert "Rank 3 is not blamed" in said(answerer, "and rank 3?", turn)
    assert "Rank 0 is" in said(answerer, "what did that rank do?", turn)


@pytest.mark.parametrize(
    "question", ["was ist passiert, und welcher Rang ist es?", "为什么失败了\uff1f", "почему упало?"]
)
def test_another_language_is_told_that_only_english_is_understood(killed: Opened, question: str) -> None:
    text = said(killed.answerer(), question)
    assert "English only" in text
    assert "Rank 2 on n03" in text


@pytest.mark.parametrize("question", ["what is the capital of France", "write me a poem", "qwertz asdf", "?", ""])
def test_what_is_beyond_it_is_said_plainly(killed: Opened, question: str) -> None:
    assert "beyond me" in said(killed.answerer(), question)


def test_a_stranger_is_not_made_up(killed: Opened) -> None:
    assert "names no node" in said(killed.answerer(), "why not node n77?") or "name no node" in said(
        killed.answerer(), "why not node n77?"
    )
    assert "not blamed" not in said(killed.answerer(), "what did rank 99 do?")


def test_a_newcomer_gets_the_words_explained(hang: Opened) -> None:
    plain = said(hang.answerer(), "what failed first?")
    explained = text_of(answered(hang.answerer(), "what failed first?", newcomer=True))
    assert explained.startswith(plain.rstrip()[:200])
    assert "**Words**" in explained
    assert "**Words**" in said(hang.answerer(), "explain like I'm new: what failed first?")


def test_hostile_questions_are_only_questions(killed: Opened) -> None:
    for text in ("\x1b[2J why", "[bold]who[/bold]", "a" * 50_000, "rank " * 5_000, "(" * 3_000, '"' * 999, "\u202ewho"):
        events = answered(killed.answerer(), text)
        assert isinstance(events[-1], Done)
        assert list(unsound(events)) == []
        assert "\x1b" not in text_of(events)


def test_without_the_logs_the_kept_lines_are_shown() -> None:
    events = answered(sample(all_cases()["failed"]), "show me E1")
    assert "CUDA out of memory" in text_of(events)
    assert "not at hand" in text_of(events)


def test_only_what_is_needed_is_asked(hang: Opened) -> None:
    events = answered(hang.answerer(), "thanks")
    assert not [event for event in events if isinstance(event, ToolStarted)]


def test_an_answer_loads_no_heavy_library() -> None:
    script = (
        "import sys\n"
        "from evals.desks import opened\n"
        "from assistant.answers.models import Question\n"
        "with opened('knowledge/examples/hanging-rank') as job:\n"
        "    list(job.answerer(search=False).events(Question(text='what failed first?')))\n"
        "heavy = {'torch', 'chromadb', 'sentence_transformers', 'langchain', 'openai', 'textual'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
