"""Packs finished runs into small archives under names that tell nothing, with one truth file beside them.

Paths and the kernel's name of this machine are neutralised; everything else stays as the job left it. The same runs
give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import platform
import re
import sys
import tarfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import zstandard

from evals.lab.finish import Finished, finished, truth_of
from evals.lab.job import Job
from evals.lab.labelling import all_labels
from evals.lab.make import is_kept
from evals.lab.outcome import read_outcome
from evals.lab.plan import twins_of
from evals.lab.verify import problems
from evals.scorers.labelled import matchers
from evals.truth import Truth, TruthFile

OLD_ENOUGH = 1_700_000_000
"""Time stamp of all members: epoch seconds."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What was packed and what was left out."""

    counts: Mapping[str, int]
    """Packed runs by kind."""
    left_out: Mapping[str, str]
    """Runs of the plan that are not in the set, with the reason."""
    size: int
    """Bytes of all archives."""

    def __str__(self) -> str:
        kinds = "\n".join(f"{count:4} {kind}" for kind, count in sorted(self.counts.items()))
        out = "\n".join(f"left out: {name}: {why}" for name, why in self.left_out.items())
        return f"{kinds}\n{sum(self.counts.values()):4} jobs, {self.size / 1e6:.2f} MB\n{out}"


def pack_all(jobs: list[Job], runs: Path, target: Path) -> Packed:
    """Packs every verified run of the plan; older archives of the target go. A healthy job that a label holds for is a
    ValueError: the rules are wrong then."""
    found, left_out = _found(jobs, runs)
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("job-*.tar.zst"):
        old.unlink()
    names = neutral_names([run.job.name for run in found])
    kept = [run.job for run in found]
    truths = []
    for run in found:
        twins = tuple(sorted(names[twin.name] for twin in twins_of(run.job, kept) if twin.name != run.job.name))
        truths.append(truth_of(run, names[run.job.name], twins[:4] if run.job.kind != "nothing" else ()))
        (target / f"{names[run.job.name]}.tar.zst").write_bytes(archive(run))
    check_healthy(found)
    write_truth(truths, target / "truth.json")
    size = sum(path.stat().st_size for path in target.glob("job-*.tar.zst"))
    return Packed(Counter(run.job.kind for run in found), left_out, size)


def _found(jobs: list[Job], runs: Path) -> tuple[list[Finished], dict[str, str]]:
    found, left_out = [], {}
    for job in jobs:
        folder = runs / job.name
        if not is_kept(job, folder):
            left_out[job.name] = "not made, or made of another plan"
            continue
        outcome = read_outcome(folder / "outcome.json")
        if wrong := problems(job, outcome, folder / "job"):
            left_out[job.name] = "; ".join(wrong)
            continue
        found.append(finished(job, outcome, folder / "job"))
    return found, left_out


def check_healthy(found: list[Finished]) -> None:
    """No rule of any kind may hold for a record of a job to which nothing was done."""
    for run in found:
        if run.job.kind == "nothing":
            for matcher in matchers(_with_all_labels(run.job)):
                for record in run.records:
                    if matcher(record):
                        raise ValueError(f"{run.job.name}: {matcher.label.pattern!r} holds for {record.head!r}")


def _with_all_labels(job: Job) -> Truth:
    told = {"job": job.name, "kind": job.kind, "recipe": "", "dialect": "", "world_size": 1, "seed": 0}
    return Truth.model_validate({**told, "provable": {"status": "healthy"}, "labels": all_labels()})


def neutral_names(runs: list[str]) -> dict[str, str]:
    """Names in an order that has nothing to do with the runs' own."""
    shuffled = sorted(runs, key=lambda name: hashlib.sha256(f"laboratory {name}".encode()).digest())
    return {name: f"job-{number:03}" for number, name in enumerate(shuffled, start=1)}


def archive(run: Finished) -> bytes:
    """A compressed tar whose only folder is `job`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(run.folder.rglob("*")):
            if path.is_file():
                data = neutral(path.read_bytes(), run.outcome.paths)
                member = tarfile.TarInfo(f"job/{path.relative_to(run.folder)}")
                member.size, member.mtime, member.mode = len(data), OLD_ENOUGH, 0o644
                tar.addfile(member, io.BytesIO(data))
    return zstandard.ZstdCompressor(level=19).compress(buffer.getvalue())


def neutral(data: bytes, paths: Mapping[str, str]) -> bytes:
    """The same text with neutral paths instead of this machine's."""
    for path, shown in sorted(paths.items(), key=lambda pair: -len(pair[0])):
        data = data.replace(path.encode(), shown.encode())
    data = data.replace(sys.prefix.encode(), b"/opt/venv").replace(sys.base_prefix.encode(), b"/opt/python")
    return data.replace(platform.release().encode(), re.sub(r"-.*", "", platform.release()).encode())


def write_truth(truths: list[Truth], file: Path) -> None:
    """The truth of all jobs, in the order of their names."""
    made_with = {"python": platform.python_version(), **_versions("torch", "transformers", "accelerate", "deepspeed")}
    jobs = tuple(sorted(truths, key=lambda truth: truth.job))
    document = TruthFile.model_validate({"schema": "rootrank.truth/1", "made_with": made_with, "jobs": jobs})
    text = document.model_dump_json(indent=1, by_alias=True, exclude_defaults=False)
    file.write_text(text + "\n", encoding="utf-8")


def _versions(*names: str) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
