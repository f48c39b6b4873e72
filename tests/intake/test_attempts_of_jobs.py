"""Restarts inside one job become attempts."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from assistant.intake.attempts import split_attempts
from assistant.intake.models import Source

Row = tuple[str, str | None, int | None, float | None, str]
SCHEMA = {
    "source": pl.Int32, "line": pl.Int64, "kind": pl.String, "stage": pl.String, "iteration": pl.Int64,
    "time": pl.Float64, "text": pl.String, "attempt": pl.Int32,
}  # fmt: skip

START: Row = ("attempt", "startup", None, None, "starting workers")


def steps(first: int, last: int) -> list[Row]:
    return [("iteration", "training", number, None, "") for number in range(first, last + 1)]


def marks(*rows: Row, source: int = 0) -> pl.DataFrame:
    columns = [(source, number + 1, *row, 0) for number, row in enumerate(rows)]
    return pl.DataFrame(columns, schema=SCHEMA, orient="row")


def sources(*names: str) -> list[Source]:
    return [Source(number, name, Path(name), group=name) for number, name in enumerate(names)]


def test_one_run_is_one_attempt() -> None:
    found = split_attempts(marks(START, *steps(1, 5)), sources("job.log"))
    assert found.count == 1
    assert found.of(0, 3) == 0


def test_a_launcher_that_starts_the_workers_again_begins_an_attempt() -> None:
    rows = marks(START, *steps(1, 5), START, *steps(4, 8))
    found = split_attempts(rows, sources("job.log"))
    assert found.count == 2
    assert found.number(rows)["attempt"].to_list() == [0] * 6 + [1] * 6
    assert "2 attempts" in found.notes[0]


def test_several_launchers_that_print_the_same_start_begin_one_attempt() -> None:
    rows = marks(START, START, START, *steps(1, 5), START, START, START, *steps(1, 2))
    assert split_attempts(rows, sources("job.log")).count == 2


def test_iterations_that_fall_back_after_a_start_up_begin_an_attempt_at_the_start_up() -> None:
    again: Row = ("stage", "startup", None, None, "")
    rows = marks(*steps(1, 5), again, ("stage", "loading", None, None, ""), *steps(3, 6))
    assert split_attempts(rows, sources("job.log")).number(rows)["attempt"].to_list() == [0] * 5 + [1] * 6


def test_iterations_that_fall_back_without_a_start_up_do_not() -> None:
    assert split_attempts(marks(*steps(1, 5), *steps(1, 3)), sources("job.log")).count == 1


def test_a_start_up_that_goes_on_counting_does_not() -> None:
    again: Row = ("stage", "startup", None, None, "")
    assert split_attempts(marks(*steps(1, 5), again, *steps(6, 9)), sources("job.log")).count == 1


def test_a_restart_before_any_progress_counts_if_the_launcher_says_so_later() -> None:
    def at(time: float) -> Row:
        return ("attempt", "startup", None, time, "will restart worker group")

    assert split_attempts(marks(at(0.0), at(300.0)), sources("job.log")).count == 2
    assert split_attempts(marks(at(0.0), at(1.0)), sources("job.log")).count == 1


def test_a_path_states_its_attempt() -> None:
    found = split_attempts(marks(*steps(1, 2)), sources("x_1/attempt_2/0/stderr.log"))
    assert found.of(0, 1) == 2
    assert found.count == 3


def test_sources_without_marks_follow_the_clock_of_the_others() -> None:
    timed = [(kind, stage, number, 100.0 + i, text) for i, (kind, stage, number, _, text) in
             enumerate([START, *steps(1, 5), START, *steps(1, 2)])]  # fmt: skip
    found = split_attempts(marks(*timed), sources("job.log", "rank-3.err"))
    assert [found.of(1, 1, 101.0), found.of(1, 2, 107.0), found.of(1, 3)] == [0, 1, 1]


def test_no_marks_are_one_attempt() -> None:
    assert split_attempts(marks(), sources("job.log")).count == 1
