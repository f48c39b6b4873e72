"""Files are written whole or not at all, for their owner alone, and one writer waits for the other."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import stat
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from assistant import disk, errors
from assistant.errors import RootrankError, StoreError, WindowFull


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_and_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "c.json"
    disk.folder_for(target)
    disk.replace_file(target, b"x")
    disk.append_line(tmp_path / "a" / "log", b"line\n")
    assert [mode(place) for place in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700, 0o700]
    assert [mode(place) for place in (target, tmp_path / "a" / "log")] == [0o600, 0o600]


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    disk.private_folder(tmp_path)
    assert mode(tmp_path) == 0o750


def test_a_replacement_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "case.json"
    disk.replace_file(target, b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        disk.replace_file(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["case.json"]


def test_of_many_only_one_claims_a_name(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda _: disk.claim(tmp_path / "new" / "name"), range(64)))
    assert won.count(True) == 1
    assert mode(tmp_path / "new" / "name") == 0o600


def test_lines_of_many_writers_stay_whole(tmp_path: Path) -> None:
    lines = [bytes([65 + n % 26]) * 500 + b"\n" for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: disk.append_line(tmp_path / "log", text), lines))
    assert sorted((tmp_path / "log").read_bytes().splitlines(keepends=True)) == sorted(lines)


def _add_one(folder: str) -> None:
    place = Path(folder)
    for _ in range(20):
        with disk.locked(place):
            number = int((place / "number").read_text(encoding="utf-8"))
            disk.replace_file(place / "number", str(number + 1).encode())


def test_writers_in_several_processes_wait_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "number").write_text("0", encoding="utf-8")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(_add_one, [str(tmp_path)] * 3))
    assert (tmp_path / "number").read_text(encoding="utf-8") == "60"


def test_a_lock_is_let_go_when_its_holder_fails(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no"), disk.locked(tmp_path / "new"):
        raise ValueError("no")
    with disk.locked(tmp_path / "new"):
        assert (tmp_path / "new" / ".lock").exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EACCES, "Permission denied"), "the case cannot be kept: permission denied"),
        (ValueError("Bad Digit"), "the case cannot be kept: bad digit"),
        (OSError(), "the case cannot be kept: oserror"),
        (ValueError(), "the case cannot be kept: valueerror"),
    ],
)
def test_what_the_system_refuses_is_told_with_a_remedy(error: Exception, said: str) -> None:
    with pytest.raises(StoreError) as caught, disk.reported("the case cannot be kept"):
        raise error
    assert caught.value.message == said
    assert caught.value.hint == disk.REMEDY


def test_other_errors_pass_unchanged() -> None:
    with pytest.raises(KeyError), disk.reported("x"):
        raise KeyError("x")
    with pytest.raises(errors.UnknownCase), disk.reported("x"):
        raise errors.UnknownCase("no such case", hint="list them")


def leaves(kind: type[RootrankError]) -> list[type[RootrankError]]:
    return [kind, *(leaf for child in kind.__subclasses__() for leaf in leaves(child))]


@pytest.mark.parametrize("kind", leaves(RootrankError), ids=lambda kind: str(kind.__name__))
def test_every_error_survives_the_way_from_a_worker_process(kind: type[RootrankError]) -> None:
    again = pickle.loads(pickle.dumps(kind("what happened", hint="what to do")))
    assert type(again) is kind
    assert (str(again), again.message, again.hint) == ("what happened", "what happened", "what to do")


def test_what_an_error_knows_beside_its_message_survives_too() -> None:
    error = WindowFull("too much", hint="less")
    error.window = 4096
    again = pickle.loads(pickle.dumps(error))
    assert again.window == 4096


def _refuse() -> None:
    raise errors.NotALog("not text", hint="give logs")


def test_a_worker_process_hands_its_error_on() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool, pytest.raises(errors.NotALog, match="not text") as caught:
        pool.submit(_refuse).result()
    assert caught.value.hint == "give logs"
