"""Scaled replicas for the report: made into the cache from the laboratory's set, and scored apart from real runs."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from evals.jobset import Job, load_set
from evals.scale.replicas import make_replicas

SEED = 20261129
COUNTS = {64: 8, 512: 4, 4096: 4}
"""Replicas by world size; every size begins with the same jobs."""


def replicas(lab: Path, cache: Path, counts: dict[int, int] | None = None) -> list[Job]:
    """The replicas of all sizes, without the small healthy twins that lie beside them."""
    return [job for ranks, count in (counts or COUNTS).items() for job in _of_size(lab, cache, ranks, count)]


def _of_size(lab: Path, cache: Path, ranks: int, count: int) -> Iterable[Job]:
    digest = hashlib.sha256((lab / "truth.json").read_bytes()).hexdigest()[:10]
    folder = cache / "replicas" / f"{digest}-{ranks}-{count}"
    if not (folder / "truth.json").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        make_replicas(lab, folder, ranks, count, SEED, form="archive")
    return [job for job in load_set(folder).jobs if job.scaled]
