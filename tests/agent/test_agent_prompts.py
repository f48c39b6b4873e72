"""Prompts are files: checked when they are read, and what is sent first is known to the letter."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.agent.budget import Spent
from assistant.agent.conversation import Conversation
from assistant.agent.envelope import Envelope
from assistant.agent.prompts import WANTED, load_prompts, read_prompt
from assistant.agent.system import system_prompt
from assistant.agent.thinking import Thoughts
from assistant.agent.veil import redactor_for
from assistant.answers.models import Question
from assistant.errors import PromptError
from assistant.profiles import Chat
from tests.agent.talks import calls_on, small_case

GOLDEN = Path(__file__).parent / "golden"
HEAD = "---\nschema: rootrank.prompt/1\nid: {id}\nversion: 1\nwhat: a test\n---\n"


def test_every_prompt_is_there_and_used() -> None:
    assert set(load_prompts().by_id) == set(WANTED)


@pytest.mark.parametrize(("name", "newcomer"), [("system.txt", False), ("system-new.txt", True)])
def test_the_instructions_are_known_to_the_letter(name: str, newcomer: bool) -> None:
    talk = Conversation(
        calls_on(), redactor_for(small_case(), ()), load_prompts(), Chat(), Envelope("0a1b2c3d"), Spent()
    )
    text = system_prompt(talk, Question(text="x", newcomer=newcomer), tools=not newcomer) + "\n"
    golden = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_an_own_prompt_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "finish.md").write_text(HEAD.format(id="finish") + "Stop.")
    from assistant.paths import shipped

    folder = shipped("prompts")
    assert folder is not None
    prompts = load_prompts([folder, tmp_path])
    assert prompts.filled("finish") == "Stop."
    assert "finish/1" in prompts.version


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no front matter", "a valid dictionary"),
        (HEAD.format(id="finsih") + "x", "no prompt is called finsih"),
        (HEAD.format(id="question") + "{{question}} only", "slots do not fit: evidence"),
        (HEAD.format(id="finish") + "{{extra}}", "slots do not fit: extra"),
        (HEAD.format(id="finish").replace("version: 1", "version: zero") + "x", "version"),
        ("---\nid: [\n---\nx", "while parsing"),
    ],
)
def test_a_prompt_that_cannot_work_is_refused_by_name(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "one.md"
    path.write_text(text)
    with pytest.raises(PromptError) as caught:
        read_prompt(path)
    assert str(path) in caught.value.message
    assert problem in caught.value.message


def test_what_fills_a_slot_is_not_looked_at_for_slots() -> None:
    text = load_prompts().filled("question", evidence="{{question}}", question="why?")
    assert "{{question}}" in text


@pytest.mark.parametrize(
    ("pieces", "seen"),
    [
        (["<thi", "nk>a</th", "ink>\n", "\nb"], "b"),
        (["a <b> c < d"], "a <b> c < d"),
        (["x<think>y</think>z<reasoning>w</reasoning>."], "xz."),
        (["loss <", " 3"], "loss < 3"),
        (["a</think>b"], "ab"),
        (["<think>never closed", " at all"], ""),
    ],
)
def test_thoughts_are_told_from_text(pieces: list[str], seen: str) -> None:
    thoughts = Thoughts()
    assert "".join([*(thoughts.feed(piece) for piece in pieces), thoughts.rest()]) == seen
