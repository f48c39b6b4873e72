from __future__ import annotations

import pytest

from assistant.baselines.statistics import from_scans
from assistant.events.models import Scan
from assistant.patterns import cross_job, spatial, temporal
from evals.planted import Plan, rank_streams


def nothing() -> Scan:
    return Plan([]).scan()


def only_streams() -> Scan:
    return Plan(rank_streams(20)).scan()


def one_line() -> Scan:
    plan = Plan(rank_streams(20))
    plan.say(3, "", faults=())
    return plan.scan()


def strange_facts() -> Scan:
    facts = ({"world_size": "9" * 5000, "pp": "-3"}, {"world_size": "٣", "pp": "0"}, {"pp": "1e9"})
    plan = Plan(rank_streams(4), facts=facts)
    plan.say(0, "x" * 100_000)
    return plan.scan()


def wild_numbers() -> Scan:
    plan = Plan(rank_streams(4))
    for number, value in enumerate([float("nan"), float("inf"), -1e308, 1e308, -5.0, 0.0] * 5):
        plan.mark(0, "iteration", iteration=(-1) ** number * 2**62, seconds=value, loss=value, time=value)
    return plan.scan()


@pytest.mark.parametrize("make", [nothing, only_streams, one_line, strange_facts, wild_numbers])
def test_no_scan_is_too_strange_to_be_compared(make: object) -> None:
    assert callable(make)
    scan = make()
    cross = cross_job.compare(scan, from_scans([scan, one_line()]), frozenset({0}))
    steps = temporal.compare(scan, dropped=cross.dropped)
    places = spatial.compare(scan, cross=cross, protected=frozenset({0}), progress=steps.progress)
    assert all(0 <= place.score <= 1 for place in places.places)
    assert all(0 <= odd[2] <= 1 for odd in steps.odd_iterations)
    assert all(0 <= event.score <= 1 for result in (cross, steps) for event in result.events)
