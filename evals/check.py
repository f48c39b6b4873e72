"""The fast subset that fails a build when quality drops: `python -m evals check`.

Which jobs and what must be reached stands in `evals/data/check.yaml`. Jobs of the reporting half count in the sums, but
nothing is told of them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from assistant.errors import BadTruth
from evals.jobset import DATA, Half, Job, load_set
from evals.runner import PROCESSES, answers_of
from evals.scorers.board import EVENT_FIGURES, SHARES, Board, boards
from evals.tools import OURS

CHECK = DATA / "check.yaml"


class Subset(BaseModel):
    """The file of the check."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.check/1"] = Field(alias="schema")
    at_least: dict[str, float]
    """By column of the scoreboard."""
    jobs: tuple[str, ...]

    @field_validator("at_least")
    @classmethod
    def _known(cls, at_least: dict[str, float]) -> dict[str, float]:
        if unknown := sorted(set(at_least) - set(SHARES) - set(EVENT_FIGURES)):
            raise ValueError(f"there is no column {unknown[0]!r}")
        return at_least


@dataclass(frozen=True, slots=True)
class Line:
    """One threshold with what was measured."""

    column: str
    at_least: float
    value: float | None
    n: int

    @property
    def holds(self) -> bool:
        """A figure that nothing asks for any more does not hold."""
        return self.value is not None and self.value >= self.at_least - 1e-9


def load_subset(path: Path = CHECK) -> Subset:
    """The subset. Raises BadTruth."""
    try:
        return Subset.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise BadTruth(f"{path}: {error}", hint="it names jobs, and for columns what they must reach") from error


def jobs_of(subset: Subset, folder: Path) -> list[Job]:
    """The jobs of the subset. Raises BadTruth for one that the set does not have."""
    known = {job.name: job for job in load_set(folder).jobs}
    if absent := [name for name in subset.jobs if name not in known]:
        raise BadTruth(f"{CHECK.name}: {absent[0]} is no job of {folder}", hint="choose the subset again")
    return [known[name] for name in subset.jobs]


def board_of(subset: Subset, folder: Path, cache: Path, processes: int = PROCESSES) -> Board:
    """Our board over the subset."""
    (board,) = boards(answers_of(jobs_of(subset, folder), [OURS], cache=cache, processes=processes), [OURS])
    return board


def lines_of(subset: Subset, board: Board) -> list[Line]:
    """Each threshold, measured."""
    cells = {column: board.cell(column) for column in subset.at_least}
    return [Line(column, least, cells[column].value, cells[column].n) for column, least in subset.at_least.items()]


def narrated(lines: list[Line], board: Board) -> Iterator[str]:
    """What is printed: all thresholds, and the misses that may be looked at."""
    for line in lines:
        value = "-" if line.value is None else f"{100 * line.value:.1f}"
        word = "ok " if line.holds else "LOW"
        yield f"{word} {line.column:24} {value:>6}  at least {100 * line.at_least:.1f}  n {line.n}"
    for each in board.scored:
        if each.marks.wrong and each.job.half is not Half.REPORT:
            yield f"    {each.job.name} ({each.kind}): {'; '.join(each.marks.wrong)}"
    hidden = sum(bool(each.marks.wrong) and each.job.half is Half.REPORT for each in board.scored)
    if hidden:
        yield f"    and {hidden} of the reporting half, which are not told one by one"
