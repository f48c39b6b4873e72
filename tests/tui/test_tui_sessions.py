"""Conversations are listed, searched, gone on with and deleted; keys, themes, ctrl+c; a terminal that is gone."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from assistant.answers.models import Question
from assistant.tui import lost
from assistant.tui.app import RootrankApp, theme_of
from assistant.tui.ports import Look, Table
from assistant.tui.sessions_screen import SessionsScreen
from assistant.tui.views.nodes_screen import NodesScreen
from assistant.tui.workplace import Workplace
from tests.tui.outside import EVERY
from tests.tui.stage import TestWorkshop, opened, text_of, until

Play = Callable[[Pilot[Any], Workplace, TestWorkshop], Awaitable[None]]


def perform(table: Table, folder: Path, play: Play, look: Look | None = None) -> tuple[TestWorkshop, RootrankApp]:
    workshop = TestWorkshop(folder, lambda hook: table, look=look)
    app = RootrankApp(workshop)

    async def go() -> None:
        async with app.run_test(size=(120, 30)) as pilot:
            await play(pilot, await opened(pilot), workshop)

    asyncio.run(go())
    return workshop, app


async def ask(pilot: Pilot[Any], place: Workplace, text: str) -> None:
    place.prompt.focus()
    place.prompt.load_text(text)
    await pilot.press("enter")
    await until(pilot, lambda: not place.talk.busy and not place.prompt.text)


async def listed(pilot: Pilot[Any], place: Workplace) -> SessionsScreen:
    place.show_sessions()
    await until(pilot, lambda: isinstance(pilot.app.screen, SessionsScreen))
    screen = pilot.app.screen
    assert isinstance(screen, SessionsScreen)
    await until(pilot, lambda: "session" in text_of(pilot.app).split("\n")[0])
    return screen


def test_a_new_session_begins_and_the_old_one_is_taken_up_again(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "What failed?")
        first = place.talk.dialogue.session if place.talk.dialogue else ""
        place.prompt.load_text("half typed")
        place.turn_to(None)
        await until(pilot, lambda: isinstance(pilot.app.screen, Workplace) and pilot.app.screen is not place)
        second = await opened(pilot)
        await pilot.press("up")
        assert second.prompt.text == "half typed"
        await ask(pilot, second, "Why rank 5?")
        screen = await listed(pilot, second)
        assert len(screen._found) == 2
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Workplace) and pilot.app.screen is not second)
        third = await opened(pilot)
        third.talk.transcript.lay_out()
        assert "> What failed?" in third.talk.transcript.text()
        await ask(pilot, third, "And now?")
        assert third.talk.dialogue
        assert third.talk.dialogue.session == first

    workshop, _ = perform(table, tmp_path, play)
    assert sorted(len(one.turns) for one in workshop.sessions.sessions()) == [1, 2]


def test_sessions_are_searched_and_deleted_when_asked_twice(table: Table, tmp_path: Path) -> None:
    store = TestWorkshop(tmp_path, lambda hook: table).sessions
    for text in ("about cables", "about memory"):
        with store.new(case=table.case.case, revision=1, answerer="offline", program="t") as writer:
            writer.ask(Question(text=text))

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await listed(pilot, place)
        await pilot.press("slash")
        screen.query_one("#sessions-search", Input).value = "CABLES"
        await pilot.press("enter")
        await until(pilot, lambda: len(screen._found) == 1)
        await pilot.press("d")
        assert len(store.ids()) == 2
        await pilot.press("d")
        await until(pilot, lambda: len(store.ids()) == 1)
        await until(pilot, lambda: "about memory" in text_of(pilot.app))

    perform(table, tmp_path, play)


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_hostile_sessions_do_nothing(table: Table, tmp_path: Path, number: int) -> None:
    store = TestWorkshop(tmp_path, lambda hook: table).sessions
    text = EVERY[number][:5_000]
    with store.new(case=text[:200], revision=1, answerer=text[:200], program=text) as writer:
        writer.ask(Question(text=text))

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await listed(pilot, place)
        await pilot.pause()
        assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))

    perform(table, tmp_path, play)


def test_keys_are_changed_by_their_id(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(pilot.app.screen, NodesScreen))

    perform(table, tmp_path, play, Look(keys={"app.nodes": "f8"}))


def test_themes_fall_back_to_one_that_fits() -> None:
    assert theme_of("nord", {"nord", "textual-dark"}) == "nord"
    assert theme_of("no such", {"nord", "textual-dark"}) == "textual-dark"


def test_a_terminal_of_few_colours_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    assert theme_of("", {"ansi-dark", "textual-dark"}) == "ansi-dark"


def test_without_colour_every_sign_still_stands(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        assert "✗ FAILED" in text_of(pilot.app)

    _, app = perform(table, tmp_path, play)
    assert app.no_color


def test_ctrl_c_twice_ends_and_once_does_not(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.prompt.load_text("typed")
        await pilot.press("ctrl+c")
        assert pilot.app.is_running
        assert place.prompt.text == "typed"
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not pilot.app.is_running)

    perform(table, tmp_path, play)


def test_leaving_keeps_what_was_being_typed(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.prompt.load_text("not sent yet")
        assert isinstance(pilot.app, RootrankApp)
        pilot.app.leave()
        await until(pilot, lambda: not pilot.app.is_running)

    perform(table, tmp_path, play)

    async def again(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("up")
        assert place.prompt.text == "not sent yet"

    perform(table, tmp_path, again)


def test_a_terminal_that_is_gone_ends_the_process_even_where_the_screen_is_stuck() -> None:
    master, slave = pty.openpty()
    ended, asked = threading.Event(), threading.Event()
    codes: list[int] = []

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    def stuck() -> None:
        asked.set()
        threading.Event().wait(30)

    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM)}
    try:
        with lost.Watch(slave, stuck, every=0.01, grace=0.05, end=end):
            assert not lost.gone(slave)
            os.close(master)
            assert asked.wait(20)
            assert ended.wait(20)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(slave)
    assert codes == [lost.CODE]


def test_a_terminal_that_stays_is_left_alone() -> None:
    codes: list[int] = []
    master, slave = pty.openpty()
    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM)}
    try:
        with lost.Watch(slave, lambda: codes.append(-1), every=0.01, grace=0.01, end=codes.append):
            assert not lost.gone(slave)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(master)
        os.close(slave)
    assert lost.gone(slave)
    assert codes == []
