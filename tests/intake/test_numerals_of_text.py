"""Numbers in hostile text."""

from __future__ import annotations

import pytest

from assistant.intake.names import natural_key
from assistant.intake.nodelists import expand_hosts, expand_numbers
from assistant.intake.numerals import holds_nonsense, whole
from assistant.intake.origins import origin_of

ENDLESS = "9" * 5000


@pytest.mark.parametrize("text", [None, "", "²", "٣", "-1", " 1", "1.0", "x", "10000001", "9" * 25, ENDLESS])
def test_what_is_no_plausible_number_is_none(text: str | None) -> None:
    assert whole(text) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("10000000", 10_000_000)])
def test_plain_digits_are_a_number(text: str, number: int) -> None:
    assert whole(text) == number


def test_only_endless_numbers_are_nonsense() -> None:
    assert holds_nonsense(f"rank={ENDLESS}")
    assert not holds_nonsense("time_ms=1764437806974 port=29500")


@pytest.mark.parametrize("text", [ENDLESS, f"0-{ENDLESS}", "²-³", "0-99999999", f"n[{ENDLESS}-{ENDLESS}]"])
def test_absurd_short_forms_stand_for_nothing(text: str) -> None:
    assert expand_numbers(text) == ()
    assert len(expand_hosts(f"n[{text}]")) <= 1


@pytest.mark.parametrize("number", ["9" * 30, "²", "٣"])
def test_names_with_absurd_numbers_name_no_rank(number: str) -> None:
    origin = origin_of(f"run/attempt_{number}/{number}/stderr.log")
    assert origin.attempt in (None, 3)
    assert origin_of(f"rank-{number}.log").rank in (None, 3)


def test_names_sort_by_their_numbers_however_long() -> None:
    names = [f"r{ENDLESS}", "r10", "r2", "r02", "r0", "r"]
    assert sorted(names, key=natural_key) == ["r", "r0", "r2", "r02", "r10", f"r{ENDLESS}"]
