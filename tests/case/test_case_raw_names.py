"""File names may hold any bytes; a stored case keeps them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.case.store import CaseStore, Inputs
from assistant.errors import StoreError
from tests.samples import failed_case


def test_a_name_that_is_no_unicode_is_stored_and_comes_back(tmp_path: Path) -> None:
    raw = os.fsdecode(b"/logs/bad\xff\xfe.log")
    store = CaseStore(tmp_path)
    store.save(failed_case(), Inputs((raw, "/logs/plain.log"), {"baseline": raw}))
    assert store.load("last").inputs == Inputs((raw, "/logs/plain.log"), {"baseline": raw})
    (summary,) = store.summaries()
    assert summary.paths == ("/logs/bad\\udcff\\udcfe.log", "/logs/plain.log")


def test_a_data_folder_that_no_system_can_have_is_refused_in_words() -> None:
    with pytest.raises(StoreError, match="cannot write"):
        CaseStore(Path("a\0b")).save(failed_case(), Inputs(()))
