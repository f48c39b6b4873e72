"""The bars: what must be reached, what was measured, and why where it was not reached."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from assistant.errors import BadTruth
from evals.jobset import DATA, Half
from evals.scorers.board import CANNOT, EVENT_FIGURES, SHARES, Board, Cell, in_half, of_size

BARS = DATA / "bars.yaml"


class Bar(BaseModel):
    """One thing that must be reached."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: str
    column: str
    at_least: float | None = None
    ranks: tuple[int, int] | None = None
    """Compare scaled replicas: the first size must be within `within` of the second."""
    within: float | None = None
    why: str = ""
    """Shown where the bar is not reached."""

    @model_validator(mode="after")
    def _complete(self) -> Bar:
        if self.column not in SHARES and self.column not in EVENT_FIGURES:
            raise ValueError(f"there is no column {self.column!r}")
        if (self.at_least is None) == (self.ranks is None or self.within is None):
            raise ValueError("give either `at_least`, or `ranks` and `within`")
        return self


class Bars(BaseModel):
    """The file of bars."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.bars/1"] = Field(alias="schema")
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """A bar and what was measured."""

    bar: Bar
    cells: tuple[Cell, ...]
    """One, or two where sizes are compared."""

    @property
    def reached(self) -> bool | None:
        """None where it could not be measured."""
        values = [cell.value for cell in self.cells]
        if any(value is None for value in values):
            return None
        if self.bar.at_least is not None:
            return (values[0] or 0.0) >= self.bar.at_least
        return (values[0] or 0.0) >= (values[1] or 0.0) - (self.bar.within or 0.0) - 1e-9


def load_bars(path: Path = BARS) -> Bars:
    """The bars. Raises BadTruth."""
    try:
        return Bars.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise BadTruth(f"{path}: {error}", hint="each bar names a column and what it must reach") from error


def measured(bars: Bars, board: Board) -> list[Measured]:
    """All bars, measured on the reporting half of the real jobs, or on scaled replicas."""
    report = board.of(in_half(Half.REPORT))
    return [Measured(bar, _cells(bar, board, report)) for bar in bars.bars]


def _cells(bar: Bar, board: Board, report: Board) -> tuple[Cell, ...]:
    if bar.ranks is None:
        return (report.cell(bar.column),)
    sizes = [board.of(of_size(ranks)) for ranks in bar.ranks]
    return tuple(size.cell(bar.column) if size.scored else CANNOT for size in sizes)
