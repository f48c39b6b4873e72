from __future__ import annotations

import math
from dataclasses import replace

import pytest

from assistant.events.models import Scan
from assistant.intake.models import Stream, WriterKind
from assistant.patterns.models import TemporalResult
from assistant.patterns.temporal import compare, switched_off
from evals.planted import Plan, rank_streams


def train(plan: Plan, stream: int, until: int, start: int = 0, pace: float = 1.0, say: str = "forward <*>") -> None:
    for iteration in range(start, until):
        plan.mark(stream, "iteration", time=100 + pace * iteration, iteration=iteration, loss=2.0)
        plan.say(stream, say, time=100 + pace * iteration)


def test_the_rank_that_stopped_writing_is_silent() -> None:
    plan = Plan(rank_streams(8))
    for rank in range(8):
        train(plan, rank, 20)
        if rank != 5:
            plan.say(rank, "waited for the others in vain", time=700.0, faults=("timeout",))
    progress = compare(plan.scan()).progress
    assert [rank.rank for rank in progress if rank.silent] == [5]
    assert [rank.rank for rank in progress if rank.lagging] == []


def test_the_rank_whose_last_iteration_is_lower_lags() -> None:
    plan = Plan(rank_streams(8))
    for rank in range(8):
        train(plan, rank, 19 if rank == 3 else 20)
    progress = compare(plan.scan()).progress
    assert [rank.rank for rank in progress if rank.lagging] == [3]
    assert progress[3].last_iteration == 18


def test_ranks_that_never_write_after_the_start_are_not_silent() -> None:
    plan = Plan(rank_streams(8))
    for rank in range(8):
        plan.say(rank, "hello", time=float(rank))
    train(plan, 0, 500)
    assert not any(rank.silent or rank.lagging for rank in compare(plan.scan()).progress)


def test_a_whole_node_can_fall_silent() -> None:
    plan = Plan(rank_streams(8, per_node=4))
    for rank in range(8):
        train(plan, rank, 20 if rank < 4 else 500)
    assert {rank.node for rank in compare(plan.scan()).progress if rank.silent} == {"n000"}


def test_half_of_the_ranks_scattered_over_the_nodes_are_not_called_silent() -> None:
    plan = Plan(rank_streams(8, per_node=4))
    for rank in range(8):
        train(plan, rank, 20 if rank % 2 else 500)
    assert not any(rank.silent for rank in compare(plan.scan()).progress)


def test_silence_without_times_shows_in_the_iteration_of_the_last_line() -> None:
    plan = Plan(rank_streams(6))
    for rank in range(6):
        for iteration in range(9 if rank == 2 else 30):
            plan.mark(rank, "iteration", iteration=iteration)
    assert [rank.rank for rank in compare(plan.scan()).progress if rank.silent] == [2]


def test_a_new_epoch_is_no_step_back() -> None:
    plan = Plan(rank_streams(3))
    for rank in range(3):
        train(plan, rank, 20)
        train(plan, rank, 6 if rank else 3)
    result = compare(plan.scan())
    assert [rank.rank for rank in result.progress if rank.lagging] == [0]
    assert result.progress[1].last_iteration == 5


def test_the_pace_is_the_median_iteration_time() -> None:
    plan = Plan(rank_streams(1))
    train(plan, 0, 30, pace=2.5)
    result = compare(plan.scan())
    assert result.iteration_seconds == pytest.approx(2.5)
    assert result.last_iteration == 29


def test_stated_iteration_times_that_the_clock_contradicts_are_not_believed() -> None:
    plan = Plan(rank_streams(1))
    for iteration in range(30):
        plan.mark(0, "iteration", time=2.0 * iteration, iteration=iteration, seconds=2.0 * iteration)
    assert compare(plan.scan()).iteration_seconds == pytest.approx(2.0)


def test_a_lasting_slowdown_is_a_change_point_and_a_hiccup_is_not() -> None:
    plan, hiccup = Plan(rank_streams(1)), Plan(rank_streams(1))
    for iteration in range(200):
        noise = 0.02 * math.sin(iteration * 7.0)
        plan.mark(0, "iteration", iteration=iteration, seconds=(1.0 if iteration < 120 else 1.5) + noise)
        hiccup.mark(0, "iteration", iteration=iteration, seconds=(9.0 if 100 < iteration < 105 else 1.0) + noise)
    change = compare(plan.scan()).change_point
    assert change is not None
    assert change[0] == 120
    assert change[1] == pytest.approx(1.0, abs=0.03)
    assert change[2] == pytest.approx(1.5, abs=0.03)
    quiet = compare(hiccup.scan())
    assert quiet.change_point is None
    assert quiet.odd_iterations[0][1] == 101
    assert "9.0x" in quiet.odd_iterations[0][3]


def test_slow_iterations_with_an_evaluation_are_compared_with_their_like() -> None:
    plan = Plan(rank_streams(1))
    time = 0.0
    for iteration in range(300):
        time += 1.0
        if iteration % 20 == 19:
            plan.mark(0, "stage", time=time, stage="evaluation")
            time += 30.0
        plan.mark(0, "iteration", time=time, iteration=iteration)
    result = compare(plan.scan())
    assert result.iteration_seconds == pytest.approx(1.0)
    assert result.odd_iterations == ()


def test_a_job_that_goes_on_without_progress_stands_still() -> None:
    plan = Plan(rank_streams(2))
    for rank in range(2):
        train(plan, rank, 50)
        plan.say(rank, "still waiting", time=149 + 600.0)
    assert compare(plan.scan()).stalled_for == pytest.approx(600)


@pytest.mark.parametrize("after", [5.0, 59.0])
def test_a_short_wait_after_the_last_iteration_is_no_standstill(after: float) -> None:
    plan = Plan(rank_streams(1))
    train(plan, 0, 50)
    plan.say(0, "bye", time=149 + after)
    assert compare(plan.scan()).stalled_for is None


def test_what_the_kernel_logs_after_the_job_is_no_standstill() -> None:
    plan = Plan([*rank_streams(1), Stream(1, "dmesg", "", WriterKind.KERNEL, node="n000")])
    train(plan, 0, 50)
    plan.say(1, "usb device found", time=90_000.0)
    assert compare(plan.scan()).stalled_for is None


def test_a_run_that_reached_its_goal_does_not_stand_still() -> None:
    plan = Plan(rank_streams(1))
    train(plan, 0, 50)
    plan.mark(0, "goal", time=150.0)
    plan.say(0, "bye", time=5000.0)
    assert compare(plan.scan()).stalled_for is None


def test_the_last_saved_checkpoint_is_found() -> None:
    plan = Plan(rank_streams(1))
    train(plan, 0, 10)
    plan.mark(0, "checkpoint", iteration=9)
    train(plan, 0, 18, start=10)
    assert compare(plan.scan()).last_checkpoint == 9


def test_a_checkpoint_that_names_no_iteration_belongs_to_the_one_before_it() -> None:
    plan = Plan(rank_streams(1))
    train(plan, 0, 10)
    plan.mark(0, "checkpoint")
    assert compare(plan.scan()).last_checkpoint == 9


def odd_job(extra_at: int, text: str = "link went down", iterations: int = 60) -> Scan:
    plan = Plan(rank_streams(2))
    for rank in range(2):
        for iteration in range(iterations):
            plan.mark(rank, "iteration", iteration=iteration)
            for step in ("load", "forward", "backward", "reduce"):
                plan.say(rank, step)
            if iteration == extra_at and rank == 1:
                plan.say(rank, text)
    return plan.scan()


def test_an_iteration_with_a_new_event_is_odd_and_names_it() -> None:
    scan = odd_job(40)
    result = compare(scan)
    assert [(stream, iteration) for stream, iteration, _, _ in result.odd_iterations] == [(1, 40)]
    assert [scan.templates[event.template].text for event in result.events] == ["link went down"]
    assert result.events[0].streams == (1,)


def test_the_last_iteration_is_not_odd_for_being_cut_short() -> None:
    plan = Plan(rank_streams(1))
    for iteration in range(60):
        plan.mark(0, "iteration", iteration=iteration)
        for step in ("load", "forward", "backward", "reduce") if iteration < 59 else ("load",):
            plan.say(0, step)
    assert compare(plan.scan()).odd_iterations == ()


def test_what_happens_every_so_often_is_odd_at_most_once() -> None:
    plan = Plan(rank_streams(1))
    for iteration in range(300):
        plan.mark(0, "iteration", iteration=iteration)
        plan.say(0, "forward")
        if iteration % 25 == 24:
            plan.say(0, "garbage collected")
    assert len(compare(plan.scan()).odd_iterations) <= 1


def test_an_event_that_healthy_runs_show_makes_no_iteration_odd() -> None:
    scan = odd_job(40)
    usual = next(at for at, template in enumerate(scan.templates) if template.text == "link went down")
    assert compare(scan, dropped=frozenset({usual})).odd_iterations == ()


def test_few_iterations_are_said_to_be_too_few() -> None:
    result = compare(odd_job(5, iterations=8))
    assert result.odd_iterations == ()
    assert "too few iterations" in result.note


def test_an_event_that_first_appears_after_the_last_iteration_is_singled_out() -> None:
    plan = Plan(rank_streams(2))
    for rank in range(2):
        plan.say(rank, "starting")
        train(plan, rank, 5)
        plan.say(rank, "gave up")
    scan = plan.scan()
    assert [scan.templates[event.template].text for event in compare(scan).events] == ["gave up"]


@pytest.mark.parametrize(("value", "word"), [(math.nan, "NaN"), (math.inf, "infinite"), (40.0, "was 40")])
def test_a_broken_or_jumping_loss_makes_its_iteration_odd(value: float, word: str) -> None:
    plan = Plan(rank_streams(1))
    for iteration in range(40):
        plan.mark(0, "iteration", iteration=iteration, loss=value if iteration == 30 else 2.0)
    result = compare(plan.scan())
    assert [odd[1] for odd in result.odd_iterations] == [30]
    assert word in result.odd_iterations[0][3]


def test_a_falling_loss_is_not_odd() -> None:
    plan = Plan(rank_streams(1))
    for iteration in range(200):
        plan.mark(0, "iteration", iteration=iteration, loss=10 / (1 + iteration))
    assert compare(plan.scan()).odd_iterations == ()


def test_without_marks_the_pattern_says_so() -> None:
    plan = Plan(rank_streams(2))
    plan.say(0, "hello")
    result = compare(plan.scan())
    assert not result.ran
    assert result.last_iteration is None
    assert "no iteration" in result.note


def test_switched_off_only_the_plain_facts_remain() -> None:
    plan = Plan(rank_streams(8))
    for rank in range(8):
        train(plan, rank, 19 if rank == 3 else 20)
    result = switched_off(compare(plan.scan()))
    assert not result.ran
    assert result.last_iteration == 19
    assert not any(rank.lagging for rank in result.progress)


def test_an_empty_scan_gives_an_empty_result() -> None:
    result = compare(Plan([]).scan())
    assert isinstance(result, TemporalResult)
    assert result.progress == ()


def test_a_clock_that_the_order_of_lines_contradicts_makes_no_silence() -> None:
    plan = Plan([replace(stream, group="job.log", last_line=100 + stream.id) for stream in rank_streams(8)])
    for rank in range(8):
        plan.say(rank, "bye", time=5000.0 if rank < 7 else 0.0)
    assert not any(rank.silent for rank in compare(plan.scan()).progress)
