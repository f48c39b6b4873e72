"""The two packages in their own environments, where those were built (`python -m evals.rivals build`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.case.vocabulary import Status
from evals.prediction import Context
from evals.rivals import gpualert, nvrx
from evals.rivals.environments import Environment, build
from evals.rivals.remote import RivalFailedError, ask

OOM = [
    "Traceback (most recent call last):",
    '  File "train.py", line 9, in step',
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
]


def job_of(folder: Path) -> Path:
    """Rank 1 runs out of memory, rank 0 loses its peer two seconds later."""
    for rank, end in ((0, ["2026-03-01 10:00:07,000 ERROR RuntimeError: Connection closed by peer"]), (1, OOM)):
        node = folder / f"n{rank}"
        node.mkdir(parents=True)
        lines = [
            f"2026-03-01 10:00:0{step},000 INFO rank {rank} of 2: step {step}/9 loss 2.{step}" for step in range(5)
        ]
        (node / f"rank-{rank}.log").write_text("\n".join([*lines, *end]) + "\n")
    console = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    (folder / "n1/launcher.log").write_text(f"E0301 10:00:08.000000 40 torch/api.py:1] failed (exitcode: 1)\n{console}")
    return folder


@pytest.fixture
def scratch(tmp_path: Path) -> Context:
    (tmp_path / "scratch").mkdir()
    return Context(tmp_path / "scratch", seconds=60)


@pytest.mark.skipif(not nvrx.ENVIRONMENT.ready, reason=f"nvidia-resiliency-ext: {nvrx.ENVIRONMENT.problem}")
def test_the_restart_agent_finds_an_exception_that_comes_first(tmp_path: Path, scratch: Context) -> None:
    answer = nvrx.RestartAgent().predict(job_of(tmp_path / "job"), (), scratch)
    assert (answer.status, answer.cause) == (Status.FAILED, "memory.gpu_oom")
    assert answer.ranks is not None
    assert answer.ranks[0] == 1
    assert answer.bytes is not None
    assert answer.bytes < 200 << 20


@pytest.mark.skipif(not gpualert.ENVIRONMENT.ready, reason=f"gpualert: {gpualert.ENVIRONMENT.problem}")
def test_gpualert_names_the_class(tmp_path: Path, scratch: Context) -> None:
    answer = gpualert.Gpualert().predict(job_of(tmp_path / "job"), (), scratch)
    assert (answer.status, answer.cause) == (Status.FAILED, "memory.gpu_oom")
    assert (answer.ranks, answer.events, answer.blamed) == (None, None, None)


@pytest.mark.skipif(not gpualert.ENVIRONMENT.ready, reason=f"gpualert: {gpualert.ENVIRONMENT.problem}")
def test_a_broken_request_is_the_rivals_error_and_no_crash(tmp_path: Path) -> None:
    with pytest.raises(RivalFailedError, match="stderr"):
        ask(gpualert.ENVIRONMENT, "ask_gpualert.py", {}, seconds=60)


def test_an_installation_that_fails_is_noted_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOTRANK_RIVALS", str(tmp_path / "rivals"))
    absent = Environment(name="absent", requirement=f"{tmp_path}/no-such-wheel.whl")
    assert not build(absent)
    assert not absent.ready
    assert "no-such-wheel" in absent.problem
    assert not absent.folder.exists()
