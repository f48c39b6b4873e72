"""Stored cases: they come back as they were, survive bad luck, and are nobody else's to read."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

from assistant.case.store import STORE_VERSION, CaseStore, Inputs
from assistant.errors import StoreError, UnknownCase
from tests.samples import failed_case, healthy_case, unknown_case

INPUTS = Inputs(("/logs/job-8812",), {"job": None})
DAY = 86_400


@pytest.fixture
def store(tmp_path: Path) -> CaseStore:
    return CaseStore(tmp_path / "data")


def test_a_case_comes_back_as_it_was(store: CaseStore) -> None:
    store.save(failed_case(), INPUTS)
    stored = store.load(failed_case().case)
    assert stored.case == failed_case()
    assert stored.inputs == INPUTS


def test_only_the_owner_can_read_it(store: CaseStore) -> None:
    path = store.save(failed_case(), INPUTS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_same_run_again_takes_its_place(store: CaseStore) -> None:
    store.save(failed_case(), INPUTS)
    store.save(failed_case(), INPUTS)
    assert [summary.id for summary in store.summaries()] == [failed_case().case]


def test_an_added_revision_is_shown_first_and_the_earlier_one_stays(store: CaseStore) -> None:
    store.save(failed_case(), INPUTS)
    later = store.add(failed_case().model_copy(update={"revision": 2, "notes": ("more",)}), INPUTS)
    assert later.revision == 2
    assert store.load(later.case).case.notes == ("more",)
    assert store.load(later.case, 1).case == failed_case()
    with pytest.raises(UnknownCase, match="no revision 7") as caught:
        store.load(later.case, 7)
    assert "1, 2" in caught.value.hint


def test_revisions_added_at_the_same_time_are_all_kept(store: CaseStore) -> None:
    store.save(failed_case(), INPUTS)
    second = failed_case().model_copy(update={"revision": 2})
    with ThreadPoolExecutor(8) as pool:
        numbers = sorted(case.revision for case in pool.map(lambda _: store.add(second, INPUTS), range(16)))
    assert numbers == list(range(2, 18))
    assert store.load(second.case).case.revision == 17


def test_a_beginning_of_an_id_or_the_word_last_is_enough(store: CaseStore) -> None:
    for case in (failed_case(), healthy_case(), unknown_case()):
        store.save(case, INPUTS)
    os.utime(store.folder / healthy_case().case / "1.json", (2**32, 2**32))
    assert store.resolve("c-01") == failed_case().case
    assert store.resolve("last") == healthy_case().case
    with pytest.raises(UnknownCase, match="several"):
        store.resolve("c-00")


@pytest.mark.parametrize("name", ["c-", "last", "", "../../etc", "c-0123456788", "c-zz"])
def test_an_unknown_name_is_refused(store: CaseStore, name: str) -> None:
    with pytest.raises(UnknownCase) as caught:
        store.resolve(name)
    assert caught.value.hint


def test_a_near_miss_is_offered(store: CaseStore) -> None:
    store.save(failed_case(), INPUTS)
    with pytest.raises(UnknownCase) as caught:
        store.load("c-0123456780")
    assert failed_case().case in caught.value.hint


def test_a_damaged_file_is_listed_last_and_refused_with_a_remedy(store: CaseStore) -> None:
    store.save(healthy_case(), INPUTS)
    path = store.save(failed_case(), INPUTS)
    path.write_bytes(path.read_bytes()[:100])
    assert [summary.status for summary in store.summaries()] == ["healthy", "unreadable"]
    with pytest.raises(StoreError, match="damaged") as caught:
        store.load(failed_case().case)
    assert f"cases remove {failed_case().case}" in caught.value.hint


@pytest.mark.parametrize("change", [{"case": {}}, {"inputs": None}, {"store": "x"}, {"case": {"schema": "other/9"}}])
def test_a_file_of_another_shape_is_refused(store: CaseStore, change: dict[str, object]) -> None:
    path = store.save(failed_case(), INPUTS)
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), **change}))
    list(store.summaries())
    with pytest.raises(StoreError, match="damaged"):
        store.load(failed_case().case)


def test_a_file_of_a_newer_version_is_refused(store: CaseStore) -> None:
    path = store.save(failed_case(), INPUTS)
    path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), "store": STORE_VERSION + 1}))
    with pytest.raises(StoreError, match="newer"):
        store.load(failed_case().case)


def test_pruning_removes_what_is_old_and_nothing_else(store: CaseStore) -> None:
    old, young = store.save(failed_case(), INPUTS), store.save(healthy_case(), INPUTS)
    now = young.stat().st_mtime
    os.utime(old, (now - 10 * DAY, now - 10 * DAY))
    assert store.prune(9, dry_run=True, now=now) == [failed_case().case]
    assert len(store.ids()) == 2
    assert store.prune(11, now=now) == []
    assert store.prune(9, now=now) == [failed_case().case]
    assert store.ids() == [healthy_case().case]


def test_a_removed_case_is_gone(store: CaseStore) -> None:
    store.save(failed_case(), INPUTS)
    assert store.remove("c-01") == failed_case().case
    assert store.ids() == []


def test_a_data_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write to the data folder") as caught:
        CaseStore(tmp_path / "file/data").save(failed_case(), INPUTS)
    assert "storage.data_dir" in caught.value.hint


def test_a_summary_tells_who_and_what(store: CaseStore) -> None:
    store.save(failed_case(), INPUTS)
    (summary,) = store.summaries()
    assert (summary.status, summary.cause, summary.who) == ("failed", "memory.gpu_oom", "gpu-07 rank 5 GPU 1")
    assert summary.paths == INPUTS.paths


def test_reopening_needs_no_analysis_library(store: CaseStore) -> None:
    store.save(failed_case(), INPUTS)
    program = (
        "import sys; from pathlib import Path; from assistant.case.store import CaseStore;"
        f"CaseStore(Path({str(store.root)!r})).load('last');"
        "print(sorted({'polars', 'sklearn', 'drain3', 'numpy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
