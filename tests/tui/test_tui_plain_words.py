"""What somebody sees who opens a screen for the first time, in the smallest usual window."""

from __future__ import annotations

import asyncio
from pathlib import Path

from assistant.case.models import Action
from assistant.case.vocabulary import ActionKind
from assistant.tui.app import RootrankApp
from assistant.tui.ports import Table
from tests.tui.stage import TestWorkshop, opened, text_of, until


def test_help_begins_with_the_keys_of_this_program(table: Table, tmp_path: Path) -> None:
    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, lambda hook: table))
        async with app.run_test(size=(80, 24)) as pilot:
            await opened(pilot)
            await pilot.press("f1")
            await until(pilot, lambda: "Keys here" in text_of(app))
            shown = text_of(app)
            assert "prompt.send" in shown
            assert "app.nodes" in shown
            assert "Cursor" not in shown
            await pilot.press("end")
            await until(pilot, lambda: "Cursor" in text_of(app))

    asyncio.run(play())


def test_the_time_of_the_last_line_is_readable_at_80_columns(table: Table, tmp_path: Path) -> None:
    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, lambda hook: table))
        async with app.run_test(size=(80, 24)) as pilot:
            await opened(pilot)
            await pilot.press("f3")
            await until(pilot, lambda: "8 ranks by suspicion" in text_of(app))
            shown = text_of(app)
            assert "last lines of 2031-04-02, UTC" in shown
            assert "10:01:20" in shown
            assert "errors" in shown

    asyncio.run(play())


def test_nothing_to_do_is_no_kind_of_action(table: Table, tmp_path: Path) -> None:
    idle = Action(kind=ActionKind.NONE, text="Nothing to do.", evidence=(), steps=())
    verdict = table.case.verdict.model_copy(update={"action": idle})
    table.case = table.case.model_copy(update={"verdict": verdict})

    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, lambda hook: table))
        async with app.run_test(size=(80, 24)) as pilot:
            await opened(pilot)
            await pilot.press("f5")
            await until(pilot, lambda: "Nothing to do." in text_of(app))
            assert "none: " not in text_of(app)

    asyncio.run(play())
