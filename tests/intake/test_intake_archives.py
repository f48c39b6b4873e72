"""Packed files and archives: read as a stream, and damaged ones as far as they go."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from assistant.errors import NotALog, NothingFound
from assistant.intake.discover import discover
from assistant.intake.models import Codec
from tests.intake.packing import PACKERS, TARS, TEXT, noise, put, read_all, tar_bytes, zip_bytes


@pytest.mark.parametrize("kind", PACKERS)
def test_packed_file_is_read_whole(tmp_path: Path, kind: str) -> None:
    found = discover([str(put(tmp_path / "x.log", PACKERS[kind](TEXT)))])
    assert found.sources[0].codec == Codec(kind)
    assert read_all(found) == ({"x.log": TEXT}, {})


@pytest.mark.parametrize("kind", PACKERS)
def test_joined_members_and_padding_are_read_to_the_end(tmp_path: Path, kind: str) -> None:
    pack = PACKERS[kind]
    data = pack(b"one\n") + pack(b"") + pack(b"two\n" * 9000) + (b"" if kind == "zst" else bytes(64))
    found = discover([str(put(tmp_path / "x", data))])
    assert read_all(found) == ({"x": b"one\n" + b"two\n" * 9000}, {})


@pytest.mark.parametrize("kind", PACKERS)
def test_cut_file_gives_what_is_there_and_a_reason(tmp_path: Path, kind: str) -> None:
    text = noise(150_000)
    packed = PACKERS[kind](text)
    found = discover([str(put(tmp_path / "x.log", packed[: len(packed) * 4 // 5]))])
    texts, told = read_all(found)
    assert text.startswith(texts["x.log"])
    assert len(texts["x.log"]) > len(text) // 2
    assert "ends in the middle" in told["x.log"]


@pytest.mark.parametrize("kind", PACKERS)
def test_garbage_behind_the_data_is_reported(tmp_path: Path, kind: str) -> None:
    found = discover([str(put(tmp_path / "x.log", PACKERS[kind](TEXT) + b"this is not packed at all"))])
    texts, told = read_all(found)
    assert texts["x.log"] == TEXT
    assert "follows" in told["x.log"]


def test_corrupt_gzip_gives_everything_before_the_damage(tmp_path: Path) -> None:
    text = noise(150_000)
    packed = bytearray(gzip.compress(text))
    middle = len(packed) // 2
    packed[middle : middle + 400] = bytes(400)
    texts, told = read_all(discover([str(put(tmp_path / "x.log", bytes(packed)))]))
    assert text[: len(text) * 2 // 5] == texts["x.log"][: len(text) * 2 // 5]
    assert "broken gz data" in told["x.log"]


def test_wrong_checksum_is_reported_though_all_text_is_read(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 0xFF
    texts, told = read_all(discover([str(put(tmp_path / "x.log", bytes(packed)))]))
    assert texts["x.log"] == TEXT
    assert "check" in told["x.log"]


def test_text_behind_a_hole_is_found_in_packed_files_and_members(tmp_path: Path) -> None:
    data = bytes(3_000_000) + b"words\nmore\n"
    put(tmp_path / "x.gz", gzip.compress(data))
    put(tmp_path / "y.tar", tar_bytes([("x.log", data)]))
    assert [source.name for source in discover([str(tmp_path)]).sources] == ["x.gz", "y.tar!x.log"]


def test_head_without_data_is_listed(tmp_path: Path) -> None:
    put(tmp_path / "job.log", TEXT)
    put(tmp_path / "x.gz", gzip.compress(TEXT)[:12])
    put(tmp_path / "empty.gz", gzip.compress(b""))
    found = {one.source: one.why for one in discover([str(tmp_path)]).unread}
    assert "ends in the middle" in found["x.gz"]
    assert found["empty.gz"] == "empty"


@pytest.mark.parametrize("kind", [*TARS, "zip"])
def test_members_are_named_and_read(tmp_path: Path, kind: str) -> None:
    members = [("job/n1/b.log", TEXT), ("job/n0/a.log", b"alpha\n"), ("job/n0/w.bin", b"\x80\x02}" + os.urandom(99))]
    data = zip_bytes(members) if kind == "zip" else TARS[kind](tar_bytes(members))
    name = f"logs.{kind}"
    found = discover([str(put(tmp_path / name, data))])
    assert [source.name for source in found.sources] == [f"{name}!job/n0/a.log", f"{name}!job/n1/b.log"]
    assert [one.source for one in found.unread] == [f"{name}!job/n0/w.bin"]
    assert read_all(found) == ({f"{name}!job/n0/a.log": b"alpha\n", f"{name}!job/n1/b.log": TEXT}, {})


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_zip_methods_are_read_or_named(tmp_path: Path, method: int) -> None:
    put(tmp_path / "job.log", b"x\n")
    found = discover([str(put(tmp_path / "x.zip", zip_bytes([("a.log", TEXT)], method)).parent)])
    if method == zipfile.ZIP_LZMA:
        assert "zip method 14" in found.unread[0].why
    else:
        assert read_all(found)[0]["x.zip!a.log"] == TEXT


def test_packed_members_are_unpacked_and_nested_archives_are_named(tmp_path: Path) -> None:
    inner = tar_bytes([("deep.log", TEXT)])
    members = [("x.log.1.gz", gzip.compress(TEXT)), ("in.tar", inner), ("in.tgz", gzip.compress(inner))]
    for name, data in (("a.tar", tar_bytes(members)), ("b.zip", zip_bytes(members))):
        found = discover([str(put(tmp_path / name, data))])
        assert read_all(found) == ({f"{name}!x.log.1.gz": TEXT}, {})
        assert {one.source for one in found.unread} == {f"{name}!in.tar", f"{name}!in.tgz"}
        assert all("inside an archive" in one.why for one in found.unread)


def test_names_that_climb_are_shown_without_climbing_and_nothing_is_written(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    members = [("../../evil.log", b"one\n"), ("/etc/evil.log", b"two\n"), ("a/../../b\x1b\n.log", b"three\n")]
    put(inside / "x.zip", zip_bytes(members))
    put(inside / "x.tar", tar_bytes(members))
    found = discover([str(inside)])
    texts, told = read_all(found)
    assert sorted(texts.values()) == sorted([b"one\n", b"two\n", b"three\n"] * 2)
    assert not told
    assert all(".." not in name and name.isprintable() and "!/" not in name for name in texts)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["in", "x.tar", "x.zip"]


def test_links_and_devices_inside_archives_are_only_named(tmp_path: Path) -> None:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, kind in (("soft", tarfile.SYMTYPE), ("fifo", tarfile.FIFOTYPE), ("dev", tarfile.CHRTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    found = discover([str(put(tmp_path / "x.tar", held.getvalue() + b"")), str(put(tmp_path / "job.log", b"x\n"))])
    assert [source.name for source in found.sources] == ["job.log"]
    assert {one.source for one in found.unread} == {"x.tar!soft", "x.tar!fifo", "x.tar!dev"}


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_and_broken_names_are_read(tmp_path: Path, form: int) -> None:
    long = "n" * 150 + "/" + "x" * 90 + ".log"
    members = [(long, b"one\n"), ("broken\udcff.log", b"two\n"), ("训练.log", b"three\n")]
    found = discover([str(put(tmp_path / "x.tar", tar_bytes(members, form)))])
    assert set(read_all(found)[0]) == {f"x.tar!{long}", "x.tar!broken\\xff.log", "x.tar!训练.log"}


def test_newest_copy_of_a_repeated_member_counts(tmp_path: Path) -> None:
    members = [("x.log", b"old\n"), ("y.log", b"other\n"), ("x.log", b"old\nnew\n")]
    for kind in ("x.tar", "x.tar.gz"):
        data = tar_bytes(members)
        found = discover([str(put(tmp_path / kind, data if kind == "x.tar" else gzip.compress(data)))])
        texts, told = read_all(found)
        assert sorted(texts.values()) == [b"old\nnew\n", b"other\n"]
        assert not told
        assert "older copy" in found.unread[0].why


def test_hidden_folders_in_archives_are_skipped_by_name(tmp_path: Path) -> None:
    found = discover([str(put(tmp_path / "x.tar", tar_bytes([("./a.log", b"a\n"), ("./.git/config", b"b\n")])))])
    assert [source.name for source in found.sources] == ["x.tar!a.log"]
    assert [one.source for one in found.unread] == ["x.tar!.git/config"]


def test_programs_in_archives_are_named_and_not_read(tmp_path: Path) -> None:
    found = discover([str(put(tmp_path / "x.tar", tar_bytes([("a.log", b"a\n"), ("src/train.py", b"b\n")])))])
    assert [source.name for source in found.sources] == ["x.tar!a.log"]
    assert [one.source for one in found.unread] == ["x.tar!src/train.py"]


def test_sparse_members_are_named_and_those_behind_them_are_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo("sparse.log")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 600
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[482] = 1
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    data = bytes(header) + bytes(512) + b"s" * 600 + bytes(424) + tar_bytes([("a.log", b"a\n")])
    found = discover([str(put(tmp_path / "x.tar", data))])
    assert read_all(found) == ({"x.tar!a.log": b"a\n"}, {})
    assert "sparse" in found.unread[0].why


@pytest.mark.parametrize("kind", TARS)
def test_cut_tar_gives_its_first_members_and_reasons(tmp_path: Path, kind: str) -> None:
    members = [(f"rank-{rank}.log", noise(20_000, rank)) for rank in range(4)]
    data = TARS[kind](tar_bytes(members))
    data = data[: len(data) * 7 // 10]
    found = discover([str(put(tmp_path / "x", data))])
    assert any(one.source == "x" for one in found.unread)
    texts, told = read_all(found)
    assert texts["x!rank-0.log"] == members[0][1]
    assert members[1][1].startswith(texts["x!rank-1.log"])
    assert all("cut" in why for why in told.values())
    assert told


def test_broken_header_in_a_tar_is_reported(tmp_path: Path) -> None:
    data = bytearray(tar_bytes([("a.log", b"a\n"), ("b.log", b"b\n"), ("c.log", b"c\n")]))
    data[1024 + 20] ^= 0xFF
    found = discover([str(put(tmp_path / "x.tar", bytes(data)))])
    assert [source.name for source in found.sources] == ["x.tar!a.log"]
    assert "broken header" in found.unread[0].why


def test_tar_cut_between_members_is_reported(tmp_path: Path) -> None:
    data = tar_bytes([("a.log", b"a\n"), ("b.log", b"b\n")])[:1024]
    assert "end mark" in discover([str(put(tmp_path / "x.tar", data))]).unread[0].why


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip_without_its_directory_is_read_up_to_the_damage(tmp_path: Path, method: int) -> None:
    members = [(f"rank-{rank}.log", noise(20_000, rank)) for rank in range(4)]
    data = zip_bytes(members, method)
    found = discover([str(put(tmp_path / "x.zip", data[: len(data) * 6 // 10]))])
    assert "directory is lost" in found.unread[0].why
    texts, told = read_all(found)
    assert [texts[f"x.zip!rank-{rank}.log"] for rank in (0, 1)] == [members[0][1], members[1][1]]
    assert members[2][1].startswith(texts["x.zip!rank-2.log"])
    assert set(told) == {"x.zip!rank-2.log"}


def test_streamed_zip_without_its_directory_is_read(tmp_path: Path) -> None:
    held = io.BytesIO()

    class Pipe(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            return held.write(bytes(data))  # type: ignore[call-overload]

    with zipfile.ZipFile(Pipe(), "w", zipfile.ZIP_DEFLATED) as archive:
        for rank in range(3):
            archive.writestr(f"rank-{rank}.log", TEXT)
    data = held.getvalue()
    data = data[: data.index(b"PK\x01\x02")]
    texts, told = read_all(discover([str(put(tmp_path / "x.zip", data))]))
    assert texts == {f"x.zip!rank-{rank}.log": TEXT for rank in range(3)}
    assert not told


def test_damaged_zip_member_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    data = bytearray(zip_bytes([("a.log", TEXT), ("b.log", TEXT)], zipfile.ZIP_STORED))
    data[data.index(b"step 100 ")] = ord("S")
    texts, told = read_all(discover([str(put(tmp_path / "x.zip", bytes(data)))]))
    assert (len(texts["x.zip!a.log"]), texts["x.zip!b.log"]) == (len(TEXT), TEXT)
    assert set(told) == {"x.zip!a.log"}
    assert "checksum" in told["x.zip!a.log"]


def test_encrypted_zip_members_are_named(tmp_path: Path) -> None:
    data = bytearray(zip_bytes([("a.log", b"a\n")]))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(NothingFound) as caught:
        discover([str(put(tmp_path / "x.zip", bytes(data)))])
    assert "encrypted" in caught.value.message


def test_checkpoints_and_programs_that_are_zips_are_one_line(tmp_path: Path) -> None:
    put(tmp_path / "model.pt", zip_bytes([("m/data.pkl", b"\x80\x02."), ("m/version", b"3\n")]))
    put(tmp_path / "lib.whl", zip_bytes([("a.dist-info/METADATA", b"Name: a\n")]))
    with pytest.raises(NotALog) as caught:
        discover([str(tmp_path)])
    assert "PyTorch checkpoint" in caught.value.message
    assert "program" in caught.value.message
