"""Who differs, who is gone with its whole node, what came first, and who was only told to stop."""

from __future__ import annotations

import pytest

from assistant.diagnosis.exits import exits, without_stopped
from assistant.diagnosis.models import Population
from assistant.diagnosis.silence import _no_report_of_a_node
from assistant.signals.models import Signal, SignalKind
from tests.diagnosis.conftest import Diagnose
from tests.diagnosis.jobs import healthy_rank, lost_peer, stamp, steps, traceback, waited

MISMATCH = (
    "RuntimeError: DDP expects same model across all ranks, but Rank {rank} has 148 params, "
    "while rank 0 has inconsistent 146 params."
)


def ranks(world: int, last: int, per_node: int = 0) -> dict[int, tuple[str, str]]:
    def name(rank: int) -> str:
        return f"n{rank // per_node + 1:02d}/rank-{rank}.log" if per_node else f"rank-{rank}.log"

    return {rank: (name(rank), healthy_rank(rank, world, last)) for rank in range(world)}


def told(files: dict[int, tuple[str, str]], more: dict[int, str]) -> dict[str, str]:
    return {name: text + more.get(rank, "") for rank, (name, text) in files.items()}


@pytest.mark.parametrize(
    ("reporters", "blamed"),
    [
        ((1, 2, 3), [0]),  # all others differ from rank 0
        ((2,), [2]),  # one differs from rank 0 and so from all
        ((1, 2), []),  # half report: either half may be the odd one
        ((0, 1, 2, 3), []),
    ],
)
def test_of_ranks_that_hold_different_models_the_one_alone_is_blamed(
    job: Diagnose, reporters: tuple[int, ...], blamed: list[int]
) -> None:
    more = {rank: traceback(4 + 0.1 * rank, MISMATCH.format(rank=rank)) for rank in reporters}
    case = job(told(ranks(4, 0), more))
    assert case.verdict.cause == "collective.mismatch"
    assert [s.rank for s in case.suspects] == blamed


@pytest.mark.parametrize(
    ("reporters", "blamed"),
    [
        ((2, 3, 4, 5), [("n01", None)]),  # both ranks beside rank 0 agree with it
        ((2, 3), [("n02", 2), ("n02", 3)]),
        ((2, 4, 5), []),
    ],
)
def test_nodes_that_hold_different_models_are_told_by_their_ranks(
    job: Diagnose, reporters: tuple[int, ...], blamed: list[tuple[str, int | None]]
) -> None:
    more = {rank: traceback(4 + 0.1 * rank, MISMATCH.format(rank=rank)) for rank in reporters}
    case = job(told(ranks(6, 0, per_node=2), more))
    assert [(s.node, s.rank) for s in case.suspects] == blamed


def test_of_two_nodes_that_hold_different_models_neither_is_blamed(job: Diagnose) -> None:
    more = {rank: traceback(4 + 0.1 * rank, MISMATCH.format(rank=rank)) for rank in (2, 3)}
    assert job(told(ranks(4, 0, per_node=2), more)).suspects == ()


def test_of_two_ranks_that_hold_different_models_neither_is_blamed(job: Diagnose) -> None:
    case = job(told(ranks(2, 0), {1: traceback(4, MISMATCH.format(rank=1))}))
    assert case.verdict.cause == "collective.mismatch"
    assert case.suspects == ()


def test_a_node_that_is_gone_is_named_with_its_ranks(job: Diagnose) -> None:
    """Two of four nodes' ranks are too many for single silent ranks, but all are of one node."""
    files = ranks(6, 6, per_node=2)
    case = job(told(files, {rank: waited(26 + 0.1 * rank) for rank in (0, 1, 4, 5)}))
    assert case.verdict.cause == "collective.hang"
    assert {s.node for s in case.suspects} == {"n02"}
    assert any("only node" in reason for reason in case.suspects[0].reasons)


def test_a_node_of_which_one_rank_still_reports_is_not_gone(job: Diagnose) -> None:
    files = ranks(6, 6, per_node=2)
    case = job(told(files, {rank: waited(26 + 0.1 * rank) for rank in (0, 1, 2, 4, 5)}))
    assert [s.rank for s in case.suspects] == [3]


def test_silence_on_two_nodes_names_no_node(job: Diagnose) -> None:
    files = ranks(8, 6, per_node=2)
    case = job(told(files, {rank: waited(26 + 0.1 * rank) for rank in (0, 1, 2, 3)}))
    assert case.suspects == ()


def test_of_two_nodes_the_silent_one_is_named_and_none_where_both_report(job: Diagnose) -> None:
    files = ranks(4, 6, per_node=2)
    silent = job(told(files, {rank: waited(26 + 0.1 * rank) for rank in (0, 1)}))
    assert {s.node for s in silent.suspects} == {"n02"}
    both = job(told(files, {rank: waited(26 + 0.1 * rank) for rank in range(4)}))
    assert both.verdict.cause == "collective.hang"
    assert both.suspects == ()


PEOPLE = Population(frozenset(range(4)), frozenset({"a", "b"}), {0: "a", 1: "a", 2: "b", 3: "b"}, 4)


@pytest.mark.parametrize(
    ("everyone", "victims", "named"),
    [
        ({0, 1, 2, 3}, {0, 1}, [2, 3]),
        ({0, 1, 2, 3}, {0, 2}, []),
        ({0, 1, 2, 3}, set(), []),
        ({0, 1, 2, 3}, {0, 1, 2, 3}, []),
        ({0, 1, 2, 3, 4}, {0, 1}, []),  # the node of rank 4 is not known
    ],
)
def test_a_node_is_gone_where_all_its_ranks_are_silent(everyone: set[int], victims: set[int], named: list[int]) -> None:
    assert [rank for rank, _ in _no_report_of_a_node(everyone, victims, PEOPLE)] == named


def at(second: float, report: str) -> str:
    """The last line of a report, with a time of its own."""
    return f"{stamp(second)} ERROR {report.splitlines()[-1]}\n"


def test_connections_that_break_after_a_timeout_are_a_hang(job: Diagnose) -> None:
    more = {rank: at(26 + 0.1 * rank, waited(0)) + at(40, lost_peer(0)) for rank in range(4)}
    more[3] = at(45, lost_peer(0))
    assert job(told(ranks(4, 6), more)).verdict.cause == "collective.hang"


def test_connections_that_break_long_before_any_timeout_are_no_hang(job: Diagnose) -> None:
    more = {rank: at(14 + 0.1 * rank, lost_peer(0)) for rank in range(3)}
    more[3] = at(14, lost_peer(0)) + at(60, waited(0))
    case = job(told(ranks(4, 6), more))
    assert case.verdict.cause.startswith("network.")
    assert case.suspects == ()


def test_connections_alone_are_no_hang(job: Diagnose) -> None:
    case = job(told(ranks(4, 6), {rank: lost_peer(14 + 0.1 * rank) for rank in range(4)}))
    assert case.verdict.cause.startswith("network.")
    assert case.suspects == ()


def test_the_nature_is_told_without_times_too(job: Diagnose) -> None:
    reports = [waited(0).splitlines()[-1], lost_peer(0).splitlines()[-1]]
    files = {
        f"rank-{rank}.log": "\n".join((f"rank {rank} of world size 4", "step 1 loss 2.0", *reports, ""))
        for rank in range(4)
    }
    assert job(files).verdict.cause == "collective.hang"


EIGHT = Population(frozenset(range(8)), frozenset({"n1"}), dict.fromkeys(range(8), "n1"), 8)


def ended(rank: int, code: int) -> Signal:
    return Signal("torchelastic", SignalKind.EXIT, node="n1", rank=rank, exitcode=code)


def test_without_words_of_being_stopped_an_end_stays_its_own() -> None:
    ends = exits([ended(0, 1), ended(1, -9)], EIGHT, 0)
    assert without_stopped(ends, ()) == ends


def test_a_rank_that_was_told_to_stop_is_not_blamed_for_its_exit_code(job: Diagnose) -> None:
    stopped = traceback(20, "torch.distributed.elastic.multiprocessing.api.SignalException: Process 42 got signal: 15")
    files = told(ranks(4, 6), {2: traceback(12, "KeyError: 'attention_mask'"), **dict.fromkeys((0, 1, 3), stopped)})
    assert [s.rank for s in job(files).suspects] == [2]


def goal(rank: int, more: str = "") -> str:
    return f"{stamp(20)} INFO training completed successfully\n{more}"


def test_a_progress_bar_drawn_once_more_after_the_goal_is_no_new_beginning(job: Diagnose) -> None:
    again = f"{stamp(20.1)} INFO step 6 loss 2.4500 time 1.00s\n"
    assert job(told(ranks(2, 6), {rank: goal(rank, again) for rank in range(2)})).status == "healthy"


def test_steps_beyond_the_goal_are_a_new_beginning(job: Diagnose) -> None:
    more = goal(0, steps(7, 9, start=21))
    assert job(told(ranks(2, 6), dict.fromkeys(range(2), more))).status == "incomplete"


def test_an_error_in_what_began_after_the_goal_is_a_failure(job: Diagnose) -> None:
    more = goal(0, steps(7, 9, start=21) + traceback(31, "ValueError: sequence length 4097 exceeds 4096"))
    assert job(told(ranks(2, 6), dict.fromkeys(range(2), more))).status == "failed"


def test_a_rank_that_goes_on_after_another_reached_the_goal_is_still_running(job: Diagnose) -> None:
    files = told(ranks(2, 6), {0: goal(0), 1: goal(1, steps(7, 8, start=21))})
    assert job(files).status == "incomplete"
