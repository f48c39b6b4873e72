"""Cases to talk about: kept real jobs, opened once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evals.desks import Opened, opened


@pytest.fixture(scope="session")
def hang() -> Iterator[Opened]:
    """Rank 5 of 8, on gpu-a03, fell silent; the others timed out."""
    with opened("knowledge/examples/hanging-rank") as job:
        yield job


@pytest.fixture(scope="session")
def killed() -> Iterator[Opened]:
    """Rank 2 on n03 was killed."""
    with opened("tests/fixtures/torchrun/job-05") as job:
        yield job


@pytest.fixture(scope="session")
def healthy() -> Iterator[Opened]:
    """Nothing failed."""
    with opened("tests/fixtures/torchrun/job-03") as job:
        yield job
