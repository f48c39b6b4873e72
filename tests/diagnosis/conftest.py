"""Small jobs written by hand, diagnosed by the real pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from assistant.case.models import Case
from assistant.pipeline import Options, diagnose

Diagnose = Callable[..., Case]


@pytest.fixture
def job(tmp_path: Path) -> Diagnose:
    """Writes files (name -> text) into a folder and diagnoses it."""

    def run(files: Mapping[str, str], options: Options | None = None) -> Case:
        folder = tmp_path / "job"
        for name, text in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        return diagnose([str(folder)], options)

    return run
