"""Replies with which a case is closed: sure, whose, lost, ticket, drain, files, close, act."""

from __future__ import annotations

import pytest

from assistant.answers.models import Question, Standing, Text
from assistant.answers.offline import OfflineAnswerer
from assistant.faults.library import load_library
from assistant.tools.calls import Calls
from assistant.tools.desk import Desk
from evals.desks import Opened, glossary, intents, opened
from evals.offline.score import text_of
from tests.samples import all_cases

CLOSING = (
    "how sure are you",
    "is it hardware or software",
    "how much work is lost",
    "what do I write in the ticket",
    "which log should I open first",
    "can I close this",
    "do I need to drain a node",
    "restart it for me",
)


def said(job: Opened, text: str) -> str:
    """The answer to one question."""
    return text_of(job.answerer().events(Question(text=text)))


def test_lost_work_is_counted_from_the_last_complete_checkpoint(hang: Opened) -> None:
    text = said(hang, "how much work is lost?")
    assert "Last complete checkpoint: iteration 16" in text
    assert "Since the last complete checkpoint: 6 iterations" in text


def test_without_a_checkpoint_it_says_that_all_is_lost(killed: Opened) -> None:
    assert "no completed checkpoint" in said(killed, "how much did we lose")


def test_how_sure_names_confidence_grounds_and_what_is_open(hang: Opened, killed: Opened) -> None:
    assert said(killed, "how sure are you").startswith("Confidence is high: established")
    doubtful = said(hang, "how sure are you")
    assert doubtful.startswith("Confidence is medium")
    assert "py-spy" in doubtful


def test_sides_are_told_apart(hang: Opened, killed: Opened) -> None:
    assert "from outside the program" in said(killed, "is it hardware or software")
    assert "Nothing in the logs that were read points to broken hardware" in said(hang, "whose fault, ours or theirs")
    with opened("tests/fixtures/torchrun/job-14") as missing_module:
        assert "That is the program" in said(missing_module, "is it the box or our code")


def test_no_node_is_drained_without_evidence_against_it(killed: Opened) -> None:
    text = said(killed, "do we need to drain n01")
    assert "Not on this evidence" in text
    assert "n01 is not blamed" in text


def test_a_node_that_has_to_go_is_named() -> None:
    for case in all_cases().values():
        if case.verdict.action.kind.value == "replace_node" and case.suspects and case.suspects[0].node:
            answerer = OfflineAnswerer(Calls(Desk(case, load_library(strict=False), glossary())), intents())
            text = text_of(answerer.events(Question(text="do I need to drain a node")))
            assert f"take out {case.suspects[0].node}" in text


def test_the_files_of_the_evidence_are_listed_with_their_lines(killed: Opened) -> None:
    assert "n03/launcher.log:" in said(killed, "which log should I open first")


def test_the_text_for_a_ticket_names_cause_place_and_next_step(killed: Opened) -> None:
    text = said(killed, "what do I tell my boss")
    assert "`process.killed` (established)" in text
    assert "Blamed: n03 rank 2" in text
    assert "What to do now:" in text


def test_a_case_is_not_closed_before_its_remedy(killed: Opened, healthy: Opened) -> None:
    assert "Not before this is done" in said(killed, "can I close the ticket")
    assert "nothing is left to do" in said(healthy, "can I close the ticket")


def test_where_nothing_failed_every_reply_says_so(healthy: Opened) -> None:
    for question in CLOSING[1:4] + CLOSING[5:7]:
        assert "othing" in said(healthy, question), question
        assert "Blamed:" not in said(healthy, question)


@pytest.mark.parametrize("question", CLOSING)
def test_every_sentence_is_sound(hang: Opened, killed: Opened, healthy: Opened, question: str) -> None:
    for job in (hang, killed, healthy):
        events = job.answerer().events(Question(text=question))
        assert [one.text for one in events if isinstance(one, Text) and one.standing is Standing.UNSUPPORTED] == []


def test_signs_of_another_cause_are_shown_and_not_denied() -> None:
    with opened("evals/data/lab/job-117") as job:
        text = said(job, "did the kernel oom killer get us")
    assert "There is a sign of it" in text
    assert "invoked oom-killer" in text
    assert "Nothing in the logs" not in text


def test_alternatives_show_the_line_they_rest_on() -> None:
    with opened("evals/data/lab/job-090") as job:
        events = list(job.answerer().events(Question(text="what else could it be")))
    assert "data.loader_worker" in text_of(events)
    assert not [one for one in events if isinstance(one, Text) and one.standing is Standing.UNSUPPORTED]


def test_a_phrase_of_the_log_is_explained_without_quotation_marks(killed: Opened) -> None:
    assert "other side of a connection went away" in said(killed, "what does connection reset by peer mean")
