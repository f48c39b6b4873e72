"""Marks of answers whose worth is plain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.case.vocabulary import Status
from evals.prediction import Prediction, Suspect
from evals.scorers.marks import abilities, mark
from evals.truth import Provable, Truth
from tests.evals.sets import QUIET, RIGHT, WRONG, healthy_of, truth_of

ALL = abilities([RIGHT])
NOBODY = Provable(status=Status.FAILED, causes=("collective.mismatch", "unknown"))


def marks_of(answer: Prediction, truth: Truth) -> dict[str, bool]:
    return mark(answer, truth, ALL).marks


def test_a_right_answer_has_every_mark() -> None:
    marks = marks_of(RIGHT, truth_of())
    assert set(marks.values()) == {True}
    assert {"rank@1", "node@8", "blame_only", "status", "cause", "stage", "iteration", "action", "verdict"} <= set(
        marks
    )
    assert "no_blame" not in marks


def test_an_always_wrong_answer_has_none() -> None:
    marked = mark(WRONG, truth_of(), ALL)
    assert set(marked.marks.values()) == {False}
    assert "cause memory.gpu_oom, not code.exception or data.invalid" in marked.wrong
    assert "blame rank 0, not rank 2" in marked.wrong


def test_blaming_nobody_is_right_only_where_nobody_is_guilty() -> None:
    nobody = replace(RIGHT, blamed=())
    assert marks_of(nobody, truth_of())["blame"] is False
    assert marks_of(nobody, truth_of(provable=NOBODY))["no_blame"] is True
    assert marks_of(RIGHT, truth_of(provable=NOBODY))["no_blame"] is False
    assert marks_of(QUIET, healthy_of("job-002"))["no_blame"] is True


def test_where_nobody_is_accepted_too_both_are_right_and_rankings_are_not_asked() -> None:
    hinted = truth_of(provable=truth_of().provable.model_copy(update={"nobody_too": True}))
    for blamed, right in (((), True), ((Suspect(2),), True), ((Suspect(3),), False)):
        marks = marks_of(replace(RIGHT, blamed=blamed), hinted)
        assert marks["blame"] is right
        assert "rank@1" not in marks


def test_an_innocent_beside_the_guilty_costs_one_mark() -> None:
    marks = marks_of(replace(RIGHT, blamed=(Suspect(2), Suspect(3))), truth_of())
    assert (marks["blame"], marks["blame_only"]) == (True, False)


@pytest.mark.parametrize(
    ("ranks", "depths"), [((0, 2), {3, 5, 8}), ((0, 1, 3, 4, 5, 2), {8}), ((0,), set()), ((), set())]
)
def test_depth_of_a_ranking(ranks: tuple[int, ...], depths: set[int]) -> None:
    marks = marks_of(replace(RIGHT, ranks=ranks), truth_of())
    assert {k for k in (1, 3, 5, 8) if marks[f"rank@{k}"]} == depths


def test_a_node_stands_where_no_rank_can_be_told() -> None:
    lost = truth_of(provable=Provable(status=Status.FAILED, causes=("scheduler.node_fail",), nodes=("n02",)))
    assert marks_of(replace(RIGHT, blamed=(Suspect(None, "n02"),)), lost)["blame"] is True
    assert "rank@1" not in marks_of(RIGHT, lost)


def test_nodes_are_not_asked_of_a_job_on_one_node() -> None:
    assert "node@1" not in marks_of(RIGHT, truth_of(nodes=("n02",)))


@pytest.mark.parametrize(
    ("said", "exact", "near"), [(7, True, True), (8, False, True), (9, False, False), (None, False, False)]
)
def test_iterations(said: int | None, exact: bool, near: bool) -> None:
    marks = marks_of(replace(RIGHT, iteration=said), truth_of())
    assert (marks["iteration"], marks["iteration_near"]) == (exact, near)


def test_cannot_tell_is_right_where_it_is_accepted() -> None:
    unknown = replace(RIGHT, cause="unknown")
    assert marks_of(unknown, truth_of())["unknown_rightly"] is False
    assert marks_of(unknown, truth_of(provable=NOBODY))["unknown_rightly"] is True
    hidden = truth_of(provable=Provable(status=Status.FAILED, causes=("unknown",)))
    assert marks_of(unknown, hidden)["unknown_said"] is True
    assert marks_of(RIGHT, hidden)["unknown_said"] is False
    assert "unknown_rightly" not in marks_of(RIGHT, hidden)


def test_further_failures() -> None:
    second = Provable(status=Status.FAILED, causes=("storage.disk_full",), ranks=(3,))
    both = truth_of(provable=truth_of().provable.model_copy(update={"further": (second,)}))
    assert marks_of(replace(RIGHT, further=("storage.disk_full",)), both)["further_found"] is True
    assert marks_of(RIGHT, both)["further_found"] is False
    assert marks_of(replace(RIGHT, further=("storage.disk_full",)), truth_of())["further_none"] is False


def test_what_a_tool_cannot_say_is_no_mark() -> None:
    only_ranks = Prediction(ranks=(2,))
    able = abilities([only_ranks])
    assert able == {"rank"}
    assert set(mark(only_ranks, truth_of(), able).marks) == {"rank@1", "rank@3", "rank@5", "rank@8"}


def test_a_column_that_a_tool_fills_elsewhere_is_wrong_where_it_is_left_out() -> None:
    able = abilities([RIGHT, Prediction()])
    assert mark(Prediction(), truth_of(), able).marks["cause"] is False


def test_a_broken_answer_is_wrong_in_every_column() -> None:
    broken = mark(replace(RIGHT, error="TimeoutError: too long"), truth_of(), ALL)
    assert set(broken.marks.values()) == {False}
    assert broken.wrong == ("broke: TimeoutError: too long",)


def test_a_healthy_job_may_not_be_called_failed() -> None:
    healthy = healthy_of("job-002")
    assert marks_of(QUIET, healthy)["healthy_not_failed"] is True
    assert marks_of(replace(QUIET, status=Status.INCOMPLETE), healthy)["healthy_not_failed"] is True
    assert marks_of(replace(QUIET, status=Status.INCOMPLETE), healthy)["status"] is False
    assert marks_of(RIGHT, healthy)["healthy_not_failed"] is False
