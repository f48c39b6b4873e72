"""Claims of order need lines with times or a tool that has ordered; claims of absence need somebody who has looked."""

from __future__ import annotations

import pytest

from assistant.answers.order import unlooked, unordered
from assistant.case.models import Evidence


def line(number: int, rank: int, text: str, second: int | None) -> Evidence:
    """A line of a rank at a second of the same minute."""
    time = None if second is None else f"2026-03-01T03:00:{second:02}Z"
    return Evidence(id=f"E{number}", source=f"r{rank}.log", line=1, offset=0, text=text, rank=rank, time=time)


EARLY, LATE = line(1, 3, "CUDA error", 5), line(2, 7, "Connection closed by peer", 9)
NO_TIME = line(3, 7, "Connection closed by peer", None)


@pytest.mark.parametrize(
    ("sentence", "lines", "rows"),
    [
        ("Rank 7 failed first.", [LATE], []),
        ("Rank 7 was the first to leave.", [LATE], []),
        ("Rank 7 stopped before the others.", [LATE], []),
        ("Rank 7 crashed before all other ranks.", [NO_TIME], ["Rank 7 crashed."]),
        ("Rank 7 failed before rank 3.", [EARLY, LATE], []),
        ("Rank 3 failed after rank 7.", [EARLY, LATE], ["the first of them"]),
    ],
)
def test_order_that_nothing_shows(sentence: str, lines: list[Evidence], rows: list[str]) -> None:
    assert unordered(sentence, lines, rows)


@pytest.mark.parametrize(
    ("sentence", "lines", "rows"),
    [
        ("Rank 3 failed first.", [EARLY, LATE], []),
        ("Rank 3 failed first.", [EARLY], ["Suspect: rank 3: fails first"]),
        ("Rank 3 failed before rank 7.", [EARLY, LATE], []),
        ("Rank 7 failed after rank 3.", [EARLY, LATE], []),
        ("Rank 7 failed before rank 3.", [EARLY, NO_TIME], []),
        ("Rank 3 wrote its first line late.", [EARLY], []),
        ("Rank 3 failed.", [EARLY], []),
    ],
)
def test_order_that_is_shown_or_not_claimed(sentence: str, lines: list[Evidence], rows: list[str]) -> None:
    assert unordered(sentence, lines, rows) is None


@pytest.mark.parametrize(
    "sentence", ["Rank 3 logged nothing.", "Rank 3 left no error file lines, no output: it has no errors."]
)
def test_absence_that_nobody_looked_for(sentence: str) -> None:
    assert unlooked(sentence, [EARLY], [])


@pytest.mark.parametrize(
    ("sentence", "rows"),
    [("Rank 3 logged nothing.", ["no line of rank 3 was found"]), ("Rank 3 logged a CUDA error.", [])],
)
def test_absence_that_was_looked_for_or_is_not_claimed(sentence: str, rows: list[str]) -> None:
    assert unlooked(sentence, [EARLY], rows) is None
