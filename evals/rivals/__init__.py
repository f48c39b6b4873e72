"""Others on the same files: baselines of papers, what torchrun says itself, and two packages that do the same work."""

from __future__ import annotations

from evals.prediction import Tool
from evals.rivals import gpualert, nvrx
from evals.rivals.first_errors import ErrorCount, ErrorTime
from evals.rivals.forest import Forest
from evals.rivals.grep import Grep
from evals.rivals.torchelastic import Torchelastic

ENVIRONMENTS = (nvrx.ENVIRONMENT, gpualert.ENVIRONMENT)
"""What `python -m evals.rivals build` makes."""


def tools() -> tuple[Tool, ...]:
    """Every rival that can run here; `missing` tells of the others."""
    rivals: list[Tool] = [ErrorTime(), ErrorCount(), Grep(), Forest(), Torchelastic()]
    if nvrx.ENVIRONMENT.ready:
        rivals.append(nvrx.RestartAgent())
    if gpualert.ENVIRONMENT.ready:
        rivals.append(gpualert.Gpualert())
    return tuple(rivals)


def missing() -> dict[str, str]:
    """Names of the rivals that cannot run here, each with the reason."""
    return {environment.name: environment.problem for environment in ENVIRONMENTS if environment.problem}
