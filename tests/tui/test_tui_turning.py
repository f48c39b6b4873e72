"""`/new`, `/sessions`, `/attach` with the real workshop: nothing kept, a case from a pipe, what cannot be opened."""

from __future__ import annotations

import asyncio
import io
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from assistant.answers.models import Question
from assistant.answers.sessions import SessionStore
from assistant.cli.settings import configured
from assistant.cli.workshop import CommandWorkshop
from assistant.pipeline import diagnose
from assistant.tui.app import RootrankApp
from assistant.tui.fulltext import FullText
from assistant.tui.sessions_screen import SessionsScreen
from assistant.tui.workplace import Workplace
from tests.tui.conftest import write_job
from tests.tui.stage import opened, text_of, until

Play = Callable[[Pilot[Any], Workplace], Awaitable[None]]


@pytest.fixture
def data(own_home: Path) -> Path:
    return own_home / "data"


def perform(targets: tuple[str, ...], play: Play, *, save: bool = True, added: tuple[str, ...] = ()) -> None:
    settings = configured(cases__save=None if save else ("--no-save", False))
    workshop = CommandWorkshop(settings, targets, added, None, None)

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=(140, 40)) as pilot:
            await play(pilot, await opened(pilot))
        workshop.close()

    asyncio.run(go())


async def command(pilot: Pilot[Any], place: Workplace, text: str) -> None:
    place.prompt.focus()
    place.prompt.load_text(text)
    await pilot.press("enter")


async def ask(pilot: Pilot[Any], place: Workplace, text: str) -> None:
    await command(pilot, place, text)
    await until(pilot, lambda: not place.talk.busy and "Next:" in place.talk.transcript.text())


async def another(pilot: Pilot[Any], place: Workplace) -> Workplace:
    await until(pilot, lambda: isinstance(pilot.app.screen, Workplace) and pilot.app.screen is not place)
    return await opened(pilot)


def said(pilot: Pilot[Any]) -> str:
    return "\n".join(one.message for one in pilot.app._notifications)


def test_where_nothing_is_kept_new_sessions_and_further_files_work(tmp_path: Path, data: Path) -> None:
    job = write_job(tmp_path / "logs")
    extra = tmp_path / "dmesg.txt"
    extra.write_text("[12.5] NVRM: Xid (PCI:0000:1a:00): 79, pid=7, GPU has fallen off the bus.\n")

    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await ask(pilot, place, "What failed?")
        shutil.move(job, tmp_path / "moved")
        await command(pilot, place, "/new")
        second = await another(pilot, place)
        assert "> What failed?" not in second.talk.transcript.text()
        await ask(pilot, second, "Why rank 5?")
        shutil.move(tmp_path / "moved", job)
        for revision, name in ((2, "dmesg.txt"), (3, "more.txt")):
            (tmp_path / name).write_bytes(extra.read_bytes())
            await command(pilot, second, f"/attach {tmp_path / name}")
            await until(pilot, lambda wanted=revision: second.table.case.revision == wanted)  # type: ignore[misc]
            await opened(pilot)
        await command(pilot, second, "/sessions")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen) and "0 sessions" in text_of(pilot.app))
        await pilot.press("escape")
        await command(pilot, second, "/new")
        third = await another(pilot, second)
        assert third.table.case.revision == 3

    perform((str(job),), play, save=False)
    assert not (data / "sessions").exists()
    assert not (data / "cases").exists()


def test_a_new_session_about_kept_logs_reads_nothing_again(tmp_path: Path, data: Path) -> None:
    job = write_job(tmp_path / "logs")

    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await ask(pilot, place, "What failed?")
        shutil.rmtree(data / "cases")
        shutil.rmtree(job)
        await command(pilot, place, "/new")
        second = await another(pilot, place)
        await ask(pilot, second, "Why rank 5?")
        await command(pilot, second, f"/attach {tmp_path / 'no-such-file'}")
        await until(pilot, lambda: "original logs are gone" in said(pilot))
        assert pilot.app.screen is second

    perform((str(job),), play)
    turns = [[turn.question.text for turn in one.turns] for one in SessionStore(data).sessions()]
    assert sorted(turns) == [["What failed?"], ["Why rank 5?"]]


def test_a_session_whose_case_is_gone_leaves_the_present_one_open(tmp_path: Path, data: Path) -> None:
    job = write_job(tmp_path / "logs")
    with SessionStore(data).new(case="c-00000000", revision=1, answerer="offline", program="0") as writer:
        writer.ask(Question(text="about a case that is gone"))

    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await ask(pilot, place, "What failed?")
        place.turn_to(SessionStore(data).load(writer.header.session))
        await until(pilot, lambda: "c-00000000" in said(pilot))
        await until(pilot, lambda: pilot.app.screen is place)
        await ask(pilot, place, "Why rank 5?")

    perform((str(job),), play)
    assert [turn.question.text for turn in SessionStore(data).load("last").turns] == ["What failed?", "Why rank 5?"]


def test_a_case_from_a_pipe_goes_on_in_a_new_session_and_says_what_it_cannot(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = (write_job(tmp_path / "logs") / "node-02" / "rank-5.log").read_bytes()

    class Piped:
        buffer = io.BytesIO(log)

    from assistant.case.store import CaseStore, Inputs

    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", Piped())
        case = diagnose(["-"])
    CaseStore(data).save(case, Inputs(("-",), {}))

    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await ask(pilot, place, "What failed?")
        await command(pilot, place, f"/attach {tmp_path / 'logs'}")
        await until(pilot, lambda: "standard input" in said(pilot))
        place.open_place("E1")
        await until(pilot, lambda: isinstance(pilot.app.screen, FullText))
        await pilot.press("escape")
        await command(pilot, place, "/new")
        second = await another(pilot, place)
        await ask(pilot, second, "Why rank 5?")

    perform((case.case,), play)
    assert len(SessionStore(data).ids()) == 2


def test_a_case_that_cannot_be_kept_is_told_and_goes_on(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = write_job(tmp_path / "logs")
    data.parent.mkdir(parents=True, exist_ok=True)
    data.write_bytes(b"a file where the folder should be")

    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await until(pilot, lambda: "CASE NOT KEPT" in text_of(pilot.app))
        await ask(pilot, place, "What failed?")
        assert place.talk.transcript.text().count("Not saved:") == 1
        await command(pilot, place, f"/attach {job / 'node-00'}")
        await until(pilot, lambda: place.table.case.revision == 2)
        await command(pilot, place, "/new")
        second = await another(pilot, place)
        await ask(pilot, second, "Why rank 5?")
        await command(pilot, second, "/sessions")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
        await pilot.press("escape")
        assert isinstance(pilot.app, RootrankApp)
        assert any("not saved" in text for text in pilot.app.farewell)

    perform((str(job),), play)
