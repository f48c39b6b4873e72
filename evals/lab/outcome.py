"""What the laboratory alone knows of a finished run. Times are epoch seconds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the laboratory alone knows of a run."""

    codes: dict[int, int | None]
    """Exit code of each node's launcher."""
    began: float
    ended: float
    overdue: bool = False
    """It had to be stopped because it was beyond its time limit."""
    marks: list[dict[str, Any]] = field(default_factory=list)
    """What happened: callback, place, rank, step, time, process."""
    acts: list[dict[str, Any]] = field(default_factory=list)
    """What was done from outside, and when."""
    last_steps: dict[int, int] = field(default_factory=dict)
    """The last step each rank began."""
    paths: dict[str, str] = field(default_factory=dict)
    """Paths of this machine that occur in the logs, with the neutral ones to show instead."""

    def write(self, file: Path) -> None:
        """As JSON."""
        file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def read_outcome(file: Path) -> Outcome:
    """From JSON; keys of nodes and ranks are numbers again."""
    told = json.loads(file.read_text(encoding="utf-8"))
    for key in ("codes", "last_steps"):
        told[key] = {int(number): value for number, value in told[key].items()}
    return Outcome(**told)
