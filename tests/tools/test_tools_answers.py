"""What each tool says about a real job, and that what it says can be cited."""

from __future__ import annotations

import re

import pytest

from assistant.tools.calls import Calls
from assistant.tools.models import ResultStatus
from assistant.tools.registry import TOOLS
from evals.desks import Opened

ARGUMENTS: dict[str, dict[str, object]] = {
    "read_window": {"evidence": "E1"},
    "grep_log": {"pattern": "Timed out"},
    "compare_nodes": {"node": "gpu-a03"},
    "rank_status": {"rank": 5},
    "search_knowledge": {"query": "gloo timeout"},
    "explain_code": {"code": "SIGTERM"},
    "explain_word": {"word": "rank"},
    "read_more": {"result": "T1"},
    "submit_diagnosis": {"cause": "collective.hang", "statement": "Rank 5 hung.", "rank": 5, "evidence": ["E1"]},
}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_answers_or_says_why_not_and_gives_an_id(tool: object, hang: Opened) -> None:
    calls = hang.calls()
    name = tool.name  # type: ignore[attr-defined]
    result = calls.call(name, ARGUMENTS.get(name, {}))
    assert (result.id, result.tool) == ("T1", name)
    assert result.text
    assert len(result.text) <= 2 * calls.characters
    expected = {"read_more": {ResultStatus.ERROR}, "baseline_diff": {ResultStatus.NOTHING}}
    possible = {"similar_incidents": {ResultStatus.FOUND, ResultStatus.NOTHING}}
    assert result.status in expected.get(name, possible.get(name, {ResultStatus.FOUND}))


def test_every_tool_says_when_to_use_it_and_documents_its_arguments() -> None:
    for tool in TOOLS:
        assert len(tool.summary) > 20
        assert tool.arguments.model_json_schema()["additionalProperties"] is False


def test_the_overview_names_the_suspect_and_whom_it_does_not_blame(calls: Calls) -> None:
    text = calls.call("overview", {}).text
    assert "Suspect: gpu-a03 rank 5" in text
    assert not re.search(r"not blamed: .*rank 5", text)


def test_a_window_around_evidence_holds_its_line_and_the_lines_beside_it(calls: Calls) -> None:
    evidence = next(item for item in calls.desk.case.evidence if item.id == "E1")
    result = calls.call("read_window", {"evidence": "E1", "before": 2, "after": 0})
    assert [item.line for item in result.evidence] == [evidence.line - 2, evidence.line - 1, evidence.line]
    assert evidence.text in result.text


def test_lines_read_again_are_the_lines_of_the_file(calls: Calls, hang: Opened) -> None:
    result = calls.call("read_window", {"source": "gpu-a01/launcher.log", "line": 3, "before": 2, "after": 2})
    written = (hang.folder / "gpu-a01/launcher.log").read_text().splitlines()
    assert [item.text for item in result.evidence] == written[:5]


def test_grep_counts_all_and_shows_as_many_as_asked(calls: Calls) -> None:
    result = calls.call("grep_log", {"pattern": "Timed out waiting", "limit": 2})
    total = int(result.text.split()[0])
    assert (len(result.evidence), result.omitted) == (2, total - 2)
    narrowed = calls.call("grep_log", {"pattern": "Timed out waiting", "rank": 4})
    assert {item.rank for item in narrowed.evidence} == {4}


def test_events_can_be_filtered_by_role_rank_and_text(calls: Calls) -> None:
    assert "Timed out" in calls.call("list_events", {"role": "cascade", "rank": 4}).text
    assert calls.call("list_events", {"text": "no such text"}).status is ResultStatus.NOTHING
    assert calls.call("list_events", {"stage": "startup"}).status in set(ResultStatus)


def test_the_timeline_is_in_order_of_time(calls: Calls) -> None:
    times = [row.split()[0] for row in calls.call("timeline", {}).text.splitlines()]
    assert times == sorted(times)


def test_a_code_of_the_system_is_explained_without_any_library(hang: Opened) -> None:
    calls = hang.calls(search=False)
    assert "ENOSPC" in calls.call("explain_code", {"code": "errno 28"}).text
    assert "SIGKILL" in calls.call("explain_code", {"code": "exit code -9"}).text
    assert "SIGKILL" in calls.call("explain_code", {"code": "exit 137"}).text
    assert calls.call("explain_code", {"code": "zzz-unheard-of"}).status is ResultStatus.NOTHING


def test_a_diagnosis_that_departs_needs_an_argument_and_shown_evidence(calls: Calls) -> None:
    calls.call("overview", {})
    other = {"cause": "network.link", "statement": "A link.", "rank": 0, "evidence": ["E2"]}
    assert calls.call("submit_diagnosis", other).status is ResultStatus.ERROR
    assert "alternative" in calls.call("submit_diagnosis", other | {"argument": "E2 came first"}).text
    unseen = calls.call("submit_diagnosis", other | {"evidence": ["E99"], "argument": "so it is"})
    assert unseen.status is ResultStatus.ERROR
    assert "E99" in unseen.text
