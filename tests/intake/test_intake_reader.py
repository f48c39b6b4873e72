"""Blocks of whole lines with true offsets and line numbers, whatever the file does."""

from __future__ import annotations

import os
import random
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest

from assistant.intake.discover import discover
from assistant.intake.limits import Limits
from assistant.intake.models import Block, Source, Unread
from assistant.intake.reader import read_blocks, read_many

MIB = 1 << 20


def source_of(path: Path) -> Source:
    return Source(id=0, name=path.name, path=path, group=path.name)


def blocks_of(path: Path, data: bytes, block_bytes: int, limits: Limits | None = None) -> list[Block]:
    path.write_bytes(data)
    told: list[Unread] = []
    blocks = list(read_blocks(source_of(path), told.append, block_bytes=block_bytes, limits=limits or Limits()))
    assert told == []
    return blocks


def joined(blocks: Iterable[Block]) -> bytes:
    return b"".join(block.data for block in blocks)


def assert_true_places(blocks: list[Block], data: bytes) -> None:
    """Each block stands in the data at its offset, with as many newlines before it as its line number says."""
    for block in blocks:
        kept = block.data[:-1] if block.cut else block.data
        assert data[block.offset : block.offset + len(kept)] == kept
        assert block.line == data.count(b"\n", 0, block.offset) + 1
    assert [block.last for block in blocks] == [False] * (len(blocks) - 1) + [True] * bool(blocks)


def test_blocks_end_at_line_ends_and_add_up(tmp_path: Path) -> None:
    data = b"".join(b"line %d %s\n" % (number, b"x" * (number % 97)) for number in range(3000))
    blocks = blocks_of(tmp_path / "x.log", data, 1000)
    assert len(blocks) > 50
    assert joined(blocks) == data
    assert all(block.data.endswith(b"\n") for block in blocks)
    assert_true_places(blocks, data)


def test_last_line_may_lack_its_newline(tmp_path: Path) -> None:
    (block,) = blocks_of(tmp_path / "x.log", b"one\ntwo", MIB)
    assert (block.data, block.last) == (b"one\ntwo", True)


def test_empty_source_gives_no_block(tmp_path: Path) -> None:
    assert blocks_of(tmp_path / "x.log", b"", MIB) == []


@pytest.mark.parametrize("size", [99, 100, 101, 200])
def test_last_is_told_exactly_when_the_file_ends_on_a_block_border(tmp_path: Path, size: int) -> None:
    data = (b"123456789\n" * 30)[:size]
    blocks = blocks_of(tmp_path / "x.log", data, 100)
    assert joined(blocks) == data
    assert_true_places(blocks, data)


@pytest.mark.parametrize("seed", range(30))
def test_hostile_mixtures_keep_true_places(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    trace = b"Traceback (most recent call last):\n"
    pieces = [b"\n", b"\r", b"\r\n", b"\0" * 50, b"  indented\n", trace, b"word ", b"y" * 300]
    data = b"".join(chance.choice(pieces) for _ in range(chance.randrange(400)))
    blocks = blocks_of(tmp_path / "x.log", data, chance.randrange(20, 600), Limits(line_bytes=100))
    assert_true_places(blocks, data)
    for line in data.replace(b"\r", b"\n").split(b"\n"):
        assert line.lstrip(b"\0")[:50] in joined(blocks)


def test_carriage_returns_end_lines_too_when_there_is_no_newline(tmp_path: Path) -> None:
    data = b"".join(b"\r %d%%|####| step %d" % (number % 100, number) for number in range(20_000)) + b"\nTraceback\n"
    blocks = blocks_of(tmp_path / "x.log", data, 64 * 1024)
    assert joined(blocks) == data
    assert all(block.cut == () for block in blocks)
    assert {block.line for block in blocks} == {1}
    assert_true_places(blocks, data)


def test_overlong_line_is_cut_and_what_follows_keeps_its_offset(tmp_path: Path) -> None:
    data = b"before\n" + b"A" * 200_000 + b"\nafter\n"
    first, second = blocks_of(tmp_path / "x.log", data, MIB)
    assert first.data == b"before\n" + b"A" * 65536 + b"\n"
    assert first.cut == ((2, 200_000),)
    assert (second.data, second.line, second.offset, second.cut) == (b"after\n", 3, 200_008, ())


def test_overlong_crlf_line_leaves_no_empty_line(tmp_path: Path) -> None:
    data = b"A" * 70_000 + b"\r\nafter\r\n"
    first, second = blocks_of(tmp_path / "x.log", data, MIB)
    assert first.cut == ((1, 70_000),)
    assert (second.data, second.line) == (b"after\r\n", 2)


def test_overlong_last_line_is_cut(tmp_path: Path) -> None:
    (block,) = blocks_of(tmp_path / "x.log", b"A" * 100_000, MIB)
    assert (len(block.data), block.cut, block.last) == (65537, ((1, 100_000),), True)


def test_line_of_exactly_the_limit_is_whole(tmp_path: Path) -> None:
    data = b"A" * 65536 + b"\nafter\n"
    (block,) = blocks_of(tmp_path / "x.log", data, MIB)
    assert block.data == data


def test_line_of_a_hundred_megabytes_needs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    with open(path, "wb") as file:
        file.write(b"before\n")
        for _ in range(100):
            file.write(b"A" * 10**6)
        file.write(b"\nafter\n")
    tracemalloc.start()
    first, second = read_blocks(source_of(path), print, block_bytes=MIB)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert first.cut == ((2, 10**8),)
    assert (second.data, second.offset, second.line) == (b"after\n", 10**8 + 8, 3)
    assert peak < 12 * MIB


def test_many_overlong_lines_in_a_row_are_each_reported(tmp_path: Path) -> None:
    data = b"".join(bytes([65 + number % 26]) * 90_000 + b"\n" for number in range(60))
    blocks = blocks_of(tmp_path / "x.log", data, 16 * MIB)
    assert [block.cut for block in blocks] == [((number + 1, 90_000),) for number in range(60)]
    assert_true_places(blocks, data)


def test_text_behind_a_hole_is_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    size = 300 * MIB
    with open(path, "wb") as file:
        file.seek(size)
        file.write(b"first words\nmore\n")
    first, second = read_blocks(source_of(path), print)
    assert (first.data, first.cut) == (b"\n", ((1, size),))
    assert (second.data, second.offset, second.line) == (b"first words\nmore\n", size, 1)


def test_traceback_is_not_split_between_blocks(tmp_path: Path) -> None:
    trace = (
        b"Traceback (most recent call last):\n" + b'  File "t.py", line 3, in f\n    go()\n' * 8 + b"ValueError: no\n"
    )
    data = b"".join(b"step %d\n" % number * (number % 7) + trace for number in range(200))
    for block in blocks_of(tmp_path / "x.log", data, 4000)[1:]:
        assert not block.data.startswith((b" ", b"ValueError"))


def test_indented_block_is_not_split_from_its_head(tmp_path: Path) -> None:
    data = (b"settings:\n" + b"    key ..... value\n" * 20) * 100
    blocks = blocks_of(tmp_path / "x.log", data, 1500)
    assert len(blocks) > 10
    assert all(block.data.startswith(b"settings") for block in blocks)


def test_endless_traceback_is_split_rather_than_kept(tmp_path: Path) -> None:
    data = b"Traceback (most recent call last):\n" + b'  File "t.py", line 3, in f\n' * 5000
    blocks = blocks_of(tmp_path / "x.log", data, 10_000)
    assert len(blocks) > 5
    assert joined(blocks) == data


def test_growing_file_is_read_to_the_size_it_had(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"line\n" * 1000)
    told: list[Unread] = []
    total = 0
    for block in read_blocks(source_of(path), told.append, block_bytes=500):
        total += len(block.data)
        with open(path, "ab") as file:
            file.write(b"more\n" * 200)
    assert (total, told) == (5000, [])


def test_shrinking_file_stops_and_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"line\n" * 1000)
    told: list[Unread] = []
    blocks = []
    for block in read_blocks(source_of(path), told.append, block_bytes=500):
        blocks.append(block)
        os.truncate(path, 1500)
    assert [block.last for block in blocks][-1]
    assert len(joined(blocks)) <= 2000
    assert "shrank" in told[0].why


def test_failing_disk_gives_what_was_read_and_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"line\n" * 1000)
    real = os.pread

    def failing(handle: int, size: int, position: int) -> bytes:
        if position >= 2000:
            raise OSError(5, "Input/output error")
        return real(handle, min(size, 1000), position)

    monkeypatch.setattr(os, "pread", failing)
    told: list[Unread] = []
    assert joined(read_blocks(source_of(path), told.append, block_bytes=600)) == b"line\n" * 480
    assert "Input/output error" in told[0].why


def test_vanished_and_replaced_sources_are_reported(tmp_path: Path) -> None:
    (tmp_path / "ok.log").write_bytes(b"fine\n")
    os.mkfifo(tmp_path / "pipe")
    sources = [source_of(tmp_path / name) for name in ("gone.log", "pipe", "ok.log")]
    told: list[Unread] = []
    assert joined(read_many(sources, told.append)) == b"fine\n"
    assert [one.source for one in told] == ["gone.log", "pipe"]
    assert "named pipe" in told[1].why


def test_total_limit_stops_the_whole_read(tmp_path: Path) -> None:
    sources = []
    for number in range(5):
        path = tmp_path / f"{number}.log"
        path.write_bytes(b"line\n" * 100)
        sources.append(source_of(path))
    told: list[Unread] = []
    blocks = list(read_many(sources, told.append, limits=Limits(total_bytes=1200)))
    assert {block.source.name for block in blocks} == {"0.log", "1.log", "2.log"}
    assert len(told) == 1
    assert "1,200" in told[0].why


def test_four_thousand_small_files_come_whole_and_in_order(tmp_path: Path) -> None:
    for number in range(4096):
        (tmp_path / f"rank-{number}.log").write_bytes(b"rank %d\n" % number)
    found = discover([str(tmp_path)])
    told: list[Unread] = []
    blocks = list(read_many(found.sources, told.append))
    assert [block.source.id for block in blocks] == list(range(4096))
    assert all(block.last and block.line == 1 and block.offset == 0 for block in blocks)
    assert (joined(blocks[-1:]), told) == (b"rank 4095\n", [])
