"""Ourselves as a tool, whole and with parts taken out."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.case.vocabulary import Role, Status
from assistant.pipeline import PATTERNS, Options, diagnose
from evals.ablation import TITLES, ablations
from evals.ours import LIBRARY, ORDER, PARTS, SILENCE, Rootrank, baseline_of, diagnosed, taken_out
from evals.prediction import Context, Prediction, Tool
from evals.tools import all_tools
from tests.evals.sets import write_job


def asked(folder: Path, *without: str, twins: tuple[Path, ...] = ()) -> Prediction:
    return Rootrank(without=frozenset(without)).predict(folder, twins, Context(folder.parent))


def test_the_answer_is_that_of_the_product(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job")
    case, answer = diagnose([str(job)], Options()), asked(job)
    assert (answer.status, answer.cause) == (case.status, case.verdict.cause)
    assert answer.blamed is not None
    assert [(one.rank, one.node) for one in answer.blamed] == [(s.rank, s.node) for s in case.suspects]
    assert answer.seconds is not None
    assert (answer.bytes or 0) > 2**20


def test_every_record_of_a_reported_event_is_flagged(tmp_path: Path) -> None:
    answer = asked(write_job(tmp_path / "job"))
    assert answer.events is not None
    assert {(flag.source, flag.line) for flag in answer.events} >= {("n02/rank-2.err", 1), ("n01/rank-0.err", 1)}
    assert Role.INITIATING in {flag.role for flag in answer.events}


def test_healthy_twins_become_a_baseline(tmp_path: Path) -> None:
    twin, job = write_job(tmp_path / "twin", broken=False), write_job(tmp_path / "job")
    _, findings = diagnosed(job, baseline_of((twin,)), frozenset())
    assert findings.cross_job.ran


def test_each_part_can_be_taken_out_and_is_back_afterwards(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job")
    whole = asked(job)
    for part in PARTS:
        assert asked(job, part).error is None
    again = asked(job)
    assert (again.cause, again.blamed, again.events) == (whole.cause, whole.blamed, whole.events)


def test_without_the_library_no_entry_names_the_cause(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job")
    with taken_out(frozenset({LIBRARY})):
        case, findings = diagnosed(job, None, frozenset({LIBRARY}))
    assert len(findings.library) == 0
    assert {event.fault for event in case.events} <= {None}
    assert case.verdict.fault is None


def test_without_silence_nobody_lags(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", broken=False)
    lines = (job / "n02/rank-2.log").read_text().splitlines(keepends=True)
    (job / "n02/rank-2.log").write_text("".join(lines[:3]))
    _, whole = diagnosed(job, None, frozenset())
    with taken_out(frozenset({SILENCE})):
        _, quiet = diagnosed(job, None, frozenset({SILENCE}))
    assert any(rank.lagging or rank.silent for rank in whole.temporal.progress)
    assert not any(rank.lagging or rank.silent for rank in quiet.temporal.progress)
    assert len(quiet.temporal.progress) == len(whole.temporal.progress)


def test_without_order_records_have_no_time(tmp_path: Path) -> None:
    _, findings = diagnosed(write_job(tmp_path / "job"), None, frozenset({ORDER}))
    scan = findings.scan
    assert {each.record.time for each in scan.indicators} == {None}
    assert scan.marks["time"].is_not_null().any()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_without_a_pattern_it_did_not_run(tmp_path: Path, pattern: str) -> None:
    _, findings = diagnosed(write_job(tmp_path / "job"), None, frozenset({pattern}))
    assert getattr(findings, pattern).note == "switched off"


def test_the_ablation_takes_out_each_part_once() -> None:
    whole, *others = ablations()
    assert whole.without == frozenset()
    assert [tool.without for tool in others] == [frozenset({part}) for part in PARTS]
    assert set(TITLES) == set(PARTS)
    assert len({tool.fingerprint for tool in (whole, *others)}) == 1 + len(PARTS)


def test_all_tools_keep_the_contract() -> None:
    tools = all_tools()
    assert all(isinstance(tool, Tool) for tool in tools)
    assert len({tool.name for tool in tools}) == len(tools)
    assert tools[0].name == "rootrank"


def test_a_healthy_job_is_no_failure(tmp_path: Path) -> None:
    answer = asked(write_job(tmp_path / "job", broken=False))
    assert answer.status is not Status.FAILED
    assert answer.blamed == ()
