"""Keeps the figures that were measured last, for the README and the report."""

from __future__ import annotations

import json
from typing import Any

from evals.jobset import DATA


def keep(name: str, figures: dict[str, Any]) -> None:
    """Writes `evals/data/NAME.json`."""
    (DATA / f"{name}.json").write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")
