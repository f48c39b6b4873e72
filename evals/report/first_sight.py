"""The figures of the reporting half at first sight, kept so that later ones can be judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import BadTruth
from evals.report.bars import Measured
from evals.report.tables import percent

FILE = Path(__file__).parents[1] / "data" / "first_sight.yaml"


class FirstSight(BaseModel):
    """What was measured before anything was changed with the kinds of that half in mind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.first_sight/1"] = Field(alias="schema")
    date: str
    jobs: int
    figures: dict[str, float]
    mended_since: tuple[str, ...]


def load_first_sight(path: Path = FILE) -> FirstSight:
    """The kept figures. Raises BadTruth where they cannot be read."""
    try:
        return FirstSight.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise BadTruth(f"{path}: {' '.join(str(error).split())[:300]}", hint="restore the file") from error


def first_sight(results: Sequence[Measured]) -> list[str]:
    """The section of the report: then and now, and what was mended in between."""
    kept = load_first_sight()
    rows = [
        f"| {each.bar.what} | {percent(kept.figures[each.bar.column])} | {percent(each.cells[0].value)} |"
        for each in results
        if each.bar.column in kept.figures and each.bar.ranks is None
    ]
    mended = [f"- {what}" for what in kept.mended_since]
    return [
        "## The reporting half at first sight",
        "",
        f"On {kept.date} the half was scored for the first time ({kept.jobs} jobs, healthy ones included). What was "
        "mended then was mended knowing the kinds, and the jobs of one kind (library_version) were run by hand to see "
        "whether a new comparison misfires; only the first column is blind. Mended since:",
        "",
        *mended,
        "",
        "| | at first sight | now |",
        "|---|---:|---:|",
        *rows,
        "",
    ]
