"""What a person should read before labels are believed: records with suspicious words that no label holds for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from evals.lab.finish import finished
from evals.lab.job import Job
from evals.lab.labelling import labels_of, unlabelled
from evals.lab.make import is_kept
from evals.lab.outcome import read_outcome

SHOWN = 160
"""Characters of a record that are shown."""


def review(jobs: list[Job], runs: Path) -> Iterator[str]:
    """A line a run with the roles of its labels, and a line for each form of unlabelled suspicious record."""
    for job in jobs:
        folder = runs / job.name
        if not is_kept(job, folder):
            continue
        run = finished(job, read_outcome(folder / "outcome.json"), folder / "job")
        labels = labels_of(job, run.records)
        yield f"{job.name} {job.flavour}: {', '.join(label.role.value for label in labels) or 'no label'}"
        left = Counter(record.key[:SHOWN] for record in unlabelled(labels, run.records) if not known(record.key))
        yield from (f"    {count} x {text}" for text, count in sorted(left.items()))


def known(text: str) -> bool:
    """Lines that every launcher writes at LOGLEVEL=INFO, whatever happens."""
    return "rdzv_configs" in text or "signals_to_handle" in text or "log_dir" in text
