"""What the given paths hold: files, folders, globs, links, pipes, and what is not a log."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from assistant.errors import NotALog, NothingFound
from assistant.intake.discover import discover
from assistant.intake.limits import Limits
from assistant.intake.models import Codec, Discovery

TEXT = b"step 1 loss 2.5\nstep 2 loss 2.4\n"


def put(path: Path, data: bytes = TEXT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(found: Discovery) -> list[str]:
    return [source.name for source in found.sources]


def reasons(found: Discovery) -> dict[str, str]:
    return {one.source: one.why for one in found.unread}


def test_names_are_relative_to_the_folder_and_naturally_sorted(tmp_path: Path) -> None:
    for name in ("node1/rank-10.log", "node1/rank-2.log", "node0/console", "top.data"):
        put(tmp_path / name)
    found = discover([str(tmp_path)])
    assert names(found) == ["node0/console", "node1/rank-2.log", "node1/rank-10.log", "top.data"]
    assert [source.id for source in found.sources] == [0, 1, 2, 3]
    assert found.root == str(tmp_path)
    assert discover([str(tmp_path)]) == found


def test_single_file_is_called_by_its_own_name(tmp_path: Path) -> None:
    assert names(discover([str(put(tmp_path / "deep" / "job.log"))])) == ["job.log"]


def test_several_paths_are_relative_to_what_they_share(tmp_path: Path) -> None:
    put(tmp_path / "a" / "x.log")
    put(tmp_path / "b" / "c" / "x.log", b"other\n")
    found = discover([str(tmp_path / "b"), str(tmp_path / "a" / "x.log"), str(tmp_path / "b")])
    assert names(found) == ["a/x.log", "b/c/x.log"]
    assert found.root == str(tmp_path)


def test_glob_is_expanded_but_an_existing_name_is_taken_literally(tmp_path: Path) -> None:
    for name in ("rank[1].log", "rank1.log", "rank2.log"):
        put(tmp_path / name, name.encode() + b"\n")
    assert names(discover([str(tmp_path / "rank?.log")])) == ["rank1.log", "rank2.log"]
    assert names(discover([str(tmp_path / "rank[1].log")])) == ["rank[1].log"]


def test_content_decides_and_not_the_ending(tmp_path: Path) -> None:
    for name in ("a.json", "b.jsonl", "c.data", "d.out", "e.err", "f.txt", "g", "h.bin", "i.pt"):
        put(tmp_path / name, name.encode() + TEXT)
    assert len(discover([str(tmp_path)]).sources) == 9


def test_codec_is_told_by_magic_bytes_though_the_ending_lies(tmp_path: Path) -> None:
    put(tmp_path / "plain.gz")
    put(tmp_path / "packed.log", gzip.compress(TEXT))
    found = discover([str(tmp_path)])
    assert {source.name: source.codec for source in found.sources} == {
        "packed.log": Codec.GZIP,
        "plain.gz": Codec.PLAIN,
    }


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps({"weights": list(range(500))}),
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
        b"\x7fELF\x02\x01\x01" + bytes(5000),
        (120).to_bytes(8, "little") + b'{"layer.0.weight":{"dtype":"BF16","shape":[4,4]}}' + b" " * 4000,
        b"".join(number.to_bytes(4, "little") for number in range(5000)),
        os.urandom(4000),
        gzip.compress(os.urandom(4000)),
        b"\x00\x00\x80\x3f" * 3000,
    ],
    ids=["pickle", "png", "elf", "safetensors", "integers", "random", "packed-random", "floats"],
)
def test_binary_beside_a_log_is_listed_and_not_read(tmp_path: Path, data: bytes) -> None:
    put(tmp_path / "job.log")
    put(tmp_path / "blob", data)
    found = discover([str(tmp_path)])
    assert names(found) == ["job.log"]
    assert reasons(found)["blob"].startswith("binary")


@pytest.mark.parametrize(
    "data",
    [
        "Geräteausfall auf Knoten 3\n".encode("latin-1") * 40,
        "设备 3 训练失败 error code 507\n".encode("gbk") * 40,
        b"\x1b[31mERROR\x1b[0m out of memory\b\b\n" * 40,
        b"a\x00b\n" + TEXT * 20,
        b"\x00" * 60_000 + TEXT,
        TEXT + b"\x00" * 9_000,
        b"\xff\xfe broken \xc3\x28 bytes\n".replace(b"\xff\xfe", b"x\xff\xfe") * 40,
        b"\r 10%|#   | 1/10\r 20%|##  | 2/10" * 40,
    ],
    ids=["latin-1", "gbk", "ansi", "stray-nul", "leading-hole", "trailing-hole", "broken-utf8", "progress-bars"],
)
def test_unclean_text_is_still_a_log(tmp_path: Path, data: bytes) -> None:
    assert names(discover([str(put(tmp_path / "odd.log", data))])) == ["odd.log"]


def test_log_behind_a_hole_of_many_megabytes_is_found(tmp_path: Path) -> None:
    with open(tmp_path / "sparse.log", "wb") as file:
        file.seek(64 * 1024 * 1024)
        file.write(TEXT)
    assert names(discover([str(tmp_path)])) == ["sparse.log"]


def test_utf16_and_journals_are_listed_with_the_remedy(tmp_path: Path) -> None:
    put(tmp_path / "job.log")
    put(tmp_path / "windows.txt", TEXT.decode().encode("utf-16-le"))
    put(tmp_path / "system.journal", b"LPKSHHRH" + bytes(500))
    found = reasons(discover([str(tmp_path)]))
    assert "iconv" in found["windows.txt"]
    assert "journalctl" in found["system.journal"]


def test_many_of_a_kind_become_one_line(tmp_path: Path) -> None:
    put(tmp_path / "job.log")
    for rank in range(12):
        put(tmp_path / f"state-{rank}.pt", b"\x80\x02}q\x00" + bytes([rank]))
    (one,) = discover([str(tmp_path)]).unread
    assert one.source == "12 files *.pt"
    assert one.why.startswith("binary")
    assert "state-0.pt" in one.why


def test_hidden_and_library_folders_are_skipped_but_named(tmp_path: Path) -> None:
    put(tmp_path / "job.log")
    for folder in (".git", "__pycache__"):
        put(tmp_path / folder / "config", folder.encode() + TEXT)
    put(tmp_path / "venv" / "pyvenv.cfg")
    found = discover([str(tmp_path)])
    assert names(found) == ["job.log"]
    assert set(reasons(found)) == {".git", "__pycache__", "venv"}


def test_programs_and_model_files_are_left_out_of_a_folder_but_not_when_named(tmp_path: Path) -> None:
    put(tmp_path / "job.log")
    script = put(tmp_path / "train.py", b"raise RuntimeError('CUDA out of memory')\n")
    put(tmp_path / "vocab.txt", b"error\nfailed\n")
    found = discover([str(tmp_path)])
    assert names(found) == ["job.log"]
    assert set(reasons(found)) == {"train.py", "vocab.txt"}
    assert names(discover([str(script)])) == ["train.py"]


def test_pipes_sockets_and_devices_are_never_opened(tmp_path: Path) -> None:
    put(tmp_path / "job.log")
    os.mkfifo(tmp_path / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "sock"))
    listener.close()
    found = discover([str(tmp_path), str(tmp_path / "pipe"), "/dev/null"])
    told = " ".join(f"{name}: {why}" for name, why in reasons(found).items())
    assert [Path(name).name for name in names(found)] == ["job.log"]
    assert "pipe: a named pipe" in told
    assert "sock: a socket" in told
    assert "null: a device" in told


def test_link_loops_and_links_out_of_the_job_end(tmp_path: Path) -> None:
    job = tmp_path / "job"
    put(job / "a" / "x.log")
    put(tmp_path / "secret.log", b"another job\n")
    (job / "a" / "up").symlink_to(job)
    (job / "out").symlink_to(tmp_path)
    (job / "self").symlink_to("self")
    (job / "gone").symlink_to("nowhere")
    found = discover([str(job)])
    assert names(found) == ["a/x.log"]
    assert reasons(found)["self"] == "a link that leads to itself"
    assert reasons(found)["gone"] == "a broken link"
    assert "around the job" in reasons(found)["out"]
    assert "already" in reasons(found)["a/up"]


def test_linked_file_is_read_once_under_its_own_name(tmp_path: Path) -> None:
    put(tmp_path / "z-real.log")
    (tmp_path / "latest.log").symlink_to("z-real.log")
    os.link(tmp_path / "z-real.log", tmp_path / "zz-hard.log")
    found = discover([str(tmp_path)])
    assert names(found) == ["z-real.log"]
    assert set(reasons(found).values()) == {"the same file as z-real.log"}


def test_folder_linked_from_elsewhere_is_followed(tmp_path: Path) -> None:
    put(tmp_path / "scratch" / "node7" / "x.log")
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "node7").symlink_to(tmp_path / "scratch" / "node7")
    assert names(discover([str(tmp_path / "job")])) == ["node7/x.log"]


def test_names_never_carry_control_characters(tmp_path: Path) -> None:
    for raw in (b"new\nline.log", b"esc\x1b[31m.log", b"broken-\xff\xfe.log", "turn\u202egol.log".encode()):
        put(Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), raw))), raw + b"\n")
    shown = names(discover([str(tmp_path)]))
    assert len(shown) == 4
    assert all(name.isprintable() for name in shown)
    assert "new\\nline.log" in shown
    assert "broken-\\xff\\xfe.log" in shown


def test_names_that_look_alike_stay_distinct(tmp_path: Path) -> None:
    put(tmp_path / "a\n.log", b"one\n")
    put(tmp_path / "a\\n.log", b"two\n")
    assert len(set(names(discover([str(tmp_path)])))) == 2


def test_unreadable_and_vanished_files_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("job.log", "locked.log", "gone.log"):
        put(tmp_path / name, name.encode() + b"\n")
    real = os.open

    def guarded(path: Path, flags: int) -> int:
        if path.name == "locked.log":
            raise PermissionError(13, "Permission denied")
        if path.name == "gone.log":
            raise FileNotFoundError(2, "No such file")
        return real(path, flags)

    monkeypatch.setattr(os, "open", guarded)
    found = discover([str(tmp_path)])
    assert names(found) == ["job.log"]
    assert "permission denied" in reasons(found)["locked.log"]
    assert "vanished" in reasons(found)["gone.log"]


def test_locked_folders_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "job.log")
    put(tmp_path / "locked" / "x.log", b"other\n")
    real = os.scandir

    def guarded(path: Path) -> object:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", guarded)
    found = discover([str(tmp_path)])
    assert names(found) == ["job.log"]
    assert "permission denied" in reasons(found)["locked"]


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user's rights, which only root can do")
def test_another_users_files_are_listed_and_no_error(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder)
        job.chmod(0o755)
        put(job / "job.log")
        put(job / "locked" / "x.log", b"other\n").parent.chmod(0o700)
        put(job / "own.log", b"own\n").chmod(0o600)
        os.seteuid(65534)
        try:
            found = discover([folder])
            with pytest.raises(NothingFound) as caught:
                discover([str(job / "locked" / "x.log")])
        finally:
            os.seteuid(0)
    assert names(found) == ["job.log"]
    assert set(reasons(found)) == {"locked", "own.log"}
    assert "permission denied" in caught.value.message


def test_missing_path_among_others_is_listed(tmp_path: Path) -> None:
    put(tmp_path / "job.log")
    found = discover([str(tmp_path / "job.log"), str(tmp_path / "typo.log")])
    assert names(found) == ["job.log"]
    assert reasons(found)["typo.log"] == "no such file or folder"


@pytest.mark.parametrize("prepare", ["missing", "empty-folder", "empty-file"])
def test_nothing_to_read_is_nothing_found(tmp_path: Path, prepare: str) -> None:
    target = tmp_path / "job"
    if prepare == "empty-folder":
        target.mkdir()
    elif prepare == "empty-file":
        put(target, b"")
    with pytest.raises(NothingFound) as caught:
        discover([str(target)])
    assert "job" in caught.value.message
    assert caught.value.hint


def test_only_binaries_is_not_a_log(tmp_path: Path) -> None:
    put(tmp_path / "a.pt", b"\x80\x04\x95" + os.urandom(200))
    put(tmp_path / "b.log", b"")
    with pytest.raises(NotALog) as caught:
        discover([str(tmp_path)])
    assert "pickle" in caught.value.message


def test_no_path_at_all_is_nothing_found() -> None:
    with pytest.raises(NothingFound):
        discover([])


def test_more_files_than_the_limit_are_counted(tmp_path: Path) -> None:
    for number in range(20):
        put(tmp_path / f"{number}.log", f"{number}\n".encode())
    found = discover([str(tmp_path)], limits=Limits(sources=5))
    assert len(found.sources) == 5
    assert any(one.source.startswith("15 files") for one in found.unread)


def test_four_thousand_small_files_are_all_found(tmp_path: Path) -> None:
    for number in range(4096):
        (tmp_path / f"rank-{number}.log").write_bytes(b"rank %d ready\n" % number)
    found = discover([str(tmp_path)])
    assert len(found.sources) == 4096
    assert found.sources[4095].name == "rank-4095.log"


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def test_standard_input_is_kept_in_a_private_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(gzip.compress(TEXT)))
    found = discover(["-"])
    (source,) = found.sources
    assert (found.root, source.name, source.codec) == ("-", "-", Codec.GZIP)
    assert source.path.stat().st_mode & 0o777 == 0o600


def test_standard_input_beside_a_file_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(TEXT))
    put(tmp_path / "job.log", b"other\n")
    assert names(discover(["-", str(tmp_path)])) == ["-", "job.log"]


def test_endless_standard_input_is_cut_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(TEXT * 1000))
    found = discover(["-"], limits=Limits(spool_bytes=1000))
    assert found.sources[0].size == 1000
    assert "1,000 bytes" in reasons(found)["-"]


def test_closed_standard_input_is_nothing_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(NothingFound):
        discover(["-"])
