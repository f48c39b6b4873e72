"""Hostile archives stay within their limits, and many members cost one pass."""

from __future__ import annotations

import gzip
import os
import random
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard

from assistant.errors import NotALog, NothingFound
from assistant.intake import access
from assistant.intake.discover import discover
from assistant.intake.limits import Limits
from assistant.intake.reader import read_many
from tests.intake.packing import PACKERS, TARS, TEXT, put, read_all, tar_bytes, zip_bytes

BOMB = b"A" * 999 + b"\n"


@pytest.mark.parametrize("kind", PACKERS)
def test_bomb_is_stopped_at_the_ratio(tmp_path: Path, kind: str) -> None:
    limits = Limits(ratio=50, ratio_after=10_000_000)
    found = discover([str(put(tmp_path / "x", PACKERS[kind](BOMB * 60_000)))], limits=limits)
    texts, told = read_all(found, limits)
    assert 10_000_000 < len(texts["x"]) < 60_000_000
    assert "bomb" in told["x"]


@pytest.mark.parametrize("kind", ["zip", "tar.xz"])
def test_bomb_in_an_archive_is_stopped(tmp_path: Path, kind: str) -> None:
    limits = Limits(ratio=50, ratio_after=10_000_000)
    members = [("a.log", b"fine\n"), ("b.log", BOMB * 60_000)]
    data = zip_bytes(members) if kind == "zip" else PACKERS["xz"](tar_bytes(members))
    found = discover([str(put(tmp_path / "x", data))], limits=limits)
    texts, told = read_all(found, limits)
    assert texts["x!a.log"] == b"fine\n"
    assert len(texts["x!b.log"]) < 60_000_000
    assert "bomb" in told["x!b.log"]


def test_absolute_limit_holds_for_one_member(tmp_path: Path) -> None:
    limits = Limits(member_bytes=100_000)
    texts, told = read_all(discover([str(put(tmp_path / "x.gz", gzip.compress(TEXT)))], limits=limits), limits)
    assert len(texts["x.gz"]) < len(TEXT)
    assert "100,000 bytes" in told["x.gz"]


def test_endless_extension_header_is_not_loaded(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 7 * 10**9
    data = info.tobuf(tarfile.GNU_FORMAT) + bytes(4096)
    put(tmp_path / "job.log", b"x\n")
    found = discover([str(put(tmp_path / "x.tar", data)), str(tmp_path / "job.log")])
    assert any("x.tar" in one.source for one in found.unread)


def test_zip_directory_of_absurd_size_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "job.log", b"x\n")
    data = bytearray(zip_bytes([("a.log", b"a\n")]))
    at = data.index(b"PK\x05\x06")
    data[at + 12 : at + 16] = struct.pack("<I", 0xFFFFFFF0)
    found = discover([str(put(tmp_path / "x.zip", bytes(data))), str(tmp_path / "job.log")])
    assert "too large" in found.unread[0].why


@pytest.mark.parametrize("seed", range(60))
def test_random_damage_never_crashes(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    members = [(f"r{rank}.log", TEXT[: chance.randrange(1, 5000)]) for rank in range(4)]
    kind = chance.choice([*TARS, "zip"])
    data = bytearray(zip_bytes(members) if kind == "zip" else TARS[kind](tar_bytes(members)))
    for _ in range(chance.randrange(1, 12)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    path = put(tmp_path / "x", bytes(data[: chance.randrange(100, len(data) + 1)]))
    try:
        found = discover([str(path)])
    except (NothingFound, NotALog):
        return
    read_all(found, Limits())


def _counted_opens(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    opened: list[Path] = []
    real = os.open

    def counting(path: Path, flags: int) -> int:
        opened.append(path)
        return real(path, flags)

    monkeypatch.setattr(os, "open", counting)
    return opened


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip"])
def test_four_thousand_members_cost_one_pass(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    members = [(f"rank-{rank}.log", b"rank %d\n" % rank) for rank in range(4096)]
    random.Random(1).shuffle(members)
    data = zip_bytes(members, zipfile.ZIP_STORED) if kind == "zip" else tar_bytes(members, tarfile.USTAR_FORMAT)
    found = discover([str(put(tmp_path / "x", gzip.compress(data, 1) if kind == "tar.gz" else data))])
    opened = _counted_opens(monkeypatch)
    texts, told = read_all(found)
    assert texts == {f"x!{name}": data for name, data in members}
    assert (len(opened) <= 3, told) == (True, {})


def test_rotated_parts_in_a_packed_tar_come_oldest_first(tmp_path: Path) -> None:
    members = [("x.log", b"3\n"), ("y.log", b"y\n"), ("x.log.1", b"2\n"), ("x.log.2.gz", gzip.compress(b"1\n"))]
    found = discover([str(put(tmp_path / "a.tgz", gzip.compress(tar_bytes(members))))])
    blocks = list(read_many(found.sources, print))
    assert [block.data for block in blocks if block.source.group == "a.tgz!x.log"] == [b"1\n", b"2\n", b"3\n"]
    assert len(blocks) == 4


def test_archive_that_changed_since_it_was_listed_is_reported(tmp_path: Path) -> None:
    path = put(tmp_path / "a.tar", tar_bytes([("x.log", b"x\n"), ("y.log", b"y\n")]))
    found = discover([str(path)])
    put(path, tar_bytes([("y.log", b"y\n")]))
    texts, told = read_all(found)
    assert texts == {"a.tar!y.log": b"y\n"}
    assert told == {"a.tar!x.log": "no longer in the archive"}
    path.unlink()
    assert set(read_all(found)[1]) == {"a.tar!x.log", "a.tar!y.log"}


def test_most_passes_bounds_a_hostile_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST_PASSES", 3)
    members = [("x.log", b"0\n")] + [(f"x.log.{age}", b"%d\n" % age) for age in range(1, 30)]
    found = discover([str(put(tmp_path / "a.tgz", gzip.compress(tar_bytes(members))))])
    opened = _counted_opens(monkeypatch)
    assert len(read_all(found)[0]) == 30
    assert len(opened) == 3


def test_skippable_zstandard_frames_are_skipped(tmp_path: Path) -> None:
    skip = b"\x50\x2a\x4d\x18" + struct.pack("<I", 6) + b"abcdef"
    data = skip + zstandard.compress(b"one\n") + skip + zstandard.compress(b"two\n")
    assert read_all(discover([str(put(tmp_path / "x.zst", data))])) == ({"x.zst": b"one\ntwo\n"}, {})


def test_checksum_of_an_unread_tail_is_not_held_against_a_member(tmp_path: Path) -> None:
    assert zlib.crc32(b"") == 0
    found = discover([str(put(tmp_path / "x.zip", zip_bytes([("a.log", b"no newline at the end")])))])
    assert read_all(found) == ({"x.zip!a.log": b"no newline at the end"}, {})
