from __future__ import annotations

from pathlib import Path

import pytest

from assistant.baselines.folders import runs_in


def names(folder: Path, *files: str) -> list[list[str]]:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    return [[path.relative_to(folder).as_posix() for path in run] for run in runs_in(folder)]


def test_whole_job_files_are_one_run_each(tmp_path: Path) -> None:
    assert names(tmp_path, "run-0.log", "run-3.log") == [["run-0.log"], ["run-3.log"]]


def test_each_folder_is_one_run(tmp_path: Path) -> None:
    assert names(tmp_path, "monday/rank-0.log", "monday/rank-1.log", "tuesday/a.log") == [["monday"], ["tuesday"]]


@pytest.mark.parametrize(
    "parts", [("rank_0.log", "rank_1.log"), ("node1.log", "manager.log"), ("0.stdout", "0.stderr")]
)
def test_files_named_after_writers_are_one_run(tmp_path: Path, parts: tuple[str, ...]) -> None:
    assert names(tmp_path, *parts) == [["."]]


def test_rotated_parts_and_out_beside_err_are_one_run(tmp_path: Path) -> None:
    found = names(tmp_path, "a.log", "a.log.1", "a.log.2.gz", "b.out", "b.err")
    assert found == [["a.log", "a.log.1", "a.log.2.gz"], ["b.err", "b.out"]]


def test_a_single_file_is_one_run(tmp_path: Path) -> None:
    file = tmp_path / "healthy.log"
    file.write_text("x\n")
    assert runs_in(file) == [(file,)]
