"""A real run of two ranks, from the plan to its truth."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from assistant.case.vocabulary import Role
from evals.lab.assemble import assembled
from evals.lab.draw import plain_job
from evals.lab.finish import finished, truth_of
from evals.lab.make import make
from evals.lab.outcome import read_outcome

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: pip install torch")


def test_a_job_is_run_broken_verified_and_labelled(tmp_path: Path) -> None:
    draw = plain_job("exception", "key", 0, 11, (1, 2), "any")
    settings = {**draw.job.settings, "steps": 9, "pace": 0.0, "who_logs": "all", "loader_workers": 0}
    job = assembled(replace(draw, job=replace(draw.job, streams="redirects", settings=settings)))
    result = make(job, tmp_path / "run")
    assert (result.state, result.problems[1:]) == ("made", ())
    run = finished(job, read_outcome(tmp_path / "run" / "outcome.json"), tmp_path / "run" / "job")
    truth = truth_of(run, "job-001", ())
    assert {mark["rank"] for mark in run.outcome.marks} == set(truth.provable.ranks)
    assert truth.injected[0].time is not None
    assert Role.INITIATING in {label.role for label in truth.labels}
    assert not list((tmp_path / "run" / "job").rglob("*mark*"))
