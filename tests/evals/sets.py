"""A tiny set of jobs written by hand, and tools whose answers are known."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.case.vocabulary import ActionKind, Confidence, Role, Stage, Status
from evals.prediction import Context, Flag, Prediction, Suspect
from evals.truth import Injected, Label, Provable, Truth

STEP = "2026-03-01 10:00:{second:02} step {step} loss 2.{step}"


def truth_of(job: str = "job-001", **changes: object) -> Truth:
    """An exception on rank 2, node n02, at iteration 7."""
    plain = Truth(
        job=job,
        kind="exception",
        recipe="ddp",
        dialect="plain",
        world_size=4,
        nodes=("n01", "n02"),
        seed=1,
        injected=(Injected(kind="exception", rank=2, node="n02", iteration=7),),
        provable=Provable(
            status=Status.FAILED,
            causes=("code.exception", "data.invalid"),
            ranks=(2,),
            stages=(Stage.TRAINING,),
            iteration=7,
            actions=(ActionKind.FIX_CODE,),
        ),
        labels=(
            Label(role=Role.INITIATING, pattern="^Traceback|KeyError", source="n02/rank-2.err"),
            Label(role=Role.CASCADE, pattern="Connection closed by peer"),
            Label(role=Role.CONTEXT, pattern="slow reader"),
        ),
    )
    return plain.model_copy(update=changes)


def healthy_of(job: str) -> Truth:
    """Nothing was done."""
    return truth_of(
        job, kind="nothing", injected=(), labels=(), provable=Provable(status=Status.HEALTHY, causes=("none",))
    )


RIGHT = Prediction(
    status=Status.FAILED,
    cause="code.exception",
    ranks=(2, 0, 1, 3),
    nodes=("n02", "n01"),
    blamed=(Suspect(2, "n02"),),
    events=frozenset({Flag("n02/rank-2.err", 2, Role.INITIATING), Flag("n01/rank-0.err", 1, Role.CASCADE)}),
    stage=Stage.TRAINING,
    iteration=7,
    action=ActionKind.FIX_CODE,
    confidence=Confidence.HIGH,
    further=(),
    seconds=1.0,
    bytes=2**20,
)
"""What is right for `truth_of()` and the files of `write_job`."""

QUIET = replace(
    RIGHT, status=Status.HEALTHY, cause="none", blamed=(), events=frozenset(), stage=None, iteration=None, action=None,
    confidence=None,
)  # fmt: skip
"""What is right for a healthy job."""

WRONG = replace(
    RIGHT,
    status=Status.HEALTHY,
    cause="memory.gpu_oom",
    ranks=(0, 1, 3),
    nodes=("n01",),
    blamed=(Suspect(0, "n01"),),
    events=frozenset({Flag("n01/rank-0.log", 1, Role.INITIATING)}),
    stage=Stage.LOADING,
    iteration=70,
    action=ActionKind.REPLACE_NODE,
    further=("storage.disk_full",),
)


@dataclass(frozen=True)
class Says:
    """A tool with one answer for every job."""

    name: str
    answer: Prediction
    version: str = "1"
    fingerprint: str = "1"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The same, whatever the job."""
        return self.answer


@dataclass(frozen=True)
class Breaks:
    """A tool that raises, and notes in a file that it was asked."""

    diary: Path
    name: str = "breaks"
    version: str = "1"
    fingerprint: str = "1"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """Never answers."""
        before = self.diary.read_text() if self.diary.exists() else ""
        self.diary.write_text(before + "asked\n")
        raise OSError("no such thing")


def write_job(folder: Path, *, broken: bool = True) -> Path:
    """Two ranks' files: eight steps each, and where `broken` a traceback on rank 2 and what rank 0 says of it."""
    steps = "".join(STEP.format(second=step, step=step) + "\n" for step in range(8))
    files = {"n01/rank-0.log": steps, "n02/rank-2.log": steps + "slow reader, 3 s\n"}
    if broken:
        files["n02/rank-2.err"] = (
            'Traceback (most recent call last):\n  File "train.py", line 3, in step\n'
            "    x = batch['labels']\n        ~~~~~^^^^^^^^^^\nKeyError: 'labels'\n"
        )
        files["n01/rank-0.err"] = "RuntimeError: Connection closed by peer [10.0.0.2]:2931\n"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_set(folder: Path, *truths: Truth) -> Path:
    """A set whose jobs are plain folders."""
    for truth in truths:
        write_job(folder / truth.job, broken=truth.provable.status is not Status.HEALTHY)
    document = {"schema": "rootrank.truth/1", "jobs": [json.loads(truth.model_dump_json()) for truth in truths]}
    (folder / "truth.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def tar_of(folder: Path, inside: str) -> bytes:
    """A folder as a plain tar, under the name `inside`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(folder, inside)
    return buffer.getvalue()
