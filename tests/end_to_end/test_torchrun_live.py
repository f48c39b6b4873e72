"""The right rank from what real torchrun jobs leave behind: some run now, all from kept logs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from assistant.case.models import Case
from assistant.pipeline import Options, diagnose
from evals.jobset import archive_of, load_truth
from evals.lab.assemble import assembled
from evals.lab.draw import plain_job
from evals.lab.job import Job
from evals.lab.launch import perform
from evals.lab.verify import problems
from evals.truth import Truth

FIXTURES = Path(__file__).parents[1] / "fixtures" / "torchrun"
TRUTH = {truth.job: truth for truth in load_truth(FIXTURES).jobs}
BROKEN = sorted(name for name, truth in TRUTH.items() if truth.settings["core"])
OTHERS = sorted(name for name, truth in TRUTH.items() if not truth.settings["core"])
LIVE = (
    ("sigkill", (1, 4)),
    ("hang_compute", (1, 4)),
    ("sigsegv", (1, 4)),
    ("exception", (4, 1)),
    ("silent_exit", (4, 1)),
)
"""A subset that takes well under a minute; the kept logs cover the rest."""

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: pip install torch")


@cache
def case_of(name: str) -> Case:
    """The case of a kept run."""
    return diagnose([str(archive_of(FIXTURES, name))], Options())


def blamed(case: Case) -> int | None:
    """The rank that is blamed first, None where nobody is."""
    return case.suspects[0].rank if case.suspects else None


def rank_is_right(case: Case, truth: Truth) -> bool:
    """Whether a guilty rank is blamed first, or nobody where nobody is right."""
    provable = truth.provable
    nobody = not case.suspects and (provable.nobody_too or not provable.ranks)
    return nobody or blamed(case) in provable.ranks or (not provable.ranks and blamed(case) is None)


def wrong(case: Case, truth: Truth) -> list[str]:
    """What the case says against the truth, in words; empty where it is right."""
    provable, verdict = truth.provable, case.verdict
    bad = [] if case.status == provable.status else [f"status {case.status}, not {provable.status}"]
    if not rank_is_right(case, truth):
        bad.append(f"guilty {blamed(case)}, not {provable.ranks}")
    if provable.causes and verdict.cause not in provable.causes:
        bad.append(f"cause {verdict.cause}, not one of {provable.causes}")
    if provable.stages and verdict.stage not in provable.stages:
        bad.append(f"stage {verdict.stage}, not one of {provable.stages}")
    at, wanted = verdict.iteration, provable.iteration
    if wanted is not None and (at is None or abs(at - wanted) > 1):
        bad.append(f"iteration {at}, not {wanted}")
    return bad


def test_all_forty_two_kept_runs_are_checked() -> None:
    assert len({*BROKEN, *OTHERS}) == len(list(FIXTURES.glob("job-*"))) == 42


@pytest.mark.parametrize("name", BROKEN)
def test_the_rank_is_right_for_each_way_to_fail(name: str) -> None:
    assert (blamed(case_of(name)),) == TRUTH[name].provable.ranks


@pytest.mark.parametrize("name", BROKEN)
def test_status_cause_stage_and_iteration_are_right_for_each_way_to_fail(name: str) -> None:
    assert wrong(case_of(name), TRUTH[name]) == []


@pytest.mark.parametrize("name", OTHERS)
def test_further_runs_are_told_right(name: str) -> None:
    assert wrong(case_of(name), TRUTH[name]) == []


def job_of(kind: str, shape: tuple[int, int]) -> Job:
    """A job of the laboratory whose ranks all tell their progress, with a short time limit of its process group."""
    flavour = {"hang_compute": "sleep", "exception": "key", "silent_exit": "code"}.get(kind, "")
    draw = plain_job(kind, flavour, 0, 5, shape, "any")
    settings = {**draw.job.settings, "who_logs": "all", "timeout": 8.0, "loader_workers": 0}
    return assembled(replace(draw, job=replace(draw.job, settings=settings)))


@needs_torch
@pytest.mark.parametrize(("kind", "shape"), LIVE)
def test_the_rank_is_right_for_a_job_that_fails_now(kind: str, shape: tuple[int, int], tmp_path: Path) -> None:
    job = job_of(kind, shape)
    outcome = perform(job, tmp_path / "run")
    assert problems(job, outcome, tmp_path / "run" / "job") == []
    case = diagnose([str(tmp_path / "run" / "job")], Options())
    assert (blamed(case),) == job.provable.ranks
