"""Evidence is proved by reading it again at its offset, in plain and packed sources alike."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from assistant.errors import NothingFound
from assistant.intake.discover import discover
from assistant.intake.excerpt import read_at, read_many_at, read_places, read_window
from assistant.intake.models import Source

LINES = [f"line {number} of the log" for number in range(50_000)]
DATA = "".join(f"{line}\n" for line in LINES).encode()


def offset_of(number: int) -> int:
    return DATA.index(f"line {number} ".encode())


@pytest.fixture(params=["plain", "gz", "tar", "tar.gz"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    path = tmp_path / f"x.{request.param}"
    if request.param in ("plain", "gz"):
        path.write_bytes(DATA if request.param == "plain" else gzip.compress(DATA, 1))
    else:
        with tarfile.open(path, "w:gz" if request.param == "tar.gz" else "w") as archive:
            info = tarfile.TarInfo("x.log")
            info.size = len(DATA)
            archive.addfile(info, io.BytesIO(DATA))
    return discover([str(path)]).sources[0]


def test_text_is_read_at_any_offset(source: Source) -> None:
    for number in (0, 1, 33_333, 49_999):
        assert read_at(source, offset_of(number)) == LINES[number]


def test_many_offsets_are_read_in_one_pass(source: Source) -> None:
    wanted = [offset_of(number) for number in (40_000, 3, 4, 3, 20_000)]
    assert read_many_at(source, wanted) == {offset_of(number): LINES[number] for number in (3, 4, 20_000, 40_000)}


def test_window_shows_the_neighbours_with_their_offsets(source: Source) -> None:
    shown = read_window(source, offset_of(30_000), 2, 1)
    assert shown == [(offset_of(number), LINES[number]) for number in range(29_998, 30_002)]


def test_window_at_the_borders_is_shorter(source: Source) -> None:
    assert [text for _, text in read_window(source, 0, 5, 1)] == LINES[:2]
    assert [text for _, text in read_window(source, offset_of(49_999), 1, 5)] == LINES[-2:]


def test_places_beyond_the_end_are_missing(source: Source) -> None:
    assert read_many_at(source, [len(DATA) + 5]) == {}
    with pytest.raises(NothingFound):
        read_at(source, len(DATA) + 5)
    with pytest.raises(NothingFound):
        read_window(source, len(DATA) + 5, 1, 1)


def test_carriage_returns_end_a_text_and_broken_bytes_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"\r 10%|\r 20%|\xff\r\nnext\r\n")
    source = Source(id=0, name="x.log", path=path)
    assert read_at(source, 1) == " 10%|"
    assert read_at(source, 7) == " 20%|\ufffd"
    assert read_window(source, 15, 1, 0) == [(7, " 20%|\ufffd"), (15, "next")]


def test_endless_line_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"A" * 10**6)
    source = Source(id=0, name="x.log", path=path)
    assert len(read_at(source, 10)) == 64 * 1024
    assert read_at(source, 10, limit=5) == "AAAAA"
    assert len(read_window(source, 500_000, 3, 3)[0][1]) == 64 * 1024


def test_places_in_many_members_come_from_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for number in range(20):
            data = b"first\nrank %d\n" % number
            info = tarfile.TarInfo(f"rank-{number}.log")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    sources = discover([str(path)]).sources
    texts = read_places([(source, 6) for source in sources])
    assert [texts[source.id, 6] for source in sources] == [f"rank {number}" for number in range(20)]


def test_vanished_source_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(NothingFound) as caught:
        read_at(Source(id=0, name="x.log", path=tmp_path / "x.log"), 0)
    assert caught.value.hint
