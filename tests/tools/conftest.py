"""Jobs to ask tools about: a kept real one, and hand-made ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assistant.tools.calls import Calls
from evals.desks import Opened, opened, read


@pytest.fixture(scope="session")
def hang() -> Iterator[Opened]:
    """Rank 5 of 8, on gpu-a03, fell silent; the others timed out."""
    with opened("knowledge/examples/hanging-rank") as job:
        yield job


@pytest.fixture
def calls(hang: Opened) -> Calls:
    """Tools on that job."""
    return hang.calls(search=False)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Opened]:
    """Reads hand-made logs: names with text or bytes."""

    def make(**files: str | bytes) -> Opened:
        for name, text in files.items():
            file = tmp_path / "job" / f"{name}.log"
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read("made", tmp_path / "job")

    return make
