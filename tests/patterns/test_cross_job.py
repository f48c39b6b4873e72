from __future__ import annotations

from assistant.baselines.statistics import from_scans
from assistant.events.models import Scan
from assistant.patterns.cross_job import compare
from assistant.patterns.models import EventScore, PatternResult
from evals.planted import Plan, rank_streams


def job(ranks: int = 4, iterations: int = 20, extra: dict[str, int] | None = None, on: int | None = None) -> Scan:
    """Every rank starts up, iterates (with one line an iteration) and says `extra` lines so many times each."""
    plan = Plan(rank_streams(ranks))
    for rank in range(ranks):
        plan.say(rank, "model built", time=0.0)
        for iteration in range(iterations):
            plan.mark(rank, "iteration", time=10.0 + iteration, iteration=iteration)
            plan.say(rank, "memory compacted", time=10.0 + iteration)
        for text, count in (extra or {}).items():
            if on is None or on == rank:
                plan.say(rank, text, count)
    return plan.scan()


def events(scan: Scan, result: PatternResult) -> dict[str, EventScore]:
    return {scan.templates[event.template].text: event for event in result.events}


def dropped(scan: Scan, result: PatternResult) -> set[str]:
    return {scan.templates[template].text for template in result.dropped}


def test_what_no_healthy_run_shows_scores_one_and_says_so() -> None:
    baseline = from_scans([job(), job(iterations=21), job(iterations=22)])
    scan = job(extra={"device fell off the bus": 1}, on=2)
    event = events(scan, compare(scan, baseline))["device fell off the bus"]
    assert event.score == 1
    assert event.why == "absent in 3 healthy runs"
    assert event.streams == (2,)


def test_ordinary_events_are_dropped() -> None:
    scan = job(iterations=25)
    result = compare(scan, from_scans([job()]))
    assert result.events == ()
    assert dropped(scan, result) == {"model built", "iteration line <*>", "memory compacted"}


def test_a_full_job_is_not_unlike_its_short_trial_run() -> None:
    scan = job(ranks=32, iterations=400)
    assert compare(scan, from_scans([job(ranks=2, iterations=10)])).events == ()


def test_an_event_whose_rate_exploded_is_kept() -> None:
    baseline = from_scans([job(extra={"retry of a send": 1}), job(iterations=21, extra={"retry of a send": 2})])
    scan = job(extra={"retry of a send": 1000}, on=1)
    event = events(scan, compare(scan, baseline))["retry of a send"]
    assert event.score > 0.7
    assert event.why.endswith("x the healthy rate")


def test_a_small_excess_is_ordinary() -> None:
    baseline = from_scans([job(extra={"retry of a send": 2})])
    scan = job(extra={"retry of a send": 5})
    assert "retry of a send" in dropped(scan, compare(scan, baseline))


def test_a_protected_template_is_never_dropped() -> None:
    baseline = from_scans([job(extra={"Xid <*>": 1})])
    scan = job(extra={"Xid <*>": 1})
    index = next(at for at, template in enumerate(scan.templates) if template.text == "Xid <*>")
    result = compare(scan, baseline, protected=frozenset({index}))
    assert index not in result.dropped
    assert events(scan, result)["Xid <*>"].score == 0


def test_an_event_that_few_healthy_runs_show_scores_less_than_one_that_none_shows() -> None:
    runs = [job(iterations=20 + number) for number in range(9)]
    scan = job(extra={"slow disk": 1})
    seldom = events(scan, compare(scan, from_scans([*runs, job(extra={"slow disk": 1})])))["slow disk"]
    assert 0 < seldom.score < 1
    assert seldom.why == "in only 1 of 10 healthy runs"
    half = from_scans([job(), job(iterations=19, extra={"slow disk": 1})])
    assert "slow disk" in dropped(scan, compare(scan, half))


def test_a_line_of_one_rank_that_every_rank_writes_now_has_spread() -> None:
    scan = job(ranks=16, extra={"falling back to sockets": 1})
    event = events(scan, compare(scan, from_scans([job(ranks=16, extra={"falling back to sockets": 1}, on=0)])))
    assert event["falling back to sockets"].why.startswith("written by 100% of the streams")


def test_one_mixed_log_of_a_larger_job_may_hold_a_line_of_every_rank() -> None:
    def mixed(ranks: int) -> Scan:
        plan = Plan([rank_streams(1)[0].__class__(0, "job.log", "")], facts=({"world_size": str(ranks)},))
        plan.say(0, "hello from a rank", ranks)
        plan.say(0, "hello from the first rank")
        return plan.scan()

    assert compare(mixed(512), from_scans([mixed(8)])).events == ()


def test_a_word_that_is_variable_only_in_the_longer_run_is_no_new_event() -> None:
    scan = job(extra={"loaded shard <*> from disk": 4})
    result = compare(scan, from_scans([job(extra={"loaded shard alpha from disk": 4})]))
    assert "loaded shard <*> from disk" in dropped(scan, result)


def test_without_a_baseline_the_pattern_does_not_run() -> None:
    result = compare(job(), None)
    assert not result.ran
    assert result.note


def test_the_same_input_gives_the_same_result() -> None:
    scan, baseline = job(extra={"a b": 1, "c d": 2}), from_scans([job()])
    assert compare(scan, baseline) == compare(scan, baseline)
