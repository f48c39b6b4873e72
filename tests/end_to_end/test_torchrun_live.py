"""The right rank from what real torchrun jobs leave behind: some run now, all from kept logs."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from assistant.case.models import Case

pipeline = pytest.importorskip("assistant.pipeline", reason="the pipeline is not there yet", exc_type=ImportError)

FIXTURES = Path(__file__).parents[1] / "fixtures" / "torchrun"
TRUTH: dict[str, dict[str, Any]] = json.loads((FIXTURES / "truth.json").read_text(encoding="utf-8"))
BROKEN = sorted(name for name, truth in TRUTH.items() if truth["core"])
OTHERS = sorted(name for name, truth in TRUTH.items() if not truth["core"])
LIVE = ("one-kill", "one-hang", "one-segv", "four-exception", "four-exit")
"""A subset that takes well under a minute; the kept logs cover the rest."""

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: pip install torch")


@cache
def diagnose(path: Path) -> Case:
    """The case of one job, compared with nothing stored."""
    case = pipeline.diagnose([str(path)], pipeline.Options())
    assert isinstance(case, Case)
    return case


def blamed(case: Case) -> int | None:
    """The rank that is blamed first, None where nobody is."""
    return case.suspects[0].rank if case.suspects else None


def wrong(case: Case, truth: dict[str, Any]) -> list[str]:
    """What the case says against the truth, in words."""
    said = {"status": case.status.value, "guilty": blamed(case)}
    bad = [f"{key}: {said[key]!r}, not {truth[key]!r}" for key in said if said[key] != truth[key]]
    if truth["causes"] and case.verdict.cause not in truth["causes"]:
        bad.append(f"cause: {case.verdict.cause}, not one of {truth['causes']}")
    if truth["stages"] and (case.verdict.stage is None or case.verdict.stage.value not in truth["stages"]):
        bad.append(f"stage: {case.verdict.stage}, not one of {truth['stages']}")
    if truth["iteration"] is not None and abs((case.verdict.iteration or -9) - truth["iteration"]) > 1:
        bad.append(f"iteration: {case.verdict.iteration}, not {truth['iteration']}")
    return bad


@pytest.mark.parametrize("name", BROKEN)
def test_the_rank_is_right_for_each_way_to_fail(name: str) -> None:
    assert blamed(diagnose(FIXTURES / name)) == TRUTH[name]["guilty"]


@pytest.mark.parametrize("name", BROKEN)
def test_status_cause_stage_and_iteration_are_right_for_each_way_to_fail(name: str) -> None:
    assert wrong(diagnose(FIXTURES / name), TRUTH[name]) == []


@pytest.mark.parametrize("name", OTHERS)
def test_further_runs_are_told_right(name: str) -> None:
    assert wrong(diagnose(FIXTURES / name), TRUTH[name]) == []


@needs_torch
@pytest.mark.parametrize("name", LIVE)
def test_the_rank_is_right_for_a_job_that_fails_now(name: str, tmp_path: Path) -> None:
    from evals.torchrun.cases import RUNS
    from evals.torchrun.launch import perform

    run = RUNS[name]
    folder = perform(run, tmp_path / "run", timeout=8.0)
    assert blamed(diagnose(folder / "job")) == run.guilty
