"""From raw records to events, and what reporting them is worth."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.case.vocabulary import Role
from assistant.errors import BadTruth
from evals.prediction import Flag, Prediction, flags
from evals.scorers.events import Tally, event_marks, macro, micro
from evals.scorers.grouping import Events, events_of, grouped, role_of
from evals.scorers.labelled import idle, matchers, roles_of
from evals.scorers.records import Record, records_of
from evals.truth import Label
from tests.evals.sets import RIGHT, truth_of, write_job

FIRST, C, T, X = Role.INITIATING, Role.CASCADE, Role.TEARDOWN, Role.CONTEXT


def written(folder: Path, text: str) -> list[Record]:
    (folder / "a.log").write_text(text, encoding="utf-8")
    return records_of(folder)


def test_a_traceback_is_one_record_named_by_its_exception(tmp_path: Path) -> None:
    records = [record for record in records_of(write_job(tmp_path)) if record.source == "n02/rank-2.err"]
    assert [(record.lines, record.key) for record in records] == [((1, 2, 3, 4, 5), "KeyError: 'labels'")]


def test_tracebacks_of_two_writers_in_one_file_stay_apart(tmp_path: Path) -> None:
    body = ("Traceback (most recent call last):", '  File "t.py", line 1, in f', "ValueError: rank {0}")
    both = "".join(f"[default{rank}]:{line.format(rank)}\n" for line in body for rank in (0, 1))
    assert [record.lines for record in written(tmp_path, both)] == [(1, 3, 5), (2, 4, 6)]


def test_lines_of_another_log_within_a_traceback_are_records_of_their_own(tmp_path: Path) -> None:
    text = (
        'Traceback (most recent call last):\n  File "t.py", line 1\n2026-03-01 10:00:01 step 4\nValueError: x\n'
        "2026-03-01 10:00:02 step 5\n"
    )
    assert [record.lines for record in written(tmp_path, text)] == [(1, 2, 4), (3,), (5,)]


def test_empty_files_and_bytes_that_are_no_text_give_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "b.bin").write_bytes(bytes(range(256)) * 3)
    assert {record.source for record in records_of(tmp_path)} == {"b.bin"}
    assert records_of(tmp_path / "empty-folder") == []


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        ([FIRST], FIRST),
        ([FIRST, None], FIRST),
        ([FIRST, None, None], None),
        ([FIRST, X, None, None], X),
        ([X, X, None], X),
        ([C, C, FIRST], C),
        ([T, FIRST], FIRST),
        ([C, None, X], X),
        ([None], None),
    ],
)
def test_the_role_of_an_event(roles: list[Role | None], role: Role | None) -> None:
    assert role_of(roles) is role


def test_labels_map_to_events_of_one_job(tmp_path: Path) -> None:
    events = events_of(write_job(tmp_path), truth_of())
    named = {events.names[at]: role for at, role in enumerate(events.roles)}
    assert {role for name, role in named.items() if "KeyError" in name} == {FIRST}
    assert {role for name, role in named.items() if "Connection" in name} == {C}
    assert {role for name, role in named.items() if "reader" in name} == {X}
    assert {role for name, role in named.items() if name.startswith("step")} == {None}


def test_any_line_of_a_record_names_its_event(tmp_path: Path) -> None:
    events = events_of(write_job(tmp_path), truth_of())
    found = {events.at("n02/rank-2.err", line) for line in range(1, 6)}
    assert len(found) == 1
    assert events.at("n02/rank-2.err", 6) is None
    assert events.at("n02/rank-2.err", 0) is None
    assert events.at("elsewhere", 1) is None


def test_tallies_worked_out_by_hand(tmp_path: Path) -> None:
    events = events_of(write_job(tmp_path), truth_of())
    assert event_marks(RIGHT, events).all == Tally(2, 0, 0)
    assert event_marks(Prediction(events=frozenset()), events).all == Tally(0, 0, 2)
    assert event_marks(Prediction(), events).all == Tally(0, 0, 2)
    half = flags([("n02/rank-2.err", 1), ("n01/rank-0.log", 3), ("n02/rank-2.log", 9), ("gone", 1), ("gone", 2)])
    assert event_marks(Prediction(events=half), events).all == Tally(hit=1, false=2, missed=1)


def test_the_same_event_flagged_often_counts_once(tmp_path: Path) -> None:
    events = events_of(write_job(tmp_path), truth_of())
    many = flags([("n01/rank-0.log", line) for line in range(1, 9)])
    assert event_marks(Prediction(events=many), events).all == Tally(0, 1, 2)


def test_roles_are_right_only_where_they_agree(tmp_path: Path) -> None:
    events = events_of(write_job(tmp_path), truth_of())
    swapped = Prediction(events=frozenset({Flag("n02/rank-2.err", 1, C), Flag("n01/rank-0.err", 1, C)}))
    marks = event_marks(swapped, events)
    assert marks.all == Tally(2, 0, 0)
    assert marks.by_role[C] == Tally(1, 1, 0)
    assert marks.by_role[FIRST] == Tally(0, 0, 1)


def test_micro_and_macro_figures_by_hand() -> None:
    tallies = [Tally(2, 0, 0), Tally(1, 3, 1), Tally(0, 1, 0), Tally(0, 0, 1)]
    kinds = ["a", "a", "b", "c"]
    pooled = micro(tallies, kinds)
    assert pooled["precision"].value == pytest.approx(3 / 7)
    assert pooled["recall"].value == pytest.approx(3 / 5)
    assert pooled["f1"].value == pytest.approx(6 / 12)
    mean = macro(tallies, kinds)
    assert mean["precision"].value == pytest.approx((1 + 1 / 4 + 0) / 3)
    assert mean["recall"].value == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert mean["f1"].value == pytest.approx((1 + 2 / 6 + 0) / 3)
    assert mean["f1"].n == 3


def test_figures_of_nothing_are_none() -> None:
    assert micro([], [])["f1"].value is None
    assert micro([Tally()], ["a"])["f1"].value is None
    assert macro([Tally(0, 2, 0)], ["a"])["f1"].value is None


def test_ranges_of_lines_and_sources_limit_a_label(tmp_path: Path) -> None:
    records = written(tmp_path, "error: x\nfine\nerror: x\n")
    late = truth_of(labels=(Label(role=FIRST, pattern="error", first_line=2, last_line=3),))
    assert roles_of(records, matchers(late)) == [None, None, FIRST]
    elsewhere = truth_of(labels=(Label(role=FIRST, pattern="error", source="b/*"),))
    assert roles_of(records, matchers(elsewhere)) == [None, None, None]
    assert [label.pattern for label in idle(records, matchers(elsewhere))] == ["error"]


def test_a_pattern_that_is_no_regex_names_its_job() -> None:
    with pytest.raises(BadTruth, match=r"job-001: the label '\(' is no regular expression"):
        matchers(truth_of(labels=(Label(role=FIRST, pattern="("),)))


def test_no_records_are_no_events() -> None:
    assert grouped([], []) == Events((), ())
