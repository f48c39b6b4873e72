"""`rootrank diagnose` on real, small logs, from files to exit code."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from pathlib import Path

import jsonschema
import orjson
import pytest

from assistant.case.schema import case_schema
from assistant.cli.main import main

BROKEN_RANK = 2
TRACE = """Traceback (most recent call last):
  File "train.py", line 31, in <module>
    main()
  File "train.py", line 17, in main
    batch = tokens[index]
IndexError: index 50257 is out of bounds for dimension 0 with size 50257
"""


def write_job(folder: Path, broken: int | None = BROKEN_RANK) -> Path:
    """Four ranks, one file each; one of them raises after step 8."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(4):
        steps = range(1, 9 if broken is not None else 21)
        lines = [f"2026-03-04 05:06:{step:02d} INFO step {step}/20 loss {9 - step / 4:.3f}\n" for step in steps]
        if broken is None:
            lines.append("2026-03-04 05:06:30 INFO Training completed\n")
        (folder / f"rank{rank}.log").write_text("".join(lines) + (TRACE if rank == broken else ""))
    return folder


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return write_job(tmp_path / "job")


def diagnosed(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str) -> tuple[int, dict[str, object], str]:
    code = main(["diagnose", *arguments, "--json"])
    out, err = capsysbinary.readouterr()
    return code, orjson.loads(out) if out else {}, err.decode()


def test_a_failed_job_ends_with_10_and_names_the_rank(job: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    code, case, err = diagnosed(capsysbinary, str(job))
    assert (code, err) == (10, "")
    jsonschema.validate(case, case_schema())
    assert [suspect["rank"] for suspect in case["suspects"]] == [BROKEN_RANK]  # type: ignore[attr-defined]


def test_a_healthy_job_ends_with_0(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    code, case, _ = diagnosed(capsysbinary, str(write_job(tmp_path, broken=None)))
    assert (code, case["status"], case["suspects"]) == (0, "healthy", [])


def test_the_same_input_gives_the_same_bytes_but_for_the_timing(
    job: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    first, second = (diagnosed(capsysbinary, str(job))[1] for _ in range(2))
    assert {**first, "timing": None} == {**second, "timing": None}


def test_evidence_reads_as_it_stands_in_its_file(job: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    _, case, _ = diagnosed(capsysbinary, str(job))
    found = case["evidence"]
    assert isinstance(found, list)
    assert found
    for item in found:
        data = (job / Path(item["source"]).name).read_bytes()
        assert data[item["offset"] :].startswith(item["text"].encode())
        assert data[: item["offset"]].count(b"\n") == item["line"] - 1


def test_standard_input_is_a_log_too(
    job: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (job / f"rank{BROKEN_RANK}.log").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    code, case, _ = diagnosed(capsysbinary, "-")
    assert code == 10
    assert {item["source"] for item in case["evidence"]} == {"-"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "content"),
    [("absent", None), ("empty-folder", "folder"), ("empty.log", b""), ("picture.log", bytes(range(256)) * 40)],
)
def test_nothing_to_read_ends_with_3_and_a_remedy(
    name: str, content: bytes | str | None, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        path.mkdir()
    code, case, err = diagnosed(capsysbinary, str(path))
    assert (code, case) == (3, {})
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"]
    assert name in err


def test_what_cannot_be_read_is_listed_and_the_rest_diagnosed(
    job: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    with tarfile.open(job / "cut.tar.gz", "w:gz") as archive:
        archive.add(job / "rank0.log", "copy/rank0.log")
    (job / "cut.tar.gz").write_bytes((job / "cut.tar.gz").read_bytes()[:60])
    os.mkfifo(job / "pipe.log")
    code, case, _ = diagnosed(capsysbinary, str(job))
    assert code == 10
    named = " ".join(gap["source"] for gap in case["not_read"])  # type: ignore[attr-defined]
    assert "cut.tar.gz" in named
    assert "pipe.log" in named


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_rights_is_listed(job: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (job / "rank0.log").chmod(0)
    code, case, _ = diagnosed(capsysbinary, str(job))
    assert code == 10
    assert "rank0.log" in str(case["not_read"])


def test_a_file_name_that_is_no_text_is_no_error(job: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    os.rename(os.fsencode(job / f"rank{BROKEN_RANK}.log"), os.fsencode(job) + b"/rank2-\xff\x1b[2J.log")
    assert diagnosed(capsysbinary, str(job))[0] in (10, 11)


def test_a_wrong_baseline_name_ends_with_4(job: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    code, _, err = diagnosed(capsysbinary, str(job), "--baseline", "lama")
    assert code == 4
    assert "lama" in err


def test_a_baseline_of_healthy_runs_can_be_kept_and_used(
    job: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    healthy = write_job(tmp_path / "healthy", broken=None)
    assert main(["baseline", "add", "small", str(healthy), "--no-progress"]) == 0
    assert main(["baseline", "add", "small", str(job), "--no-progress"]) == 4
    assert b"not healthy" in capsysbinary.readouterr().err
    assert main(["baseline", "list"]) == 0
    assert main(["baseline", "show", "small"]) == 0
    assert b"small" in capsysbinary.readouterr().out
    code, case, _ = diagnosed(capsysbinary, str(job), "--baseline", "small")
    assert code == 10
    assert [pattern["ran"] for pattern in case["patterns"] if pattern["name"] == "cross_job"] == [True]  # type: ignore[attr-defined]
    assert main(["baseline", "remove", "small"]) == 0
    assert main(["baseline", "remove", "small"]) == 4


def test_each_run_of_a_folder_is_added_and_a_bad_one_refused(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2):
        write_job(tmp_path / f"runs/run-{number}", broken=None)
        (tmp_path / f"runs/run-{number}/rank4.log").write_text("step 20/20 loss 1.0\n" * number)
    assert main(["baseline", "add", "small", str(tmp_path / "runs"), str(job)]) == 4
    err = capsys.readouterr().err
    assert "small: 2 healthy runs, with " in err
    assert f"error: {job}: this run is failed, not healthy\nhint: " in err


def test_a_missing_file_added_later_makes_a_second_revision(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    job = write_job(tmp_path / "job")
    missing = (job / f"rank{BROKEN_RANK}.log").rename(tmp_path / f"rank{BROKEN_RANK}.log")
    _, before, _ = diagnosed(capsysbinary, str(job))
    code = main(["cases", "add-files", str(before["case"]), str(missing), "--json"])
    after = orjson.loads(capsysbinary.readouterr().out)
    assert (code, after["case"], after["revision"]) == (10, before["case"], 2)
    assert [suspect["rank"] for suspect in after["suspects"]] == [BROKEN_RANK]


def test_the_demo_shows_a_verdict_and_keeps_nothing(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(("FAILED", "INCOMPLETE"))
    assert "rootrank diagnose" in err
    assert not (own_home / "data").exists()
    assert main(["demo", "--list"]) == 0
    for name in capsys.readouterr().out.split():
        assert main(["demo", name]) == 0
    assert main(["demo", "nope"]) == 2
