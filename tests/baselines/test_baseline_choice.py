from __future__ import annotations

from pathlib import Path

import pytest

from assistant.baselines.choice import choose_baseline
from assistant.baselines.store import BaselineStore
from assistant.errors import NotALog, UnknownBaseline
from assistant.events.models import Scan
from evals.planted import Plan, rank_streams


def read(paths: tuple[Path, ...]) -> Scan:
    """A stand-in for the real reader: every word of the files is one event."""
    plan = Plan(rank_streams(1))
    for path in paths:
        if "binary" in path.name:
            raise NotALog("not a log", hint="")
        for word in path.read_text().split():
            plan.say(0, word)
    return plan.scan()


@pytest.fixture
def store(tmp_path: Path) -> BaselineStore:
    return BaselineStore(tmp_path / "data")


def test_a_folder_of_healthy_runs_is_a_baseline(tmp_path: Path, store: BaselineStore) -> None:
    folder = tmp_path / "good"
    folder.mkdir()
    (folder / "monday.log").write_text("one two")
    (folder / "tuesday.log").write_text("one three")
    (folder / "binary.bin").write_bytes(b"\0")
    baseline, why = choose_baseline(read(()), str(folder), store, read)
    assert baseline is not None
    assert len(baseline.runs) == 2
    assert why == "healthy runs from good (1 of its entries not read)"


def test_a_stored_name_is_loaded(store: BaselineStore) -> None:
    store.add("gpt", read(()), "healthy")
    assert choose_baseline(read(()), "gpt", store, read) == (store.load("gpt"), "the baseline gpt")


@pytest.mark.parametrize("name", ["gtp", "no/such/folder"])
def test_what_is_neither_stored_nor_a_path_is_refused(store: BaselineStore, name: str) -> None:
    store.add("gpt", read(()), "healthy")
    with pytest.raises(UnknownBaseline) as caught:
        choose_baseline(read(()), name, store, read)
    assert "gpt" in caught.value.hint


def test_a_folder_without_a_readable_run_is_refused(tmp_path: Path, store: BaselineStore) -> None:
    (tmp_path / "binary.bin").write_bytes(b"\0")
    with pytest.raises(UnknownBaseline):
        choose_baseline(read(()), str(tmp_path / "binary.bin"), store, read)


def test_unasked_the_most_similar_stored_one_is_taken_if_there_is_one(store: BaselineStore) -> None:
    assert choose_baseline(read(()), None, store, read) == (None, "no baseline is stored")
