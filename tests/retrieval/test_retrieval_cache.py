"""The index as a cache: when it is rebuilt, who may write, what a killed or newer writer leaves behind."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from assistant.config import Settings
from assistant.errors import NewerStore, StoreBusy
from assistant.retrieval.cache import Cache
from assistant.retrieval.embedders import Hashing
from assistant.retrieval.index import Wanted, open_index, rebuild
from assistant.retrieval.models import Query
from assistant.retrieval.opening import cache_of, open_search
from assistant.retrieval.tuning import tuning
from assistant.retrieval.vectors import Vectors
from tests.retrieval.conftest import CHECKOUT, PAGES, settings_of


class Counting(Hashing):
    """Counts the texts that it embeds."""

    seen: list[str] = []  # noqa: RUF012 - one list for the test that clears it

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.seen.extend(texts)
        return super().documents(texts)


def wanted(knowledge: Path) -> Wanted:
    return Wanted(tuning(), Counting(), folders=[knowledge])


def builds(settings: Settings) -> list[str]:
    return sorted(path.name for path in (cache_of(settings).root / "builds").iterdir())


def opened(settings: Settings, knowledge: Path) -> str:
    """Folder name of the build that a search takes."""
    index = open_index(cache_of(settings), wanted(knowledge))
    assert index.build.folder
    index.close()
    return index.build.folder.name


def test_an_unchanged_index_is_taken_again(settings: Settings, knowledge: Path) -> None:
    assert opened(settings, knowledge) == opened(settings, knowledge)


def test_a_touched_file_of_the_same_content_changes_nothing(settings: Settings, knowledge: Path) -> None:
    before = opened(settings, knowledge)
    os.utime(knowledge / "docs/process/kill.md", (1, 1))
    assert opened(settings, knowledge) == before


def test_a_changed_page_is_found_and_only_its_passages_are_embedded_anew(settings: Settings, knowledge: Path) -> None:
    before = opened(settings, knowledge)
    Counting.seen.clear()
    page = knowledge / "docs/storage/full.md"
    page.write_text(page.read_text() + "\nQuota may be used up although the disk is not.\n")
    assert opened(settings, knowledge) != before
    assert len(Counting.seen) == 1
    assert builds(settings) == [opened(settings, knowledge)]


def test_another_embedder_has_an_index_of_its_own(settings: Settings, knowledge: Path, tmp_path: Path) -> None:
    opened(settings, knowledge)
    plain = settings_of(tmp_path, embedder="none")
    open_search(plain, folders=[knowledge]).close()
    Counting.seen.clear()
    opened(settings, knowledge)
    assert Counting.seen == []
    assert len(builds(settings)) == 2


@pytest.mark.parametrize("damage", ["pointer", "store", "vectors", "gone"])
def test_a_damaged_index_is_made_anew_or_named(settings: Settings, knowledge: Path, damage: str) -> None:
    build = opened(settings, knowledge)
    folder = cache_of(settings).root / "builds" / build
    match damage:
        case "pointer":
            next(cache_of(settings).root.glob("current-*")).write_bytes(b"{")
        case "store":
            (folder / "passages.sqlite").write_bytes(b"no database at all" * 100)
        case "vectors":
            (folder / "vectors" / "chroma.sqlite3").write_bytes(b"no database at all" * 100)
        case "gone":
            subprocess.run(["rm", "-rf", str(folder)], check=True)
    searcher = open_search(settings, folders=[knowledge])
    answer = searcher.search(Query(text="Xid 79"))
    searcher.close()
    assert answer.hits[0].passage.document == "gpu-gone"
    assert bool(answer.missing) == (damage == "vectors")
    if answer.missing:
        assert "knowledge rebuild" in answer.missing[0]


def test_an_index_of_a_newer_version_is_named_and_the_rest_is_served(settings: Settings, knowledge: Path) -> None:
    opened(settings, knowledge)
    pointer = next(cache_of(settings).root.glob("current-*"))
    pointer.write_bytes(orjson.dumps(orjson.loads(pointer.read_bytes()) | {"version": 99}))
    with pytest.raises(NewerStore, match=pointer.name):
        open_index(cache_of(settings), wanted(knowledge))
    searcher = open_search(settings, folders=[knowledge])
    answer = searcher.search(Query(text="Xid 79"))
    searcher.close()
    assert answer.hits[0].passage.document == "gpu-gone"
    assert "newer version" in answer.missing[0]
    assert "update Rootrank" in answer.missing[0]


def test_a_locked_cache_is_named_and_an_older_index_is_served(knowledge: Path, tmp_path: Path) -> None:
    settings = settings_of(tmp_path, timeout_seconds=0.2)
    opened(settings, knowledge)
    (knowledge / "docs/storage/full.md").unlink()
    with (cache_of(settings).root / ".lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        searcher = open_search(settings, folders=[knowledge])
        answer = searcher.search(Query(text="Xid 79"))
        with pytest.raises(StoreBusy, match="another process"):
            rebuild(cache_of(settings), wanted(knowledge))
    searcher.close()
    assert answer.fits
    assert "an older index is searched" in answer.missing[0]


def test_a_data_folder_that_cannot_be_written_leaves_the_words(knowledge: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    searcher = open_search(settings_of(tmp_path), folders=[knowledge])
    answer = searcher.search(Query(text="exit 137"))
    searcher.close()
    assert answer.hits[0].passage.document == "kill"
    assert any("storage.data_dir" in missing for missing in answer.missing)


def test_files_are_private(settings: Settings, knowledge: Path) -> None:
    opened(settings, knowledge)
    root = cache_of(settings).root
    assert root.stat().st_mode & 0o077 == 0
    assert (root / "builds").stat().st_mode & 0o077 == 0
    assert next(root.glob("current-*")).stat().st_mode & 0o077 == 0


def test_a_build_in_use_is_not_swept(settings: Settings, knowledge: Path) -> None:
    reader = open_search(settings, folders=[knowledge])
    (knowledge / "docs/storage/full.md").unlink()
    later = open_search(settings, folders=[knowledge])
    assert reader.search(Query(text="no room left on the volume")).hits[0].passage.document == "full"
    assert len(builds(settings)) == 2
    for searcher in (reader, later):
        searcher.close()
    with Cache(cache_of(settings).root).writing():
        assert len(cache_of(settings).sweep()) == 1


WRITER = """
import sys
from pathlib import Path
from assistant.config import Retrieval, Settings, Storage
from assistant.retrieval.opening import open_search
data, folder, name = map(Path, sys.argv[1:])
settings = Settings(storage=Storage(data_dir=data), retrieval=Retrieval(embedder="hashing", timeout_seconds=120))
for number in range(3):
    page = folder / "docs" / f"{name}-{number}.md"
    head = f"---\\nid: {name}-{number}\\ntitle: Page {number} of {name}\\n---\\n\\n"
    page.write_text(f"{head}word{name}{number} is here\\n")
    open_search(settings, folders=[folder]).close()
"""


def test_two_writers_at_once_lose_nothing(settings: Settings, knowledge: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(settings.storage.data_dir), str(knowledge)]
    writers = [subprocess.Popen([*command, name], cwd=CHECKOUT) for name in ("left", "right")]
    assert [writer.wait(timeout=300) for writer in writers] == [0, 0]
    searcher = open_search(settings, folders=[knowledge])
    for name in ("left", "right"):
        for number in range(3):
            answer = searcher.search(Query(text=f"word{name}{number}"))
            assert answer.hits[0].passage.document == f"{name}-{number}"
    searcher.close()
    assert len(builds(settings)) == 1


KILLED = """
import sys, time
from pathlib import Path
from assistant.retrieval import index
from assistant.retrieval.cache import Cache
from assistant.retrieval.embedders import Hashing
from assistant.retrieval.tuning import tuning

class Slow(Hashing):
    def documents(self, texts):
        print("half-way", flush=True)
        time.sleep(600)

index.rebuild(Cache(Path(sys.argv[1])), index.Wanted(tuning(), Slow(), folders=[Path(sys.argv[2])]))
"""


def test_kill_9_during_a_rebuild_leaves_the_old_index_usable(settings: Settings, knowledge: Path) -> None:
    before = opened(settings, knowledge)
    root = cache_of(settings).root
    command = [sys.executable, "-c", KILLED, str(root), str(knowledge)]
    process = subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline() == b"half-way\n"
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    assert len(builds(settings)) == 2
    assert opened(settings, knowledge) == before
    rebuild(cache_of(settings), wanted(knowledge)).close()
    assert len(builds(settings)) == 1
    assert PAGES
