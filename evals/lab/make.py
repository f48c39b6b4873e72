"""Makes the runs of a plan: several at a time, each verified, those that went wrong made again, finished ones kept."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.lab.job import Job
from evals.lab.launch import perform
from evals.lab.outcome import Outcome
from evals.lab.verify import problems

ATTEMPTS = 4
"""A run that went wrong is thrown away and made again, three times at most."""
Perform = Callable[[Job, Path], Outcome]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one job of the plan."""

    job: Job
    state: str
    """`kept` (it was there already), `made`, or `given up`."""
    seconds: float = 0.0
    attempts: int = 0
    problems: tuple[str, ...] = ()


def make_all(jobs: Iterable[Job], folder: Path, at_once: int, perform: Perform = perform) -> Iterator[Result]:
    """Yields each result as it comes; those already there first."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(at_once) as pool:
        started = [pool.submit(make, job, folder / job.name, perform) for job in jobs]
        for one in as_completed(started):
            yield one.result()


def make(job: Job, folder: Path, perform: Perform = perform) -> Result:
    """One job: kept if a good run of exactly this plan is there, else made until it is good or tried often enough."""
    if is_kept(job, folder):
        return Result(job, "kept")
    told: tuple[str, ...] = ()
    for attempt in range(1, ATTEMPTS + 1):
        outcome, wrong = _attempt(job, folder, perform)
        if outcome and not wrong:
            outcome.write(folder / "outcome.json")
            (folder / "plan.sha256").write_text(digest(job) + "\n", encoding="ascii")
            return Result(job, "made", outcome.ended - outcome.began, attempt, told)
        told = (*told, "; ".join(wrong))
        _throw_away(folder, wrong)
    return Result(job, "given up", 0.0, ATTEMPTS, told)


def _attempt(job: Job, folder: Path, perform: Perform) -> tuple[Outcome | None, list[str]]:
    """One run and what is wrong with it; what the machine refuses is wrong too, and no reason to end the others."""
    try:
        outcome = perform(job, folder)
        return outcome, problems(job, outcome, folder / "job")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return None, [f"it could not be run: {type(error).__name__}: {error}"]


def _throw_away(folder: Path, wrong: list[str]) -> None:
    """The last bad run stays beside the set, for whoever wants to know why; it is never read again."""
    discarded = folder.with_name(f"{folder.name}.discarded")
    shutil.rmtree(discarded, ignore_errors=True)
    if folder.exists():
        folder.rename(discarded)
        (discarded / "problems.json").write_text(json.dumps(wrong, indent=1) + "\n", encoding="utf-8")


def is_kept(job: Job, folder: Path) -> bool:
    """Whether a verified run of exactly this plan is there."""
    try:
        return (folder / "plan.sha256").read_text(encoding="ascii").strip() == digest(job)
    except OSError:
        return False


def digest(job: Job) -> str:
    """Names how a job is run; what is true of it is no part, so that truth may be written anew for kept runs."""
    facts = asdict(job)
    for key in ("provable", "injected", "shows", "must_mark", "patience"):
        del facts[key]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
