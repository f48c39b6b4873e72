"""A diagnosis in two steps: what was found, kept for later questions, and the case that is concluded from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.case.models import Case
from assistant.errors import InputError
from assistant.pipeline import Options, case_of, diagnose, examine
from tests.diagnosis.jobs import healthy_rank, waited


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A job in which rank 2 of four did not come."""
    for rank in range(4):
        text = healthy_rank(rank, 4, 5) + ("" if rank == 2 else waited(26 + 0.1 * rank))
        (tmp_path / f"rank-{rank}.log").write_text(text, encoding="utf-8")
    return str(tmp_path)


def timeless(case: Case) -> str:
    return case.model_dump_json(exclude={"timing"})


def test_examining_and_concluding_is_what_diagnosing_does(folder: str) -> None:
    assert timeless(case_of(examine([folder], Options()), seconds=0)) == timeless(diagnose([folder]))


def test_an_examination_gives_the_same_case_each_time(folder: str) -> None:
    found = examine([folder], Options(threads=1))
    first, second = case_of(found, seconds=1.5), case_of(found, seconds=1.5)
    assert first == second
    assert first.timing.seconds == 1.5
    assert [s.rank for s in first.suspects] == [2]


def test_an_examination_holds_what_the_case_was_concluded_from(folder: str) -> None:
    found = examine([folder], Options())
    assert found.baseline is None
    assert found.findings.scan is found.reading.scan
    assert {stream.rank for stream in found.findings.scan.streams} == {0, 1, 2, 3}


def test_patterns_that_are_switched_off_did_not_run(folder: str) -> None:
    found = examine([folder], Options(without=frozenset({"spatial", "temporal", "cross_job"}))).findings
    assert [found.cross_job.ran, found.spatial.ran, found.temporal.ran] == [False] * 3


def test_the_case_is_concluded_although_the_logs_are_gone(folder: str) -> None:
    found = examine([folder], Options())
    before = case_of(found, seconds=0)
    for path in Path(folder).iterdir():
        path.unlink()
    after = case_of(found, seconds=0)
    assert (after.verdict.cause, after.suspects) == (before.verdict.cause, before.suspects)


def test_where_nothing_can_be_read_nothing_is_examined(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        examine([str(tmp_path / "nowhere")], Options())
