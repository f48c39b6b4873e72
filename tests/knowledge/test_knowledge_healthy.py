"""Runs that ended well and ship with the project show no root cause, whole or line by line."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from assistant.faults.check import bundled_healthy, check_healthy
from assistant.faults.library import load_library
from assistant.faults.matcher import Matcher

MATCHER = Matcher(load_library())
LABORATORY = Path(__file__).resolve().parents[2] / "evals" / "data" / "lab"


def test_the_bundled_healthy_runs_are_there() -> None:
    assert bundled_healthy()


@pytest.mark.parametrize("place", bundled_healthy(), ids=lambda place: place.name)
def test_a_bundled_healthy_run_fires_no_root(place: Path) -> None:
    assert [problem.said() for problem in check_healthy(MATCHER, place)] == []


def laboratory() -> list[Path]:
    """Kept jobs to which nothing was done."""
    file = LABORATORY / "truth.json"
    jobs = json.loads(file.read_text(encoding="utf-8"))["jobs"] if file.is_file() else []
    healthy = [job["job"] for job in jobs if job["kind"] == "nothing"]
    return [path for name in sorted(healthy) if (path := LABORATORY / f"{name}.tar.zst").is_file()]


@pytest.mark.skipif(not laboratory(), reason="no laboratory jobs are kept here")
@pytest.mark.parametrize("place", laboratory(), ids=lambda place: place.name)
def test_a_healthy_laboratory_job_fires_no_root(place: Path) -> None:
    assert [problem.said() for problem in check_healthy(MATCHER, place)] == []


def test_a_root_in_a_healthy_archive_is_named_with_file_and_line(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    log.write_text("step 1 done\nOSError: [Errno 28] No space left on device\nstep 2 done\n", encoding="utf-8")
    with tarfile.open(tmp_path / "run.tar.gz", "w:gz") as tar:
        tar.add(log, "run/rank-0.log")
    found = list(check_healthy(MATCHER, tmp_path / "run.tar.gz"))
    assert "disk-full" in {problem.fault for problem in found}
    assert all("line 2 of run.tar.gz!run/rank-0.log" in problem.message for problem in found)


def test_a_folder_without_logs_is_no_problem(tmp_path: Path) -> None:
    assert list(check_healthy(MATCHER, tmp_path)) == []
