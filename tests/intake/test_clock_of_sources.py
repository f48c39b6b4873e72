"""Clock skew from shared events."""

from __future__ import annotations

import pytest

from assistant.intake.clock import estimate_skew

BASE = 1_795_973_806.0


def source(lead: float, *, jitter: float = 0.0, count: int = 20) -> list[tuple[str, float]]:
    """Iterations ten seconds apart, on a clock that runs ahead, with alternating jitter."""
    return [(f"iteration {i}", BASE + 10 * i + lead + (jitter if i % 2 else -jitter)) for i in range(count)]


def test_sources_that_agree_are_left_alone() -> None:
    skew = estimate_skew({0: source(0), 1: source(0.2), 2: source(-0.3)})
    assert skew.ahead == {}
    assert skew.note == ""


def test_a_clock_that_runs_ahead_is_corrected() -> None:
    skew = estimate_skew({0: source(0), 1: source(0), 2: source(37.5)})
    assert skew.ahead == {2: pytest.approx(37.5)}
    assert skew.corrected(2, BASE + 37.5) == pytest.approx(BASE)
    assert "1 source differ" in skew.note


def test_scatter_wider_than_the_distance_is_noise() -> None:
    assert estimate_skew({0: source(0), 1: source(0), 2: source(2, jitter=5)}).ahead == {}


def test_whole_half_hours_are_called_time_zones() -> None:
    assert "time zones" in estimate_skew({0: source(0), 1: source(0), 2: source(3600)}).note


def test_of_two_sources_the_first_is_the_reference() -> None:
    assert estimate_skew({0: source(0), 1: source(60)}).ahead == {1: pytest.approx(60)}


def test_few_or_no_shared_events_say_nothing() -> None:
    assert estimate_skew({0: source(0, count=2), 1: source(60, count=2)}).ahead == {}
    assert estimate_skew({}).ahead == {}
    assert estimate_skew({0: source(0), 1: [("other", BASE)]}).corrected(0, None) is None
