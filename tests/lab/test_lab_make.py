"""A run that went wrong is thrown away and made again, never kept; a good one is kept until its plan changes."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evals.lab.job import Job, Trigger
from evals.lab.jobs.settings import Callback
from evals.lab.make import ATTEMPTS, digest, is_kept, make, make_all
from evals.lab.outcome import Outcome, read_outcome
from evals.lab.verify import problems

MARK = {"name": "sigkill", "place": "step", "rank": 1, "step": 5, "time": 5.0, "pid": 7}


def job(**changed: object) -> Job:
    """A small job that is to fail at rank 1."""
    plain = Job("sigkill-00", "sigkill", "", 1, "ddp", "plain", 1, 2, ("n1",), settings={"who_logs": "all"})
    planned = Callback("sigkill", "step", (1,), 5)
    facts = {"callbacks": (planned,), "must_mark": ("sigkill",), "shows": ("exitcode: -9",), **changed}
    return replace(plain, **facts)  # type: ignore[arg-type]


def outcome(**changed: object) -> Outcome:
    """What a good run of it looks like."""
    good = Outcome(codes={0: 1}, began=time.time() - 3, ended=time.time(), marks=[MARK], last_steps={0: 5, 1: 5})
    return replace(good, **changed)  # type: ignore[arg-type]


def performer(
    *outcomes: Outcome, text: str = "failed (exitcode: -9) local_rank: 1\n"
) -> Callable[[Job, Path], Outcome]:
    """Stands for the launch: writes a console and ends as it is told, one outcome a call."""
    waiting = list(outcomes)

    def perform(_: Job, folder: Path) -> Outcome:
        (folder / "job").mkdir(parents=True)
        (folder / "job" / "launcher.log").write_text(text, encoding="utf-8")
        return waiting.pop(0)

    return perform


def test_a_good_run_is_kept_with_its_outcome(tmp_path: Path) -> None:
    good = outcome()
    result = make(job(), tmp_path / "run", performer(good))
    assert (result.state, result.attempts) == ("made", 1)
    assert read_outcome(tmp_path / "run" / "outcome.json") == good
    assert is_kept(job(), tmp_path / "run")


def test_a_kept_run_is_not_made_again_unless_its_plan_changes(tmp_path: Path) -> None:
    make(job(), tmp_path / "run", performer(outcome()))
    assert make(job(), tmp_path / "run", performer()).state == "kept"
    assert not is_kept(job(reaper="kill"), tmp_path / "run")
    assert is_kept(replace(job(), provable=job().provable.model_copy(update={"iteration": 9})), tmp_path / "run")


def test_a_run_whose_fault_did_not_happen_is_made_again(tmp_path: Path) -> None:
    result = make(job(), tmp_path / "run", performer(outcome(marks=[]), outcome(overdue=True), outcome()))
    assert (result.state, result.attempts) == ("made", 3)
    assert result.problems == ("sigkill did not happen at rank 1", "it was stopped at its time limit")


def test_after_three_further_attempts_it_is_given_up_and_nothing_is_kept(tmp_path: Path) -> None:
    result = make(job(), tmp_path / "run", performer(*[outcome(codes={0: 0})] * ATTEMPTS))
    assert (result.state, result.attempts, ATTEMPTS) == ("given up", 4, 4)
    assert not (tmp_path / "run").exists()
    assert json.loads((tmp_path / "run.discarded" / "problems.json").read_text()) == ["it did not fail"]


def test_what_the_machine_refuses_is_one_failed_attempt_and_ends_nothing_else(tmp_path: Path) -> None:
    good = performer(outcome(), outcome())
    refusals = iter([subprocess.TimeoutExpired("python", 60), OSError("no space")])

    def perform(one: Job, folder: Path) -> Outcome:
        if refusal := next(refusals, None):
            raise refusal
        return good(one, folder)

    (result,) = make_all([job()], tmp_path, 1, perform)
    assert (result.state, result.attempts) == ("made", 3)
    assert result.problems[1] == "it could not be run: OSError: no space"


def test_several_jobs_are_made_and_each_told(tmp_path: Path) -> None:
    jobs = [replace(job(), name=f"sigkill-{number:02}") for number in range(5)]
    results = list(make_all(jobs, tmp_path, 2, performer(*[outcome() for _ in jobs])))
    assert sorted(result.job.name for result in results) == [one.name for one in jobs]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"overdue": True}, "it was stopped at its time limit"),
        ({"codes": {0: 0}}, "it did not fail"),
        ({"marks": [{**MARK, "rank": 0}]}, "sigkill did not happen at rank 1"),
    ],
)
def test_each_thing_that_can_go_wrong_is_told(wrong: dict[str, object], told: str, tmp_path: Path) -> None:
    (tmp_path / "launcher.log").write_text("failed (exitcode: -9)\n", encoding="utf-8")
    assert problems(job(), outcome(), tmp_path) == []
    assert problems(job(), outcome(**wrong), tmp_path) == [told]


def test_traces_that_are_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "launcher.log").write_text("nothing to see\n", encoding="utf-8")
    assert problems(job(), outcome(), tmp_path) == ["no trace of exitcode: -9"]


def test_what_was_to_be_done_from_outside_must_have_been_done(tmp_path: Path) -> None:
    lost = job(trigger=Trigger("lose"), shows=())
    assert problems(lost, outcome(), tmp_path) == ["nothing was done from outside"]
    assert problems(lost, outcome(acts=[{"action": "lose", "node": 0, "time": 1.0}]), tmp_path) == []


def test_a_healthy_run_must_end_well_on_every_rank(tmp_path: Path) -> None:
    healthy = job(fails=False, callbacks=(), must_mark=(), shows=())
    (tmp_path / "a.log").write_text("training finished\n", encoding="utf-8")
    assert problems(healthy, outcome(codes={0: 0}, marks=[]), tmp_path) == ["only 1 ranks finished"]
    (tmp_path / "b.log").write_text("training finished\n", encoding="utf-8")
    assert problems(healthy, outcome(codes={0: 0}, marks=[]), tmp_path) == []
    assert problems(healthy, outcome(codes={0: 1}, marks=[]), tmp_path) == ["it failed with codes [1]"]


def test_a_rank_that_ran_on_another_node_than_planned_is_told(tmp_path: Path) -> None:
    moved = job(nodes=2, per_node=1, hosts=("n1", "n2"), shows=())
    (tmp_path / "a.log").write_text("starting on n2: rank 0 of 2, torch 2\n", encoding="utf-8")
    assert problems(moved, outcome(), tmp_path) == ["rank 0 ran on n2"]


def test_the_digest_of_a_job_leaves_out_what_is_only_believed_of_it() -> None:
    assert digest(job()) == digest(job(shows=("x",), must_mark=()))
    assert digest(job()) != digest(job(streams="tee"))
