"""The right rank from what real torchrun jobs leave behind: some run now, all from kept logs."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from assistant.case.models import Case
from evals.torchrun import score
from evals.torchrun.cases import RUNS
from evals.torchrun.launch import perform

FIXTURES = Path(__file__).parents[1] / "fixtures" / "torchrun"
TRUTH: dict[str, dict[str, Any]] = json.loads((FIXTURES / "truth.json").read_text(encoding="utf-8"))
BROKEN = sorted(name for name, truth in TRUTH.items() if truth["core"])
OTHERS = sorted(name for name, truth in TRUTH.items() if not truth["core"])
LIVE = ("one-kill", "one-hang", "one-segv", "four-exception", "four-exit")
"""A subset that takes well under a minute; the kept logs cover the rest."""

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: pip install torch")


@cache
def case_of(name: str) -> Case:
    """The case of a kept run."""
    return score.case_of(FIXTURES / name)


@pytest.mark.parametrize("name", BROKEN)
def test_the_rank_is_right_for_each_way_to_fail(name: str) -> None:
    assert score.blamed(case_of(name)) == TRUTH[name]["guilty"]


@pytest.mark.parametrize("name", BROKEN)
def test_status_cause_stage_and_iteration_are_right_for_each_way_to_fail(name: str) -> None:
    assert score.wrong(case_of(name), TRUTH[name]) == []


@pytest.mark.parametrize("name", OTHERS)
def test_further_runs_are_told_right(name: str) -> None:
    assert score.wrong(case_of(name), TRUTH[name]) == []


@needs_torch
@pytest.mark.parametrize("name", LIVE)
def test_the_rank_is_right_for_a_job_that_fails_now(name: str, tmp_path: Path) -> None:
    run = RUNS[name]
    folder = perform(run, tmp_path / "run", timeout=8.0)
    assert score.blamed(score.case_of(folder / "job")) == run.guilty
