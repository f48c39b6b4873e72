"""Full disks, closed folders, a store that is removed, two processes in one session: told once, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from assistant.answers.models import Question, Standing, Text
from assistant.answers.sessions import SessionStore
from assistant.errors import SessionBusy, StoreError
from assistant.tui.app import RootrankApp
from assistant.tui.ports import Table
from assistant.tui.talk.history import History
from assistant.tui.workplace import Workplace
from tests.tui.stage import TestWorkshop, opened, text_of, until

Play = Callable[[Pilot[Any], Workplace, TestWorkshop], Awaitable[None]]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 128 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Leaves no byte free."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 1_024)
    return filler


@contextlib.contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """What a disk that fills up does to one file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def piece(number: int) -> Text:
    return Text(number=number, text=f"piece {number} {'x' * 100}. ", standing=Standing.PLAIN)


def begun(store: SessionStore, text: str = "what failed?") -> str:
    """A session with one answered question; its id."""
    with store.new(case="c-1", revision=1, answerer="offline", program="0") as writer:
        writer.ask(Question(text=text))
        writer.add(piece(1))
    return writer.header.session


def perform(workshop: TestWorkshop, play: Play) -> None:
    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=(100, 40)) as pilot:
            await play(pilot, await opened(pilot), workshop)

    asyncio.run(go())


async def ask(pilot: Pilot[Any], place: Workplace, text: str) -> None:
    place.prompt.focus()
    place.prompt.load_text(text)
    await pilot.press("enter")
    await until(pilot, lambda: not place.talk.busy and not place.prompt.text)
    await until(pilot, lambda: place.talk.transcript.text().count("Next:") == 1)


def questions(store: SessionStore) -> list[str]:
    return [turn.question.text for turn in store.load("last").turns]


@pytest.mark.parametrize("room", [0, 1, 150, 400, 700])
def test_lines_that_do_not_fit_wait_and_are_written_whole_later(tmp_path: Path, room: int) -> None:
    store = SessionStore(tmp_path)
    with store.new(case="c-1", revision=1, answerer="offline", program="0") as writer:
        writer.ask(Question(text="first"))
        size = (store.folder / f"{writer.header.session}.jsonl").stat().st_size
        with files_no_larger_than(size + room):
            for number in range(1, 9):
                with contextlib.suppress(StoreError):
                    writer.add(piece(number))
            with pytest.raises(StoreError, match="file too large"):
                writer.ask(Question(text="second"))
        assert len(store.load("last").turns) == 1
        writer.add(piece(1))
    session = store.load("last")
    assert not session.cut
    assert [turn.question.text for turn in session.turns] == ["first", "second"]
    assert session.turns[0].answer == "".join(piece(number).text for number in range(1, 9))


def test_a_session_of_which_nothing_could_be_written_leaves_no_damaged_file(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    name = begun(store)
    with files_no_larger_than(20), store.new(case="c-1", revision=1, answerer="offline", program="0") as writer:
        with pytest.raises(StoreError, match="file too large"):
            writer.ask(Question(text="lost"))
        with pytest.raises(StoreError):
            writer.add(piece(1))
    assert store.load("last").header.session == name
    assert len(list(store.folder.iterdir())) == 1


def test_the_history_keeps_whole_lines_and_catches_up(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add("first")
    with files_no_larger_than(20):
        history.add("a second question that does not fit")
        history.add("third")
        assert History(tmp_path).texts == ["first"]
        assert history.unkept == ["a second question that does not fit", "third"]
        assert history.older("") == "third"
    history.add("fourth")
    assert History(tmp_path).texts == ["first", "a second question that does not fit", "third", "fourth"]
    with (tmp_path / "history.jsonl").open("ab") as file:
        file.write(b'"half a li')
    History(tmp_path).add("after a torn line")
    assert History(tmp_path).texts[-1] == "after a torn line"


def test_a_disk_that_fills_up_is_told_once_and_nothing_is_missing_when_there_is_room(table: Table, disk: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "What failed?")
        filler = fill(disk)
        await ask(pilot, place, "Why rank 5?")
        await ask(pilot, place, "What should I do now?")
        said = place.talk.transcript.text()
        assert said.count("Not saved:") == 1
        assert "no space left" in said
        assert "NOT SAVED" in text_of(pilot.app)
        assert len(place.talk.dialogue.history if place.talk.dialogue else ()) == 3
        filler.unlink()
        await ask(pilot, place, "Is that sure?")
        said = place.talk.transcript.text()
        assert said.count("Saved again") == 1
        await until(pilot, lambda: "NOT SAVED" not in text_of(pilot.app))

    workshop = TestWorkshop(disk, lambda hook: table)
    perform(workshop, play)
    assert questions(workshop.sessions) == ["What failed?", "Why rank 5?", "What should I do now?", "Is that sure?"]
    assert all(turn.answer for turn in workshop.sessions.load("last").turns)
    assert History(workshop.folder).texts == questions(workshop.sessions)


def test_a_folder_that_cannot_be_written_is_told_once_and_made_up_for(table: Table, disk: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        remount(disk, "ro")
        await ask(pilot, place, "What failed?")
        await ask(pilot, place, "Why rank 5?")
        assert place.talk.transcript.text().count("Not saved:") == 1
        assert "read-only" in place.talk.transcript.text()
        remount(disk, "rw")
        await ask(pilot, place, "What should I do now?")

    workshop = TestWorkshop(disk, lambda hook: table)
    perform(workshop, play)
    assert questions(workshop.sessions) == ["What failed?", "Why rank 5?", "What should I do now?"]


def test_what_could_not_be_kept_at_the_end_is_told(table: Table, disk: Path) -> None:
    remount(disk, "ro")

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "What failed?")
        place.prompt.load_text("half typed")
        pilot.app.exit()
        await until(pilot, lambda: not pilot.app.is_running)
        assert isinstance(pilot.app, RootrankApp)
        farewell = "\n".join(pilot.app.farewell)
        assert "not saved" in farewell
        assert "half typed" in farewell

    perform(TestWorkshop(disk, lambda hook: table), play)


def test_a_store_that_is_removed_while_it_is_open_is_written_anew(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "What failed?")
        shutil.rmtree(tmp_path / "data")
        await ask(pilot, place, "Why rank 5?")
        await ask(pilot, place, "What should I do now?")
        assert place.talk.transcript.text().count("was removed while it was open") == 1

    workshop = TestWorkshop(tmp_path / "data", lambda hook: table)
    perform(workshop, play)
    assert questions(workshop.sessions) == ["What failed?", "Why rank 5?", "What should I do now?"]


def test_of_two_processes_in_one_session_the_second_goes_on_beside_it(table: Table, tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    name = begun(store)
    session, other = store.resume(name)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        with other:
            other.ask(Question(text="asked elsewhere"))
            await ask(pilot, place, "Why rank 5?")
            assert "is open in another process" in " ".join(place.talk.transcript.text().split())
            with pytest.raises(SessionBusy):
                store.remove(name)
        await ask(pilot, place, "What should I do now?")
        assert place.talk.dialogue
        assert place.talk.dialogue.session != name

    workshop = TestWorkshop(tmp_path, lambda hook: table, session=session)
    perform(workshop, play)
    both = sorted([turn.question.text for turn in one.turns] for one in store.sessions())
    assert both == [
        ["what failed?", "asked elsewhere"],
        ["what failed?", "asked elsewhere", "Why rank 5?", "What should I do now?"],
    ]


def test_turns_are_counted_on_from_what_another_process_wrote_meanwhile(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    _, late = store.resume(begun(store))
    with store.resume("last")[1] as other:
        assert other.ask(Question(text="elsewhere")) == 2
    with late:
        assert late.ask(Question(text="here")) == 3
