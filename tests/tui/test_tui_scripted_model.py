"""The real command in a pseudo-terminal, with a scripted model behind real HTTP: investigate, fail, be stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.answers.sessions import Answered, Session, SessionStore
from assistant.replay.models import Script
from assistant.replay.server import ReplayServer, serving
from tests.tui.terminal import ask, ended, started, wait_for

INVESTIGATES: list[dict[str, Any]] = [
    {"when": {"with_tools": True}, "times": 1, "tool_calls": [{"name": "rank_status", "arguments": {"rank": 5}}]},
    {"when": {"after_tool": "rank_status"}, "pace": 0.01, "piece": 12,
     "text": "**Rank 5** ran out of GPU memory [E1]. The job had 77 nodes [T1].\n"},
    {"when": {"contains": "A program has checked your answer"}, "text": "2: The job had 8 ranks on 4 nodes [T1]."},
]  # fmt: skip
BREAKS: list[dict[str, Any]] = [
    {
        "fault": "cut",
        "piece": 40,
        "text": "Rank 5 ran out of GPU memory [E1]. And then it went on for a good while.",
    }
]
TALKS_ON: list[dict[str, Any]] = [
    {"pace": 0.05, "piece": 20, "text": "Rank 5 ran out of GPU memory [E1]. " + "I am thinking about it. " * 2000}
]


@contextmanager
def model(steps: list[dict[str, Any]]) -> Iterator[tuple[ReplayServer, dict[str, str]]]:
    """A server, and the environment in which it is the profile `scripted`."""
    script = Script.model_validate({"schema": "rootrank.replay/1", "able": {"window": 65536}, "steps": steps})
    with serving(script) as server:
        names = {
            "ROOTRANK_PROFILES__SCRIPTED__BASE_URL": server.base_url,
            "ROOTRANK_PROFILES__SCRIPTED__MODEL": script.model,
            "ROOTRANK_PROFILES__SCRIPTED__CONTEXT_WINDOW": "65536",
        }
        yield server, names


@pytest.fixture
def store(own_home: Path) -> SessionStore:
    return SessionStore(Path(os.environ["ROOTRANK_DATA_DIR"]))


def kinds(session: Session) -> list[str]:
    return [line.event.kind for line in session.lines if isinstance(line, Answered)]


def test_a_model_investigates_and_its_wrong_sentence_is_replaced(job: Path, store: SessionStore) -> None:
    with model(INVESTIGATES) as (server, names):
        child = started(str(job), "--profile", "scripted", more=names)
        child.expect("scripted")
        ask(child, "Who broke first?")
        child.expect("rank_status")
        child.expect("8 ranks on 4 nodes")
        assert ended(child) == 0
        assert len(server.requests) >= 2
    session = store.load("last")
    assert {"tool_started", "tool_finished", "replaced", "usage"} <= set(kinds(session))
    assert "77 nodes" not in session.turns[0].answer
    assert "8 ranks on 4 nodes" in session.turns[0].answer


def test_a_model_that_breaks_off_is_followed_by_the_answerer_without_one(job: Path, store: SessionStore) -> None:
    with model(BREAKS) as (_, names):
        child = started(str(job), "--profile", "scripted", more=names)
        child.expect("scripted")
        ask(child, "Who broke first?")
        child.expect("Next:")
        assert ended(child) == 0
    session = store.load("last")
    assert "fallback" in kinds(session)
    assert kinds(session)[-1] == "done"


def test_a_stopped_answer_is_kept_and_the_session_goes_on(job: Path, store: SessionStore) -> None:
    with model(TALKS_ON) as (_, names):
        child = started(str(job), "--profile", "scripted", more=names)
        child.expect("scripted")
        ask(child, "Who broke first?")
        child.expect("thinking about it")
        child.send("\x1b")
        wait_for(lambda: "cancelled" in kinds(store.load("last")))
        assert ended(child) == 0
    assert "Rank 5 ran out of GPU memory" in store.load("last").turns[0].answer
    child = started("--session", "last", "--profile", "offline")
    child.expect("Who broke first")
    child.expect("offline")
    ask(child, "What should I do now?")
    child.expect("Next:")
    assert ended(child) == 0
    assert [turn.question.text for turn in store.load("last").turns] == ["Who broke first?", "What should I do now?"]
