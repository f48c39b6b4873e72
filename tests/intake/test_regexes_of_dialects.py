"""Expressions mean the same to both engines."""

from __future__ import annotations

import polars as pl
import pytest

from assistant.intake.dialects import compiled, load_dialects
from assistant.intake.regexes import ascii_classes, compile_set


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"step \d+", r"step [0-9]+"),
        (r"[\d.]+\s*\w", r"[0-9.]+[\t\n\f\r ]*[0-9A-Za-z_]"),
        (r"\S\W\D", r"[^\t\n\f\r ][^0-9A-Za-z_][^0-9]"),
        (r"\\d \[\d\] \bx", r"\\d \[[0-9]\] \bx"),
        (r"[^\]\s]", r"[^\]\t\n\f\r ]"),
    ],
)
def test_classes_are_spelled_out_in_and_outside_brackets(written: str, meant: str) -> None:
    assert ascii_classes(written) == meant


def test_both_engines_read_digits_of_other_scripts_as_no_digits() -> None:
    pattern = ascii_classes(r"^step \d+$")
    lines = ["step 12", "step \u0661\u0662"]
    assert pl.Series(lines).str.contains(pattern).to_list() == [True, False]
    assert [compiled(pattern).search(line) is not None for line in lines] == [True, False]


def test_every_shipped_dialect_is_spelled_out() -> None:
    dialects = load_dialects()
    patterns = [mark.pattern for dialect in dialects.progress for mark in dialect.marks]
    assert patterns
    assert [pattern for pattern in patterns if ascii_classes(pattern) != pattern] == []


def test_a_set_finds_what_its_members_find() -> None:
    patterns = [mark.pattern for dialect in load_dialects().progress for mark in dialect.marks]
    examples = [one for dialect in load_dialects().progress for mark in dialect.marks for one in mark.examples]
    together = compile_set(patterns)
    for text in examples:
        alone = [number for number, pattern in enumerate(patterns) if compiled(pattern).search(text)]
        assert sorted(together.Match(text) or []) == alone
