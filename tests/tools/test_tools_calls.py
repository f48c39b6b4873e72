"""Calls are numbered, bounded, never made twice, and never raise."""

from __future__ import annotations

import pytest

from assistant.errors import RootrankError
from assistant.tools.calls import Calls
from assistant.tools.desk import Desk, logs_gone
from assistant.tools.models import ResultStatus
from evals.desks import Opened, glossary


def test_the_same_call_is_refused_with_a_pointer_to_its_answer(calls: Calls) -> None:
    assert calls.call("overview", {}).status is ResultStatus.FOUND
    again = calls.call("overview", {})
    assert again.status is ResultStatus.REFUSED
    assert "T1" in again.text


def test_a_new_turn_may_ask_again_and_ids_count_on(calls: Calls) -> None:
    calls.call("overview", {})
    calls.begin_turn()
    result = calls.call("overview", {})
    assert (result.id, result.status) == ("T2", ResultStatus.FOUND)


def test_a_turn_has_so_many_calls_and_no_more(hang: Opened) -> None:
    calls = Calls(hang.calls().desk, per_turn=3)
    statuses = [calls.call("rank_status", {"rank": rank}).status for rank in range(5)]
    assert statuses == [ResultStatus.FOUND] * 3 + [ResultStatus.REFUSED] * 2


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no_such_tool", {}),
        ("grep_log", {}),
        ("grep_log", {"pattern": ["a"], "more": 1}),
        ("grep_log", {"pattern": "(unclosed"}),
        ("grep_log", {"pattern": "(?=look)ahead"}),
        ("grep_log", {"pattern": "x" * 2000}),
        ("read_window", {}),
        ("read_window", {"evidence": "E99999"}),
        ("read_window", {"source": "nowhere.log", "line": 1}),
        ("read_window", {"source": "gpu-a01/launcher.log", "line": 10_000_000}),
        ("read_window", {"source": "gpu-a01/launcher.log", "line": -1}),
        ("rank_status", {"rank": 99}),
        ("rank_status", {"rank": -1}),
        ("compare_nodes", {"node": "nowhere"}),
        ("compare_nodes", {"node": "gpu-a01", "other": "\x1b[31mred"}),
        ("read_more", {"result": "T77"}),
    ],
)
def test_wrong_calls_are_results_that_say_what_to_do(calls: Calls, name: str, arguments: dict[str, object]) -> None:
    result = calls.call(name, arguments)
    assert result.status in (ResultStatus.ERROR, ResultStatus.NOTHING)
    assert result.text
    assert "\x1b" not in result.text


def test_what_is_too_large_is_kept_and_read_on_to_the_last_row(hang: Opened) -> None:
    calls = Calls(hang.calls().desk, characters=400)
    first = calls.call("grep_log", {"pattern": "Step", "limit": 100})
    assert first.spilled == "T1"
    assert "read_more" in first.text
    rows: list[str] = []
    at = 1
    while True:
        calls.begin_turn()
        more = calls.desk.spilled["T1"][at - 1 : at - 1 + 50]
        if not more:
            break
        rows += more
        at += 50
    assert len([row for row in rows if "Step" in row]) == 100
    assert calls.call("read_more", {"result": "T1", "first": 3, "rows": 2}).text.startswith(rows[2][:60])


def test_only_lines_among_the_text_shown_may_be_cited(hang: Opened) -> None:
    calls = Calls(hang.calls().desk, characters=400)
    result = calls.call("grep_log", {"pattern": "Step", "limit": 100})
    assert all(f"{item.source}:{item.line}" in result.text for item in result.evidence)
    assert len(result.evidence) < 10


def test_a_case_without_its_logs_answers_from_what_it_keeps(hang: Opened) -> None:
    calls = Calls(Desk(hang.case, hang.examination.reading.library, glossary()))
    assert calls.call("overview", {}).status is ResultStatus.FOUND
    assert calls.call("list_events", {}).status is ResultStatus.FOUND
    assert calls.call("timeline", {}).status is ResultStatus.FOUND
    for name, arguments in (
        ("grep_log", {"pattern": "x"}),
        ("read_window", {"evidence": "E1"}),
        ("rank_status", {"rank": 1}),
    ):
        gone = calls.call(name, arguments)
        assert gone.status is ResultStatus.ERROR
        assert "not at hand" in gone.text
    with pytest.raises(RootrankError):
        logs_gone()
