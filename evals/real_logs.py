"""Diagnoses a folder of real logs whose truth stands in a table, and prints what is right.

`python -m evals.real_logs FOLDER` expects `FOLDER/README.md` with a table `| case | status | cause (any of) | guilty |
stage (any of) | iteration |` and `FOLDER/<case>/job`, with `FOLDER/<case>/baseline` where there are healthy runs. The
exit code is 1 where anything differs.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.case.models import Candidate, Case
from assistant.pipeline import Options, diagnose

ROW = re.compile(r"^\| *([\w-]+) *\| *(failed|healthy|incomplete) *\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|\s*$")


@dataclass(frozen=True, slots=True)
class Truth:
    """What must come out of one case; empty tuples and None are not asked for."""

    case: str
    status: str
    causes: tuple[str, ...]
    guilty: str
    stages: tuple[str, ...]
    iteration: int | None


def truths(folder: Path) -> Iterator[Truth]:
    """The rows of the table."""
    for line in (folder / "README.md").read_text(encoding="utf-8").splitlines():
        found = ROW.match(line)
        if found:
            case, status, causes, guilty, stages, iteration = (cell.strip() for cell in found.groups())
            number = re.match(r"\d+", iteration)
            yield Truth(case, status, _causes(causes), guilty, _words(stages), int(number[0]) if number else None)


def _words(cell: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in cell.split(",") if word.strip())


def _causes(cell: str) -> tuple[str, ...]:
    """Cause classes; `.class` goes on with the layer before it."""
    spelled: list[str] = []
    for word in _words(cell):
        layer = spelled[-1].split(".")[0] if spelled else ""
        spelled.append(layer + word if word.startswith(".") else word)
    return tuple(spelled)


def differences(truth: Truth, case: Case) -> list[str]:
    """What is not as it must be, in words."""
    verdict = case.verdict
    found = []
    if case.status != truth.status:
        found.append(f"status {case.status}")
    if truth.causes and verdict.cause not in truth.causes:
        found.append(f"cause {verdict.cause}")
    if not _blamed_right(truth.guilty, case.suspects):
        found.append(f"suspects {[(s.node, s.rank) for s in case.suspects]}")
    if truth.stages and verdict.stage not in truth.stages:
        found.append(f"stage {verdict.stage}")
    if truth.iteration is not None and abs((verdict.iteration or -9) - truth.iteration) > 1:
        found.append(f"iteration {verdict.iteration}")
    return found


def _blamed_right(guilty: str, suspects: tuple[Candidate, ...]) -> bool:
    if guilty == "none":
        return not suspects
    rank = re.match(r"rank (\d+)", guilty)
    if rank:
        return [s.rank for s in suspects] == [int(rank[1])]
    names = re.findall(r"[\w.-]+", guilty)
    return len(suspects) == 1 and suspects[0].node in names


def main(arguments: list[str]) -> int:
    """Prints a Markdown table; 1 where a case is wrong."""
    folder = Path(arguments[0])
    print("| case | verdict | who | stage | iteration | seconds | |\n| --- | --- | --- | --- | --- | --- | --- |")
    wrong = 0
    for truth in truths(folder):
        baseline = folder / truth.case / "baseline"
        started = time.monotonic()
        case = diagnose(
            [str(folder / truth.case / "job")], Options(baseline=str(baseline) if baseline.is_dir() else None)
        )
        differs = differences(truth, case)
        wrong += bool(differs)
        print(_row(truth, case, time.monotonic() - started, differs))
    return 1 if wrong else 0


def _row(truth: Truth, case: Case, seconds: float, differs: list[str]) -> str:
    verdict = case.verdict
    who = ", ".join(f"rank {s.rank}" if s.rank is not None else str(s.node) for s in case.suspects) or "nobody"
    cause = f"{case.status}, {verdict.cause}"
    cells = [truth.case, cause, who, str(verdict.stage or "-"), str(verdict.iteration or "-"), f"{seconds:.1f}"]
    return f"| {' | '.join(cells)} | {'; '.join(differs) or 'right'} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
