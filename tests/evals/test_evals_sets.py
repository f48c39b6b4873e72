"""Sets of jobs: reading them, and what the checker says of bad ones."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest
import zstandard

from assistant.case.vocabulary import Role, Status
from assistant.errors import BadTruth
from evals.__main__ import main
from evals.jobset import Half, Split, digest_of, load_set, load_split, load_truth, unpacked
from evals.truth import Label, Provable
from evals.truth_check import problems
from tests.evals.sets import healthy_of, tar_of, truth_of, write_job, write_set


def said(folder: Path) -> str:
    return "\n".join(map(str, problems(folder)))


@pytest.mark.parametrize("inside", ["job", "."])
@pytest.mark.parametrize("ending", ["tar.zst", "tar.gz"])
def test_archives_and_folders_are_the_same_job(tmp_path: Path, ending: str, inside: str) -> None:
    plain = write_job(tmp_path / "plain")
    packed = tar_of(plain, inside)
    archive = tmp_path / f"job-001.{ending}"
    archive.write_bytes(zstandard.compress(packed) if ending.endswith("zst") else gzip.compress(packed))
    with unpacked(archive) as folder:
        names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
        text = (folder / "n02/rank-2.err").read_text()
    assert names == ["n01/rank-0.err", "n01/rank-0.log", "n02/rank-2.err", "n02/rank-2.log"]
    assert text == (plain / "n02/rank-2.err").read_text()
    assert not folder.exists()


@pytest.mark.parametrize("data", [b"", b"no archive", zstandard.compress(b"x" * 2000)[:-5]])
def test_a_broken_archive_names_itself(tmp_path: Path, data: bytes) -> None:
    archive = tmp_path / "job-001.tar.zst"
    archive.write_bytes(data)
    with pytest.raises(BadTruth, match=r"job-001\.tar\.zst: cannot be unpacked"), unpacked(archive):
        pass


def test_an_archive_cannot_write_outside(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("../../escaped"), io.BytesIO())
    archive = tmp_path / "job-001.tar.zst"
    archive.write_bytes(zstandard.compress(buffer.getvalue()))
    with pytest.raises(BadTruth, match="cannot be unpacked"), unpacked(archive):
        pass


def test_halves_follow_the_split(tmp_path: Path) -> None:
    jobs = (truth_of(), truth_of("job-002", kind="permission"), healthy_of("job-003"))
    halves = [job.half for job in load_set(write_set(tmp_path, *jobs)).jobs]
    assert halves == [Half.TUNE, Half.REPORT, Half.BOTH]


def test_the_split_of_the_project_names_each_kind_once() -> None:
    split = load_split()
    named = [*split.tune, *split.report, *split.both]
    assert len(named) == len(set(named))
    assert len(split.tune) == len(split.report)


def test_a_good_set_has_no_problem(tmp_path: Path) -> None:
    write_set(tmp_path, truth_of(twins=("job-002",)), healthy_of("job-002"))
    assert said(tmp_path) == ""
    assert main(["check-truth", "--set", str(tmp_path)]) == 0


def test_a_missing_archive_is_named_with_a_remedy(tmp_path: Path) -> None:
    write_set(tmp_path, truth_of())
    (tmp_path / "job-001").rename(tmp_path / "elsewhere")
    text = said(tmp_path)
    assert "truth.json" in text
    assert "job-001: no archive or folder of that name" in text
    assert "pack the job again" in text
    with pytest.raises(BadTruth, match="job-001"):
        load_set(tmp_path)


def test_all_kinds_of_mistakes_are_found_at_once(tmp_path: Path) -> None:
    bad = truth_of(
        kind="gremlins",
        twins=("job-009", "job-002"),
        provable=Provable(status=Status.FAILED, causes=("code.exceptional",), ranks=(4,), nodes=("n09",)),
        labels=(
            Label(role=Role.INITIATING, pattern="KeyError"),
            Label(role=Role.CASCADE, pattern="never written", source="n01/*", last_line=3),
        ),
    )
    write_set(tmp_path, bad, truth_of("job-002"), truth_of("job-003", labels=()))
    text = said(tmp_path)
    for words in (
        "does not name the kind 'gremlins'",
        "twin job-009 is no job",
        "twin job-002 is not healthy",
        "no cause class 'code.exceptional'",
        "rank 4 is none of its 4 ranks",
        "'n09' is none of its nodes",
        "cascade 'never written' matches no record in n01/*, lines 1 to 3",
        "job-003: it failed, but no record is labelled",
    ):
        assert words in text
    assert main(["check-truth", "--set", str(tmp_path)]) == 1


def test_a_pattern_that_does_not_compile_is_found(tmp_path: Path) -> None:
    write_set(tmp_path, truth_of(labels=(Label(role=Role.INITIATING, pattern="(?P<"),)))
    assert "is no regular expression" in said(tmp_path)


@pytest.mark.parametrize("name", ["../job-001", "/etc", "a/b", ".."])
def test_a_name_cannot_lead_out_of_the_set(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "set"
    write_job(tmp_path / "job-001")
    inner.mkdir()
    write_set(inner, truth_of())
    text = (inner / "truth.json").read_text().replace('"job-001"', f'"{name}"')
    (inner / "truth.json").write_text(text)
    with pytest.raises(BadTruth, match="no archive or folder"):
        load_set(inner)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "rootrank.truth/9", "jobs": []}', '{"jobs": [{}]}'])
def test_a_truth_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "truth.json").write_text(text)
    with pytest.raises(BadTruth, match=r"truth\.json"):
        load_truth(tmp_path)
    assert "truth.json" in said(tmp_path)


def test_a_set_that_is_not_there_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--set", str(tmp_path / "none")]) == 4
    assert "there is no such file" in capsys.readouterr().err


def test_twice_the_same_job_is_a_mistake(tmp_path: Path) -> None:
    write_set(tmp_path, truth_of(), truth_of())
    assert "stands 2 times" in said(tmp_path)


def test_the_digest_follows_the_bytes(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job")
    before = digest_of(job)
    assert digest_of(job) == before
    (job / "n01/rank-0.log").write_text("other\n")
    assert digest_of(job) != before


def test_a_kind_outside_the_split_has_no_half() -> None:
    split = Split.model_validate({"schema": "rootrank.split/1", "tune": ["a"], "report": ["b"], "both": ["c"]})
    with pytest.raises(KeyError):
        split.half("d")
