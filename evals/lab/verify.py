"""Whether a run is an example of its kind: it ended in time, as expected, and the fault left its traces."""

from __future__ import annotations

import re
from pathlib import Path

from evals.lab.job import Job
from evals.lab.outcome import Outcome


def problems(job: Job, outcome: Outcome, folder: Path) -> list[str]:
    """What is wrong with the run, in words; empty where it may be labelled. `folder` is what the job left behind."""
    return [
        *(["it was stopped at its time limit"] if outcome.overdue else []),
        *_of_ending(job, outcome),
        *_of_marks(job, outcome),
        *_of_text(job, folder),
        *_of_places(job, folder),
    ]


def _of_ending(job: Job, outcome: Outcome) -> list[str]:
    failed = any(code != 0 for code in outcome.codes.values())
    if failed and not job.fails:
        return [f"it failed with codes {list(outcome.codes.values())}"]
    return ["it did not fail"] if job.fails and not failed else []


def _of_marks(job: Job, outcome: Outcome) -> list[str]:
    """Each planned callback has happened at each of its ranks; what is to be done from outside was done."""
    happened = {(mark["name"], mark["rank"]) for mark in outcome.marks}
    wanted = {
        (planned.name, rank)
        for planned in job.callbacks
        if planned.name in job.must_mark
        for rank in planned.ranks or range(job.world)
    }
    missing = [f"{name} did not happen at rank {rank}" for name, rank in sorted(wanted - happened)]
    return missing + (["nothing was done from outside"] if job.trigger and not outcome.acts else [])


def _of_text(job: Job, folder: Path) -> list[str]:
    text = text_of(folder)
    lacking = [f"no trace of {pattern}" for pattern in job.shows if not re.search(pattern, text)]
    if not job.fails:
        ended = len(re.findall(r"training finished", text))
        talkers = job.world if job.settings.get("who_logs") == "all" else 1
        lacking += [f"only {ended} ranks finished"] if ended < talkers else []
    return lacking


STARTED = re.compile(r"starting on (\S+?): rank ([0-9]+) of ")


def _of_places(job: Job, folder: Path) -> list[str]:
    """A dynamic rendezvous may number the nodes otherwise than the plan does; then its truth would be wrong."""
    told = {(host, int(rank)) for host, rank in STARTED.findall(text_of(folder)) if host in job.hosts}
    odd = sorted(f"rank {rank} ran on {host}" for host, rank in told if job.hosts[job.node_of(rank)] != host)
    return odd[:1]


def text_of(folder: Path) -> str:
    """All text of a job's files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
