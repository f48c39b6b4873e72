"""An explanation that a person asks about is weighed, and keeps its id for the session."""

from __future__ import annotations

import pytest

from assistant.answers.considering import NOTHING
from assistant.answers.intents import load_intents
from assistant.answers.models import Hypothesis, Question
from assistant.answers.offline import OfflineAnswerer
from assistant.tools.calls import Calls
from evals.desks import Opened, opened
from evals.offline.score import text_of


def weighed(calls: Calls, text: str) -> list[Hypothesis]:
    events = OfflineAnswerer(calls, load_intents()).events(Question(text=text))
    return [event for event in events if isinstance(event, Hypothesis)]


@pytest.fixture
def calls(killed: Opened) -> Calls:
    return killed.calls(search=False)


def test_what_the_logs_do_not_show_has_only_evidence_against_it(calls: Calls) -> None:
    (one,) = weighed(calls, "Could it be network.link?")
    assert (one.id, one.state, one.supporting) == ("H1", "proposed", ())
    assert one.opposing
    assert one.statement == NOTHING


def test_the_verdict_itself_has_evidence_for_it(calls: Calls) -> None:
    case = calls.desk.case
    (one,) = weighed(calls, f"Could it be {case.verdict.cause}?")
    assert one.state in ("established", "supported")
    assert set(one.supporting) <= set(case.verdict.evidence)
    assert one.opposing == ()


def test_asked_again_it_is_the_same_and_another_gets_the_next_id(calls: Calls) -> None:
    first = weighed(calls, "Could it be numerics.nan?")
    second = weighed(calls, "Could it be memory.shm?")
    again = weighed(calls, "Could it be numerics.nan?")
    assert [one.id for one in (*first, *second, *again)] == ["H1", "H2", "H1"]


def test_lines_that_read_like_a_cause_are_shown_before_it_is_denied() -> None:
    with opened("evals/data/lab/job-047") as job:
        answerer = OfflineAnswerer(job.calls(search=False), load_intents())
        text = text_of(list(answerer.events(Question(text="was it dns?"))))
    assert "Name or service not known" in text
    assert "Nothing in the logs" not in text
