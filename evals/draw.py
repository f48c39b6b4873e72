"""Chooses the jobs of the fast subset and what they must reach: `python -m evals draw`.

One job of each drawn kind, as many kinds of one half as of the other, and some healthy jobs; drawn by a seed, never by
how well they are diagnosed. What must be reached is what is reached when the subset is drawn, less one job in each
column (two points for events), so that a build fails when quality drops and not when a single job turns.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from evals.check import CHECK
from evals.jobset import Half, Job
from evals.scorers.board import Board

SEED = 20261129
KINDS, HEALTHY = 12, 6
"""Kinds of each half, and healthy jobs."""
COLUMNS = ("status", "cause", "blame", "rank@1", "no_blame", "stage", "iteration_near", "action", "verdict")
STRICT = ("healthy_not_failed",)
"""Not one job may be lost here."""
EVENTS = "events_f1"
SLACK = 0.02


def drawn(jobs: Sequence[Job], seed: int = SEED) -> list[Job]:
    """The subset, in the order of names."""
    chance = random.Random(seed)
    by_kind: dict[Half, dict[str, list[Job]]] = {half: defaultdict(list) for half in Half}
    for job in sorted(jobs, key=lambda job: job.name):
        if not job.scaled:
            by_kind[job.half][job.truth.kind].append(job)
    chosen: list[Job] = []
    for half in (Half.TUNE, Half.REPORT):
        kinds = sorted(by_kind[half])
        chosen += [chance.choice(by_kind[half][kind]) for kind in chance.sample(kinds, min(KINDS, len(kinds)))]
    healthy = [job for kind in sorted(by_kind[Half.BOTH]) for job in by_kind[Half.BOTH][kind]]
    chosen += chance.sample(healthy, min(HEALTHY, len(healthy)))
    return sorted(chosen, key=lambda job: job.name)


def thresholds(board: Board) -> dict[str, float]:
    """What the subset must reach from now on."""
    least: dict[str, float] = {}
    for column in (*COLUMNS, *STRICT):
        found = board.share(column)
        if found.n:
            lost = 0 if column in STRICT else 1
            least[column] = math.floor(1000 * max(0, found.right - lost) / found.n) / 1000
    f1 = board.cell(EVENTS).value
    return least if f1 is None else {**least, EVENTS: math.floor(1000 * max(0.0, f1 - SLACK)) / 1000}


def write(jobs: Sequence[Job], least: dict[str, float], path: Path = CHECK) -> None:
    """The file of the check."""
    lines = [
        "# The fast subset that fails a build when quality drops. Written by `python -m evals draw`, which draws by",
        "# a seed; run it again when the set changes, and read what it changes in `at_least` before you commit it.",
        "schema: rootrank.check/1",
        "at_least:",
        *(f"  {column}: {value}" for column, value in least.items()),
        "jobs:",
        *(f"  - {job.name}" for job in jobs),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
