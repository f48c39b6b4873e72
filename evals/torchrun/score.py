"""`python -m evals.torchrun.score FOLDER`: diagnoses kept runs and compares what comes out with what is true.

FOLDER holds archives beside one `truth.json` (as `pack` writes them), or a folder a run, each with its own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assistant.case.models import Case
from assistant.pipeline import Options, diagnose

Truth = dict[str, Any]


def kept(folder: Path) -> Iterator[tuple[str, Path, Truth]]:
    """Name, path to diagnose, and truth of each run."""
    index = folder / "truth.json"
    if index.is_file():
        truths: dict[str, Truth] = json.loads(index.read_text(encoding="utf-8"))
        for name, truth in truths.items():
            yield name, folder / name, truth
        return
    for file in sorted(folder.glob("*/truth.json")):
        yield file.parent.name, file.parent / "job", json.loads(file.read_text(encoding="utf-8"))


def case_of(path: Path) -> Case:
    """The case of one run."""
    return diagnose([str(path)], Options())


def blamed(case: Case) -> int | None:
    """The rank that is blamed first, None where nobody is."""
    return case.suspects[0].rank if case.suspects else None


def rank_is_right(case: Case, truth: Truth) -> bool:
    """Whether the guilty rank is blamed first, or nobody where nobody is right."""
    rank = blamed(case)
    return rank == truth["guilty"] or (rank is None and not case.suspects and bool(truth["nobody_too"]))


def wrong(case: Case, truth: Truth) -> list[str]:
    """What the case says against the truth, in words; empty where it is right."""
    bad = []
    if case.status.value != truth["status"]:
        bad.append(f"status {case.status.value}, not {truth['status']}")
    if not rank_is_right(case, truth):
        bad.append(f"guilty {blamed(case)}, not {truth['guilty']}")
    if truth["causes"] and case.verdict.cause not in truth["causes"]:
        bad.append(f"cause {case.verdict.cause}, not {' or '.join(truth['causes'])}")
    stage = case.verdict.stage.value if case.verdict.stage else None
    if truth["stages"] and stage not in truth["stages"]:
        bad.append(f"stage {stage}, not {' or '.join(truth['stages'])}")
    iteration = case.verdict.iteration
    if truth["iteration"] is not None and (iteration is None or abs(iteration - truth["iteration"]) > 1):
        bad.append(f"iteration {iteration}, not {truth['iteration']}")
    return bad


def main() -> None:
    """Prints a line a run and the sums."""
    parser = argparse.ArgumentParser(prog="python -m evals.torchrun.score", description=__doc__)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    right = ranks = runs = 0
    for name, path, truth in kept(chosen.folder):
        case = case_of(path)
        problems = wrong(case, truth)
        runs, right, ranks = runs + 1, right + (not problems), ranks + rank_is_right(case, truth)
        print(f"{name:18} {truth['name']:24} {'right' if not problems else '; '.join(problems)}", flush=True)
    print(f"\n{ranks} of {runs} ranks right, {right} of {runs} right in every respect")


if __name__ == "__main__":
    main()
