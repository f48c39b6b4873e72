"""The reading engine of the log viewer: any place of any file, without a screen."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.errors import NothingFound
from assistant.intake.discover import discover
from assistant.intake.models import Codec, Source
from assistant.tui.logs import seekpoints
from assistant.tui.logs.bytefile import PackedFile, PlainFile, open_bytes
from assistant.tui.logs.lines import REACH, ChosenLines, FileLines
from assistant.tui.logs.scan import LogScan
from assistant.tui.logs.worker import compiled


def text(lines: int) -> bytes:
    pick = random.Random(7)
    return b"".join(b"%d %s\n" % (n, bytes(pick.choices(b"abcdef ", k=pick.randrange(120)))) for n in range(lines))


def source_in(folder: Path, name: str, data: bytes) -> Source:
    (folder / name).write_bytes(data)
    (found,) = discover([str(folder / name)]).sources
    return found


def waited(scan: LogScan) -> LogScan:
    assert scan.wait(60)
    scan.stop()
    return scan


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=30), st.booleans())
def test_walking_back_gives_what_walking_forth_gives(tmp_path: Path, rows: list[bytes], ends: bool) -> None:
    data = b"\n".join(rows) + (b"\n" if ends else b"")
    (tmp_path / "x.log").write_bytes(data)
    file = PlainFile(tmp_path / "x.log", "x.log")
    lines = FileLines(file)
    forth = lines.forward(0, 100)
    assert b"".join(data[line.offset : line.end] for line in forth) == data
    assert lines.backward(len(data), 100) == forth
    for line in forth:
        assert lines.start_of(line.offset) == line.offset
        assert lines.start_of(max(line.offset, line.end - 1)) == line.offset
    file.close()


def test_a_place_deep_in_a_file_is_reached_without_reading_what_lies_before(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.truncate(50_000_000_000)
        file.seek(40_000_000_000)
        file.write(b"\nbefore\nhere it is\nafter\n")
    opened = PlainFile(path, "huge.log")
    lines = FileLines(opened)
    start = lines.start_of(40_000_000_012)
    assert [line.text for line in lines.forward(start, 2)] == ["here it is", "after"]
    assert lines.backward(start, 1)[0].text == "before"
    opened.close()


def test_an_endless_line_is_shown_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_bytes(b"a" * (3 * REACH - 5) + b"\nend\n")
    file = PlainFile(tmp_path / "x.log", "x.log")
    lines = FileLines(file)
    found = lines.forward(0, 10)
    assert [line.end - line.offset for line in found] == [REACH, REACH, REACH - 4, 4]
    assert found[0].cut == REACH - len(found[0].text)
    assert lines.backward(found[-1].offset, 2)[-1].end == found[-1].offset
    file.close()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress])
def test_packed_files_are_read_anywhere_in_any_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: object
) -> None:
    assert callable(pack)
    monkeypatch.setattr(seekpoints, "SPACING", 300_000)
    data = text(40_000)
    half = len(data) // 2
    source = source_in(tmp_path, "x.log.packed", pack(data[:half]) + pack(data[half:]))
    file = open_bytes(source)
    assert isinstance(file, PackedFile)
    for offset in (1_000_000, 10, 2_000_000, 999_990, len(data) - 5, 0):
        assert file.read(offset, 5_000) == data[offset : offset + 5_000]
    assert file.size == len(data)
    assert file.trouble() == ""
    file.close()


def test_going_back_in_a_gzip_file_starts_at_a_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seekpoints, "SPACING", 500_000)
    data = text(100_000)
    points = seekpoints.Points(source_in(tmp_path, "x.gz", gzip.compress(data)).path, Codec.GZIP)
    cursor = seekpoints.PointCursor(points, 0)
    while cursor.read(100_000):
        pass
    cursor.close()
    at, place, state = points.before(4_000_000)
    assert 3_000_000 < at <= 4_000_000
    assert place > 0
    assert state is not None
    again = seekpoints.PointCursor(points, 4_000_000)
    assert again.read(4_000_000 - at + 50)[-50:] == data[4_000_000:4_000_050]
    again.close()


def test_members_of_archives_are_read_anywhere(tmp_path: Path) -> None:
    data = text(20_000)
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo("n1/x.log")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    (source,) = discover([str(tmp_path / "a.tar.gz")]).sources
    file = open_bytes(source)
    assert file.read(900_000, 100) == data[900_000:900_100]
    assert file.read(100, 100) == data[100:200]
    file.close()


def test_broken_packed_data_gives_what_comes_before_the_damage(tmp_path: Path) -> None:
    data = text(20_000)
    packed = gzip.compress(data)
    file = open_bytes(source_in(tmp_path, "x.gz", packed[: len(packed) // 2]))
    found = file.read(0, len(data))
    assert 0 < len(found) < len(data)
    assert data.startswith(found)
    file.close()


def test_what_becomes_of_an_open_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"one\ntwo\n")
    file = PlainFile(path, "x.log")
    assert file.trouble() == ""
    os.rename(path, tmp_path / "x.log.1")
    assert "removed" in file.trouble()
    path.write_bytes(b"new\n")
    assert "rotated" in file.trouble()
    assert file.read(0, 3) == b"one"
    (tmp_path / "x.log.1").write_bytes(b"")
    assert "shortened" in file.trouble()
    assert FileLines(file).forward(0, 5) == []
    file.close()
    with pytest.raises(NothingFound):
        PlainFile(tmp_path / "never.log", "never.log")


@pytest.mark.parametrize("name", ["x.log", "x.gz"])
def test_another_process_counts_lines(tmp_path: Path, name: str) -> None:
    data = text(200_000)
    scan = waited(LogScan(source_in(tmp_path, name, gzip.compress(data) if name == "x.gz" else data)))
    assert scan.total == 200_000
    at, number = scan.near(len(data) // 2)
    assert data[:at].count(b"\n") + 1 == number
    assert not scan.failed


def test_a_number_is_counted_from_the_nearest_known_place(tmp_path: Path) -> None:
    data = text(1_000)
    file = PlainFile(source_in(tmp_path, "x.log", data).path, "x.log")
    lines = FileLines(file)
    offset = lines.start_of(len(data) // 2)
    number = data[:offset].count(b"\n") + 1
    assert lines.number_near(offset, (0, 1), 10**9) == number
    assert lines.number_near(0, (offset, number), 10**9) == 1
    assert lines.number_near(offset, (0, 1), 10) is None
    file.close()


def test_searching_finds_every_line_once_with_its_number(tmp_path: Path) -> None:
    data = b"".join(b"line %d %s\n" % (n, b"ERROR error" if n % 1000 == 7 else b"fine") for n in range(300_000))
    scan = waited(LogScan(source_in(tmp_path, "x.log", data), "error"))
    assert list(scan.lines) == [n + 1 for n in range(300_000) if n % 1000 == 7]
    assert scan.after(-1) == scan.hits[0]
    assert scan.after(scan.hits[0]) == scan.hits[1]
    assert scan.before(scan.hits[1]) == scan.hits[0]
    assert scan.before(scan.hits[0]) is None
    file = PlainFile(tmp_path / "x.log", "x.log")
    chosen = ChosenLines(FileLines(file), scan.hits)
    assert [line.text for line in chosen.forward(scan.hits[3], 2)] == ["line 3007 ERROR error", "line 4007 ERROR error"]
    assert chosen.backward(scan.hits[3], 1)[0].text == "line 2007 ERROR error"
    assert chosen.start_of(scan.hits[3] + 5_000) == scan.hits[3]
    file.close()


def test_a_capital_letter_makes_the_search_mind_case(tmp_path: Path) -> None:
    assert compiled("error").search(b"ERROR")
    assert not compiled("Error").search(b"ERROR")
    with pytest.raises(ValueError, match="missing"):
        compiled("(")


def test_a_source_that_is_gone_is_told(tmp_path: Path) -> None:
    source = source_in(tmp_path, "x.log", b"one\n")
    source.path.unlink()
    assert waited(LogScan(source)).failed


def test_stopping_ends_the_process(tmp_path: Path) -> None:
    with (tmp_path / "x.log").open("wb") as file:
        file.write(b"one\n")
        file.truncate(20_000_000_000)
    (source,) = discover([str(tmp_path / "x.log")]).sources
    scan = LogScan(source)
    scan.stop()
    assert not scan.process.running


def test_the_engine_loads_no_screen_library() -> None:
    code = (
        "import sys, assistant.tui.logs.bytefile, assistant.tui.logs.lines;"
        "import assistant.tui.logs.scan, assistant.tui.logs.worker;"
        "print([m for m in ('textual', 'rich', 'polars', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
