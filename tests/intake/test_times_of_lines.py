"""Times are read in every usual spelling, singly and in bulk alike."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from assistant.errors import UsageError
from assistant.intake.dialects import load_dialects
from assistant.intake.times import TimeReader, choose_reader, parse_moment, read_moment

TIMES = load_dialects().times


def utc(*parts: int) -> float:
    return dt.datetime(*parts, tzinfo=dt.UTC).timestamp()  # type: ignore[misc, arg-type]


MOMENT = utc(2026, 11, 29, 17, 36, 46)
LATER = utc(2026, 11, 30)


def read(*lines: str, modified: float | None = LATER, zone: float | None = None) -> TimeReader:
    return choose_reader(lines, TIMES, modified=modified, zone=zone)


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("2026-11-29T17:36:46Z x", MOMENT),
        ("2026-11-29T18:36:46+01:00 x", MOMENT),
        ("2026-11-29 17:36:46,500 - INFO - x", MOMENT + 0.5),
        (" [2026-11-29 17:36:46] iteration        4/     100 |", MOMENT),
        ("[NeMo I 2026-11-29 17:36:46 nemo_logging:393] x", MOMENT),
        ("DLL 2026-11-29 17:36:46.250000 - Iteration 84", MOMENT + 0.25),
        ("Nov 29 17:36:46 n03 kernel: x", MOMENT),
        ("[Sun Nov 29 17:36:46 2026] NVRM: x", MOMENT),
        ("Sun Nov 29 05:36:46 PM UTC 2026", MOMENT),
        ("Sun 29 Nov 2026 05:36:46 PM UTC", MOMENT),
        ("E1129 17:36:46.250000 140 x.py:1] x", MOMENT + 0.25),
        ("[E1129 17:36:46.250000000 ProcessGroupNCCL.cpp:632] x", MOMENT + 0.25),
        ("[rank3]:[E1129 17:36:46.5 ProcessGroupNCCL.cpp:632] x", MOMENT + 0.5),
        ("I20261129 17:36:46 29470 train.py:217] x", MOMENT),
        (':::MLLOG {"namespace": "", "time_ms": 1795973806500, "key": "x"}', MOMENT + 0.5),
        ("[11/29/26 17:36:46] INFO x", MOMENT),
        ("[ERROR] HCCL(123,python):2026-11-29-17:36:46.250.000 [x.cc:1] x", MOMENT + 0.25),
        ("  time      : 2026-11-29_17:36:46", MOMENT),
        ("1795973806.5 x", MOMENT + 0.5),
        ("1795973806500 x", MOMENT + 0.5),
        ("17:36:46 x", MOMENT),
        ("INFO 11-29 17:36:46 [worker.py:88] x", MOMENT),
    ],
)
def test_each_spelling_is_read_alike_singly_and_in_bulk(line: str, moment: float) -> None:
    reader = read(line, line)
    assert reader.parse(line) == pytest.approx(moment, abs=1e-5)
    assert reader.parse_series(pl.Series([line, "no time here"])).to_list() == [
        pytest.approx(moment, abs=1e-5),
        None,
    ]


def test_several_spellings_in_one_source_are_all_read() -> None:
    lines = ["[E1129 17:36:46.5 x.cpp:1] x", "2026-11-29 17:36:46,500 - INFO - x"]
    reader = read(*lines)
    assert reader.parse(lines[0]) == reader.parse(lines[1])


def test_the_year_turns_between_december_and_january() -> None:
    lines = ["Dec 31 23:59:59 n03 kernel: a", "Jan  1 00:00:01 n03 kernel: b"]
    reader = read(*lines, modified=utc(2027, 1, 1, 8))
    first, second = reader.parse_series(pl.Series(lines)).to_list()
    assert (first, second) == (utc(2026, 12, 31, 23, 59, 59), utc(2027, 1, 1, 0, 0, 1))


def test_a_full_date_in_the_source_gives_the_year_before_the_file_does() -> None:
    reader = read("2024-05-01 10:00:00 x", "E0501 10:00:01.0 1 x.py:1] y", modified=LATER)
    assert reader.parse("E0501 10:00:01.0 1 x.py:1] y") == utc(2024, 5, 1, 10, 0, 1)


def test_without_year_and_without_any_date_there_is_no_time() -> None:
    assert read("Nov 29 17:36:46 n03 x", modified=None).parse("Nov 29 17:36:46 n03 x") is None


def test_times_of_day_before_midnight_belong_to_the_day_before() -> None:
    reader = read("23:59:59 a", "00:00:01 b", modified=utc(2026, 11, 30, 0, 1))
    assert reader.parse_series(pl.Series(["23:59:59 a", "00:00:01 b"])).to_list() == [LATER - 1, LATER + 1]


def test_a_local_time_is_read_as_utc_and_said_to_be() -> None:
    reader = read("2026-11-29 17:36:46 x")
    assert reader.naive
    assert "no zone" in reader.notes[0]


def test_neighbouring_lines_in_utc_show_the_offset_of_local_times() -> None:
    lines = [':::MLLOG {"namespace": "", "time_ms": 1795973806000}', "2026-11-29 18:36:46,100 - INFO - x"] * 3
    reader = read(*lines)
    assert reader.offset == 3600
    assert reader.parse(lines[1]) == pytest.approx(MOMENT + 0.1)
    assert not reader.naive


def test_a_given_zone_is_used() -> None:
    assert read("2026-11-29 18:36:46 x", zone=3600).parse("2026-11-29 18:36:46 x") == MOMENT


def test_kernel_uptimes_stay_unread_without_an_anchor() -> None:
    reader = read("[12345.678901] NVRM: Xid", "[12346.000000] x")
    assert reader.parse("[12345.678901] NVRM: Xid") is None
    assert "count from boot" in reader.notes[0]


def test_a_kernel_line_that_states_the_clock_anchors_the_others() -> None:
    lines = ["[   10.000000] audit: type=2000 audit(1795973806.000:1): x", "[   20.500000] NVRM: Xid"]
    reader = read(*lines)
    assert reader.parse(lines[1]) == pytest.approx(MOMENT + 10.5)
    assert reader.parse_series(pl.Series(lines))[1] == pytest.approx(MOMENT + 10.5)


@pytest.mark.parametrize(
    "line", ["2026-13-45 99:99:99 x", "2026-11-31 10:00:00", "9999999999999999 x", "[0.000000]", "\x00" * 200, ""]
)
def test_hostile_times_never_raise_and_agree(line: str) -> None:
    reader = read("2026-11-29 17:36:46 x", "1795973806 x", "Nov 29 17:36:46 n x")
    assert reader.parse(line) == reader.parse_series(pl.Series([line]))[0]


def test_a_log_without_times_is_a_state() -> None:
    reader = read("step 1", "step 2")
    assert reader.parse("step 1") is None
    assert reader.parse_series(pl.Series(["step 1"])).to_list() == [None]
    assert "order within the source" in reader.notes[0]


@pytest.mark.parametrize(
    "text",
    ["2026-11-29T17:36:46Z", "2026-11-29 17:36:46", "2026-11-29T18:36:46+0100", "1795973806", "1795973806000000000"],
)
def test_fields_that_hold_only_a_time_are_read(text: str) -> None:
    assert read_moment(text) == MOMENT


def test_a_typed_moment_may_leave_out_what_is_zero() -> None:
    assert parse_moment("2026-11-30") == LATER
    assert parse_moment("2026-11-30 00:00") == LATER


def test_a_typed_moment_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError):
        parse_moment("yesterday")
