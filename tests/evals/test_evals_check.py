"""The build's own check: the fast subset of the laboratory reaches what it reached, and how the subset is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.check import CHECK, board_of, lines_of, load_subset, narrated
from evals.draw import drawn, thresholds, write
from evals.jobset import LAB, TRUTH, Half, load_set
from evals.runner import answers_of
from evals.scorers.board import boards
from tests.evals.sets import RIGHT, Says, healthy_of, truth_of, write_set

HERE = (LAB / TRUTH).is_file() and CHECK.is_file()


@pytest.mark.skipif(not HERE, reason="the laboratory's packed jobs are not in this checkout")
def test_quality_has_not_dropped(tmp_path: Path) -> None:
    subset = load_subset()
    board = board_of(subset, LAB, tmp_path)
    lines = lines_of(subset, board)
    assert all(line.holds for line in lines), "\n".join(narrated(lines, board))


@pytest.mark.skipif(not HERE, reason="the laboratory's packed jobs are not in this checkout")
def test_the_subset_is_the_one_that_is_drawn() -> None:
    subset = load_subset()
    assert subset.jobs == tuple(job.name for job in drawn(load_set(LAB).jobs))


def test_the_subset_is_drawn_from_both_halves_and_the_same_each_time(tmp_path: Path) -> None:
    kinds = ("exception", "sigkill", "permission", "read_only")
    truths = [truth_of(f"job-{at:03}", kind=kind) for at, kind in enumerate(kinds * 3)]
    scaled = truth_of("job-050", kind="exception", replica_of="job-000")
    healthy = [healthy_of(f"job-{at:03}") for at in range(60, 70)]
    jobs = load_set(write_set(tmp_path, *truths, scaled, *healthy)).jobs
    chosen = drawn(jobs)
    assert chosen == drawn(jobs[::-1])
    assert sorted(job.truth.kind for job in chosen if job.half is not Half.BOTH) == sorted(kinds)
    assert sum(job.half is Half.BOTH for job in chosen) == 6
    assert "job-050" not in {job.name for job in chosen}


def test_what_is_written_holds_at_once_and_allows_for_one_job(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", truth_of("job-001"), truth_of("job-002", kind="permission"))
    jobs, tool = load_set(folder).jobs, Says("right", RIGHT)
    (board,) = boards(answers_of(jobs, [tool], cache=tmp_path / "cache", processes=1), [tool])
    write(jobs, thresholds(board), tmp_path / "check.yaml")
    subset = load_subset(tmp_path / "check.yaml")
    assert subset.jobs == ("job-001", "job-002")
    assert subset.at_least["cause"] == 0.5
    assert subset.at_least["events_f1"] == 0.98
    assert all(line.holds for line in lines_of(subset, board))
