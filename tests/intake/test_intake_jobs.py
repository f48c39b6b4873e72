"""Only clear names split a folder into jobs; folders per node, rank, worker or attempt never do."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import SeveralJobs, UsageError
from assistant.intake.jobs import ONLY_JOB, find_jobs, select_job
from assistant.intake.models import Discovery, Source


def discovery(*names: str) -> Discovery:
    sources = tuple(Source(id=index, name=name, path=Path(name), group=name) for index, name in enumerate(names))
    return Discovery(root="logs", sources=sources, unread=())


def jobs_of(*names: str) -> dict[str, list[str]]:
    return {job: [source.name for source in sources] for job, sources in find_jobs(discovery(*names)).items()}


@pytest.mark.parametrize(
    ("names", "jobs"),
    [
        (["job-8812/n0/a.log", "job-8812/n1/a.log", "job-8813/n0/a.log"], ["job-8812", "job-8813"]),
        (["slurm-8812.out", "slurm-8812.err", "slurm-8813.out"], ["slurm-8812", "slurm-8813"]),
        (["train.o88121", "train.e88121", "train.o88122"], ["job-88121", "job-88122"]),
        (["train-job-8812.log", "train-job-8813.log"], ["job-8812", "job-8813"]),
        (["logs/job_1/x.log", "logs/job_2/x.log"], ["job-1", "job-2"]),
        (["run-1.log", "run-2.log", "run-10.log"], ["run-1", "run-2", "run-10"]),
        (["job-8812.tar.gz!x.log", "job-8813.tar.gz!x.log"], ["job-8812", "job-8813"]),
        (["a_0123abcd/attempt_0/0/stderr.log", "b_x1y2z3w4/attempt_0/0/stderr.log"], ["a", "b"]),
        (["n0/slurm-81.out", "n0/slurm-82.out", "n1/slurm-82.out"], ["slurm-81", "slurm-82"]),
        (["job/x.log", "baseline/run-1.log", "baseline/run-2.log"], ["job", "baseline"]),
        (["failed/n01/x.log", "healthy-run/n01/x.log", "healthy-run/n02/x.log"], ["job", "baseline"]),
    ],
)
def test_separate_runs_are_recognised(names: list[str], jobs: list[str]) -> None:
    assert list(jobs_of(*names)) == jobs


@pytest.mark.parametrize(
    "names",
    [
        ["node0/x.log", "node1/x.log"],
        ["rank0.log", "rank7.log"],
        ["worker-0/x.log", "worker-1/x.log"],
        ["attempt_0/0/stderr.log", "attempt_1/0/stderr.log"],
        ["gpu-17-a/x.log", "gpu-18-b/x.log", "login1.example.org/x.log"],
        ["job-8812-worker-0.log", "job-8812-worker-1.log"],
        ["train-job-0/x.log", "train-job-1/x.log"],
        ["slurm-8812.out", "n0/x.log", "n1/x.log"],
        ["slurm-8812_1.out", "slurm-8812_2.out"],
        ["r_0123abcd/attempt_0/0/stderr.log", "r_x1y2z3w4/attempt_0/1/stderr.log"],
        ["n0/r_0123abcd/attempt_0/0/stderr.log", "n1/r_x1y2z3w4/attempt_0/0/stderr.log"],
        ["n0/r_0123abcd/attempt_0/0/stderr.log", "n1/s_x1y2z3w4/attempt_0/0/stderr.log"],
        ["none_0123abcd/attempt_0/0/stderr.log", "none_0123abcd/attempt_1/0/stderr.log"],
        ["log_globalrank-0.txt", "run_0/log_globalrank-0.txt", "run_1/log_globalrank-0.txt"],
        ["wandb/run-20261129_173646-abc/output.log", "wandb/run-20261129_173647-def/output.log"],
        ["plog-11116_20230131024824451.log", "plog-11190_20230131024824599.log"],
        ["baseline/run.log"],
        ["0/stdout.log", "1/stdout.log", "8812/stdout.log"],
    ],
)
def test_parts_of_one_job_stay_together(names: list[str]) -> None:
    assert jobs_of(*names) == {ONLY_JOB: names}


def test_files_of_no_job_are_given_to_every_job() -> None:
    found = jobs_of("job-1/x.log", "job-2/x.log", "node7/dmesg")
    assert found == {"job-1": ["job-1/x.log", "node7/dmesg"], "job-2": ["job-2/x.log", "node7/dmesg"]}


def test_one_job_needs_no_choice() -> None:
    found = discovery("node0/x.log", "node1/x.log")
    assert select_job(found) == found
    assert select_job(found, ONLY_JOB) == found


def test_several_jobs_are_listed_until_one_is_chosen() -> None:
    found = discovery("job-8812/x.log", "job-8813/x.log", "job-8813/y.log")
    with pytest.raises(SeveralJobs) as caught:
        select_job(found)
    assert "job-8812, job-8813" in caught.value.message
    assert "--job job-8812" in caught.value.hint
    for name in ("job-8813", "8813"):
        chosen = select_job(found, name)
        assert [(one.id, one.name) for one in chosen.sources] == [(0, "job-8813/x.log"), (1, "job-8813/y.log")]


def test_unknown_job_is_a_usage_error_that_lists_the_jobs() -> None:
    with pytest.raises(UsageError) as caught:
        select_job(discovery("job-8812/x.log", "job-8813/x.log"), "job-9")
    assert "job-8812" in caught.value.hint
    with pytest.raises(UsageError):
        select_job(discovery("x.log"), "job-9")
