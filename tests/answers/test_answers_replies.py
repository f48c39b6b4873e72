"""What makes an answer of use at night: the first sentence answers, nothing is told twice, no yes to what is not so."""

from __future__ import annotations

import re

import pytest

from assistant.answers.models import Question
from assistant.answers.replies_verdict import quotation
from assistant.answers.retelling import retold
from assistant.answers.talk import cited
from assistant.cli.explain import DEFAULT
from evals.desks import Opened
from evals.offline.score import text_of
from tests.answers.test_answers_understanding import reader


def said(job: Opened, text: str) -> str:
    """The answer to one question."""
    return text_of(job.answerer().events(Question(text=text)))


def plain(text: str) -> str:
    """Without citations."""
    return re.sub(r" \[[EST]\d+[^\]]*\]", "", text)


@pytest.mark.parametrize(
    "question", [DEFAULT, "what happened, why, and is it safe to restart?", "how sure are you and why"]
)
def test_no_sentence_is_told_twice(question: str, hang: Opened, killed: Opened, healthy: Opened) -> None:
    for job in (hang, killed, healthy):
        prose = plain(re.sub(r"```.*?```", "", said(job, question), flags=re.DOTALL))
        sentences = [one.strip(" -") for one in re.split(r"\.\s|\n", prose) if len(one) > 40]
        assert len(sentences) == len(set(sentences))


def test_the_usual_question_gets_its_why(hang: Opened) -> None:
    text = said(hang, DEFAULT)
    assert text.index("Rank 5 on gpu-a03") < text.index("the only rank that reports no waiting".capitalize())
    assert text.index("only rank that reports") < text.index("py-spy dump --pid PID")


@pytest.mark.parametrize(
    "question",
    ["did rank 2 crash because it ran out of gpu memory?", "was it killed or is it the network", "network or killed?"],
)
def test_a_cause_that_is_not_it_gets_no_yes_from_another_that_is(question: str, killed: Opened) -> None:
    assert "That is the verdict" not in said(killed, question)
    assert "process.killed" in said(killed, question)


def test_a_cause_that_is_it_is_affirmed(killed: Opened) -> None:
    assert said(killed, "was it killed?").startswith("That is the verdict")


def test_the_line_that_was_asked_for_comes_first(killed: Opened) -> None:
    first, _, rest = said(killed, "show me E1").partition("```")
    assert "This is the line" in first
    assert "SIGKILL" in first
    assert "[E1]" in rest


def test_what_is_looked_for_in_vain_is_named(killed: Opened) -> None:
    assert "holds that (flux capacitor)" in said(killed, 'find "flux capacitor"')


def test_from_where_to_resume_begins_with_the_checkpoint(hang: Opened) -> None:
    assert said(hang, "from which checkpoint do I resume").startswith("Last complete checkpoint: iteration 16")


def test_who_wants_one_sentence_gets_the_verdict_and_its_cause(hang: Opened) -> None:
    assert plain(said(hang, "what happened, in one sentence")).count(". ") <= 2


def test_a_line_with_backticks_is_quoted_as_it_stands() -> None:
    assert quotation("  cannot run `$(reboot)` on this machine") == "`on this machine`"


def test_a_healthy_run_is_told_in_two_sentences(healthy: Opened) -> None:
    assert plain(said(healthy, "what failed first?")).count("Nothing failed") == 1
    assert "prove nobody's guilt" not in said(healthy, "who is to blame")


def test_a_guess_names_what_the_question_names(killed: Opened) -> None:
    named = reader(killed).read("rank 3")[0].named
    assert retold("place", named) == "How did rank 3 do?"
    assert retold("why_not", reader(killed).read("the network")[0].named) == "Was it a matter of network?"
    assert retold("find", named) == ""


def test_citations_stand_before_the_point_and_once() -> None:
    assert cited("It ended [E1, E2].", "E2", "T1") == "It ended [E1, E2, T1]."
    assert cited("It ended.", "T1") == "It ended [T1]."
    assert cited("It ended") == "It ended"
