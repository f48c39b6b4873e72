from __future__ import annotations

import os
import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from assistant.baselines.store import BaselineStore
from assistant.errors import NotHealthy, StoreError, UnknownBaseline, UsageError
from assistant.events.models import Scan
from evals.planted import Plan, rank_streams


def run(number: int) -> Scan:
    plan = Plan(rank_streams(2))
    for rank in range(2):
        plan.say(rank, "build the model", times=number + 1)
    return plan.scan()


def add(root: Path, number: int) -> None:
    BaselineStore(root).add("gpt", run(number), "healthy")


def test_what_was_added_is_read_back(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path)
    added = store.add("gpt", run(0), "healthy")
    assert added.new
    assert store.load("gpt") == added.baseline
    assert store.names() == ["gpt"]


def test_a_second_run_is_merged_and_a_repeated_one_is_not(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path)
    store.add("gpt", run(0), "healthy")
    assert len(store.add("gpt", run(1), "healthy").baseline.runs) == 2
    assert not store.add("gpt", run(1), "healthy").new
    assert len(store.load("gpt").runs) == 2


@pytest.mark.parametrize("status", ["failed", "incomplete", "unknown"])
def test_a_run_that_is_not_healthy_is_refused_unless_forced(tmp_path: Path, status: str) -> None:
    store = BaselineStore(tmp_path)
    with pytest.raises(NotHealthy) as caught:
        store.add("gpt", run(0), status)
    assert "--force" in caught.value.hint
    assert store.names() == []
    assert store.add("gpt", run(0), status, force=True).new


def test_an_unknown_name_gets_the_nearest_ones(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path)
    with pytest.raises(UnknownBaseline) as caught:
        store.load("gpt")
    assert "baseline add" in caught.value.hint
    store.add("llama-70b", run(0), "healthy")
    with pytest.raises(UnknownBaseline) as caught:
        store.load("lama-70b")
    assert "llama-70b" in caught.value.hint
    with pytest.raises(UnknownBaseline):
        store.remove("lama-70b")


def test_a_removed_baseline_is_gone(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path)
    store.add("gpt", run(0), "healthy")
    store.remove("gpt")
    assert store.names() == []


@pytest.mark.parametrize("name", ["", "../gpt", "a/b", ".hidden", "x" * 65, "a\nb"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        BaselineStore(tmp_path).add(name, run(0), "healthy")


def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path)
    store.add("gpt", run(0), "healthy")
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in store.folder.iterdir()} == {0o600}


def test_a_damaged_file_is_named_and_the_others_are_still_read(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path)
    store.add("gpt", run(0), "healthy")
    (store.folder / "bad.json.zst").write_bytes(b"nonsense")
    with pytest.raises(StoreError):
        store.load("bad")
    loaded, damaged = store.load_all()
    assert [baseline.name for baseline in loaded] == ["gpt"]
    assert len(damaged) == 1
    assert "bad" in damaged[0]


def test_a_data_folder_that_is_a_file_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError) as caught:
        BaselineStore(tmp_path / "data").add("gpt", run(0), "healthy")
    assert "data_dir" in caught.value.hint


def test_runs_added_at_the_same_time_are_all_counted(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        list(pool.map(add, [tmp_path] * 8, range(8)))
    assert len(BaselineStore(tmp_path).load("gpt").runs) == 8
    assert [name for name in os.listdir(tmp_path / "baselines") if name.endswith(".tmp")] == []
