"""Packed runs tell nothing by their names, hold no path of the machine, and are the same bytes for the same runs."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from assistant.case.vocabulary import Role
from evals.jobset import load_truth, unpacked
from evals.lab.assemble import assembled
from evals.lab.draw import plain_job
from evals.lab.job import Job
from evals.lab.kernel import kernel_messages
from evals.lab.make import digest
from evals.lab.outcome import Outcome
from evals.lab.pack import neutral, pack_all
from evals.lab.review import review

DEATH = "E1129 22:42:59.185000 84 api.py:1002] failed (exitcode: -9) local_rank: {local} (pid: 92) of binary: python\n"
FRAMES = '[rank0]: Traceback (most recent call last):\n[rank0]:   File "/tmp/run-x/node-0/train.py", line 3, in main\n'
PEER = (
    FRAMES + "[rank0]: RuntimeError: [x/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:4113.\n"
)


def one(kind: str, number: int, **changed: object) -> Job:
    """A job of one launcher and four ranks."""
    return replace(assembled(plain_job(kind, "", number, 3, (1, 4), "any")), **changed)  # type: ignore[arg-type]


def kept(job: Job, runs: Path, text: str, *, code: int = 1) -> Job:
    """A finished run as `make` leaves it."""
    folder = runs / job.name
    (folder / "job").mkdir(parents=True)
    (folder / "job" / "launcher.log").write_text(text, encoding="utf-8")
    marks = [
        {"name": planned.name, "place": planned.place, "rank": rank, "step": 5, "time": 1.5, "pid": 3}
        for planned in job.callbacks
        for rank in planned.ranks
    ]
    paths = {"/tmp/run-x/node-0": "/srv/train"}
    Outcome({0: code}, 1.0, 2.0, marks=marks, last_steps={0: 5}, paths=paths).write(folder / "outcome.json")
    (folder / "plan.sha256").write_text(digest(job), encoding="ascii")
    return job


def small_set(runs: Path, healthy: str = "training finished\n" * 4) -> list[Job]:
    """Two kept runs of one look, and a planned one that was not made."""
    broken = one("sigkill", 0)
    local = broken.provable.ranks[0]
    twin = one("nothing", 0, voice=broken.voice, name="nothing-twin")
    return [
        kept(broken, runs, PEER + DEATH.format(local=local)),
        kept(twin, runs, healthy, code=0),
        one("sigkill", 1),
    ]


def test_a_set_is_packed_with_its_truth(tmp_path: Path) -> None:
    packed = pack_all(small_set(tmp_path / "runs"), tmp_path / "runs", tmp_path / "set")
    assert packed.counts == {"sigkill": 1, "nothing": 1}
    assert packed.left_out == {"sigkill-01": "not made, or made of another plan"}
    by_kind = {truth.kind: truth for truth in load_truth(tmp_path / "set").jobs}
    assert by_kind["sigkill"].twins == (by_kind["nothing"].job,)
    assert [label.role for label in by_kind["sigkill"].labels] == [Role.INITIATING, Role.CASCADE]
    assert by_kind["nothing"].labels == ()
    assert by_kind["sigkill"].injected[0].time == "1970-01-01T00:00:01.500+00:00"


def test_archives_hold_no_path_of_the_machine(tmp_path: Path) -> None:
    pack_all(small_set(tmp_path / "runs"), tmp_path / "runs", tmp_path / "set")
    (broken,) = [truth.job for truth in load_truth(tmp_path / "set").jobs if truth.kind == "sigkill"]
    with unpacked(tmp_path / "set" / f"{broken}.tar.zst") as folder:
        text = (folder / "launcher.log").read_text(encoding="utf-8")
    assert 'File "/srv/train/train.py"' in text
    assert "/tmp/run-x" not in text


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    jobs = small_set(tmp_path / "runs")
    for name in ("one", "two"):
        pack_all(jobs, tmp_path / "runs", tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in files)


def test_archives_have_one_folder_and_no_time(tmp_path: Path) -> None:
    pack_all(small_set(tmp_path / "runs"), tmp_path / "runs", tmp_path / "set")
    for file in (tmp_path / "set").glob("*.zst"):
        raw = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(file.read_bytes())).read()
        with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
            assert {member.name.split("/")[0] for member in tar} == {"job"}
            assert {member.mtime for member in tar.getmembers()} == {1_700_000_000}


def test_a_rule_that_holds_for_a_healthy_record_stops_the_packing(tmp_path: Path) -> None:
    jobs = small_set(tmp_path / "runs", healthy=PEER + "training finished\n" * 4)
    with pytest.raises(ValueError, match="holds for"):
        pack_all(jobs, tmp_path / "runs", tmp_path / "set")


def test_a_run_that_is_no_longer_an_example_is_left_out(tmp_path: Path) -> None:
    job = one("sigkill", 0)
    kept(job, tmp_path, "no word of it\n")
    assert "no trace of" in pack_all([job], tmp_path, tmp_path / "set").left_out[job.name]


def test_review_shows_what_looks_like_a_failure_and_has_no_label(tmp_path: Path) -> None:
    job = one("sigkill", 0)
    text = DEATH.format(local=job.provable.ranks[0]) + "the frobnicator failed\nstep 4 loss 2.1\n"
    kept(job, tmp_path, text)
    assert list(review([job], tmp_path)) == ["sigkill-00 : initiating", "    1 x the frobnicator failed"]


def test_longer_paths_are_replaced_before_the_shorter_ones_within_them() -> None:
    assert neutral(b"/a/b/c /a/b", {"/a/b": "/x", "/a/b/c": "/y"}) == b"/y /x"


def test_truth_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    pack_all(small_set(tmp_path / "runs"), tmp_path / "runs", tmp_path / "set")
    document = json.loads((tmp_path / "set" / "truth.json").read_text(encoding="utf-8"))
    assert document["schema"] == "rootrank.truth/1"
    assert [job["job"] for job in document["jobs"]] == ["job-001", "job-002"]


def test_no_messages_of_other_processes_are_kept() -> None:
    assert kernel_messages(4e12, {1}, "") == []
