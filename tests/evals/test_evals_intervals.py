"""Intervals against figures from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.scorers.intervals import by_cluster, ratio, share, wilson


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [  # Newcombe (1998), Statistics in Medicine 17, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(right: int, n: int, low: float, high: float) -> None:
    assert wilson(right, n) == pytest.approx((low, high), abs=5e-5)


def test_nothing_asked_is_anything() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert share([], []).value is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_inside(pair: tuple[int, int]) -> None:
    right, n = pair
    low, high = wilson(right, n)
    assert 0.0 <= low <= right / n <= high <= 1.0


def test_jobs_of_one_kind_count_as_one() -> None:
    marks, kinds = [True] * 20 + [False] * 20, ["a"] * 20 + ["b"] * 20
    found = share(marks, kinds)
    assert found.clusters == (0.0, 1.0)
    assert found.wilson[0] > 0.3


def test_the_bootstrap_is_the_same_each_time_and_needs_two_kinds() -> None:
    rows, kinds = [(1, 1), (0, 1), (1, 1), (1, 1)], ["a", "b", "c", "d"]
    assert by_cluster(rows, kinds, ratio) == by_cluster(rows, kinds, ratio)
    assert by_cluster(rows, kinds[::-1], ratio) == by_cluster(rows[::-1], kinds, ratio)
    assert by_cluster(rows[:1], ["a"], ratio) is None
    assert by_cluster([(0, 0), (0, 0)], ["a", "b"], ratio) is None
    assert np.isnan(ratio(np.zeros((1, 2)))).all()
