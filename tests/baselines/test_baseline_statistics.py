from __future__ import annotations

import pytest

from assistant.baselines.choice import choose_most_similar
from assistant.baselines.statistics import from_scans, with_run
from assistant.events.models import Scan
from evals.planted import Plan, rank_streams


def healthy(ranks: int = 4, iterations: int = 20, start: str = "build model of <*> layers", extra: str = "") -> Scan:
    plan = Plan(rank_streams(ranks), facts=({"world_size": str(ranks)},))
    for rank in range(ranks):
        plan.say(rank, start, time=0.0)
        for number in range(8):
            plan.say(rank, f"setting {'abcdefgh'[number]} of {start}", time=1.0)
        for iteration in range(iterations):
            plan.mark(rank, "iteration", time=10.0 + iteration, iteration=iteration)
            plan.say(rank, "allocator grew", time=10.0 + iteration)
        if extra:
            plan.say(rank, extra)
    return plan.scan()


def test_rates_are_counted_per_writer_and_per_iteration() -> None:
    scan = healthy(ranks=4, iterations=20)
    baseline = from_scans([scan])
    stats = next(stats for stats in baseline.templates.values() if stats.text == "allocator grew")
    assert stats.count == 80
    assert stats.per_writer.typical == pytest.approx(20)
    assert stats.per_iteration.typical == pytest.approx(1)


def test_the_presence_share_grows_with_each_run_that_writes_a_template() -> None:
    baseline = from_scans([healthy(), healthy(iterations=21), healthy(iterations=22, extra="retry of a write")])
    key = next(key for key, stats in baseline.templates.items() if stats.text == "retry of a write")
    assert len(baseline.runs) == 3
    assert baseline.presence(key) == pytest.approx(1 / 3)


def test_the_same_run_counts_once() -> None:
    baseline = from_scans([healthy(), healthy()])
    assert len(baseline.runs) == 1
    assert with_run(baseline, healthy()) is baseline


def test_a_word_that_became_variable_in_one_run_does_not_split_a_template() -> None:
    baseline = from_scans(
        [healthy(extra="loaded shard alpha from disk"), healthy(21, extra="loaded shard <*> from disk")]
    )
    held = [stats for stats in baseline.templates.values() if stats.text.startswith("loaded")]
    assert [(stats.text, stats.runs) for stats in held] == [("loaded shard <*> from disk", 2)]


def test_a_run_that_writes_two_variants_of_a_template_is_one_run() -> None:
    first = healthy(extra="loaded shard <*> from disk")
    plan = Plan(rank_streams(1))
    plan.say(0, "loaded shard alpha from disk")
    plan.say(0, "loaded shard beta from disk")
    baseline = from_scans([first, plan.scan()])
    stats = next(stats for stats in baseline.templates.values() if stats.text.startswith("loaded"))
    assert stats.runs == 2


def test_the_family_whose_lines_the_job_shares_is_chosen() -> None:
    ours, other = from_scans([healthy()], "gpt"), from_scans([healthy(start="open the <*> image records")], "resnet")
    choice = choose_most_similar(healthy(ranks=16, iterations=500), [other, ours])
    assert choice.baseline is ours
    assert choice.reason.startswith("gpt: ")


def test_a_job_that_died_at_start_up_still_finds_its_family() -> None:
    choice = choose_most_similar(healthy(iterations=0), [from_scans([healthy()], "gpt")])
    assert choice.baseline is not None


def test_a_job_of_no_known_family_gets_no_baseline() -> None:
    choice = choose_most_similar(healthy(start="something else altogether"), [from_scans([healthy()], "gpt")])
    assert choice.baseline is None
    assert "gpt" in choice.reason


def test_without_baselines_there_is_nothing_to_choose() -> None:
    assert choose_most_similar(healthy(), []).baseline is None
