"""Compound filters of log lines on the screen: typed, switched, told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from assistant.case.models import Case, Evidence
from assistant.intake.models import Source
from assistant.pipeline import Examination
from assistant.tui.app import RootrankApp
from assistant.tui.logs.screen import LogScreen
from assistant.tui.ports import Table
from assistant.tui.workplace import Workplace
from tests.tui.conftest import table_of
from tests.tui.outside import EVERY
from tests.tui.stage import TestWorkshop, opened, text_of, until
from tests.tui.test_tui_log_filters import LINES, source_in

Play = Callable[[Pilot[Any], Workplace, LogScreen], Awaitable[None]]


class LogWorkshop(TestWorkshop):
    """Has one log, whatever is asked for."""

    log: Source

    def source(self, table: Table, name: str) -> Source:
        return self.log

    def sources(self, table: Table) -> tuple[Source, ...]:
        return (self.log,)


def view(
    folder: Path, read_job: tuple[Case, Examination], data: bytes, play: Play, size: tuple[int, int] = (100, 30)
) -> None:
    item = Evidence(id="E1", source="big.log", line=1, offset=0, text=data.split(b"\n")[0].decode("utf-8", "replace"))
    table = table_of(read_job[0].model_copy(update={"evidence": (item,)}), None)
    workshop = LogWorkshop(folder / "data", lambda hook: table)
    workshop.log = source_in(folder, "big.log", data)

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=size) as pilot:
            place = await opened(pilot)
            await until(pilot, lambda: place.talk.dialogue is not None)
            place.open_place("E1")
            await until(pilot, lambda: isinstance(pilot.app.screen, LogScreen) and pilot.app.screen.pane.rows)
            screen = pilot.app.screen
            assert isinstance(screen, LogScreen)
            await play(pilot, place, screen)

    asyncio.run(go())


async def type_filters(pilot: Pilot[Any], text: str) -> Input:
    if not pilot.app.screen.query_one("#filter-line").display:
        await pilot.press("f")
    line = pilot.app.screen.query_one("#filter-line", Input)
    line.value = text
    await pilot.press("enter")
    return line


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (50, 12)])
def test_filters_are_typed_switched_and_told_on_the_screen(
    read_job: tuple[Case, Examination], tmp_path: Path, size: tuple[int, int]
) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, screen: LogScreen) -> None:
        def shown() -> list[str]:
            return [row.line.text.partition("]: ")[2][:14] for row in screen.pane.rows]

        await type_filters(pilot, "rank=3 level=error")
        await until(pilot, lambda: "4 lines pass " in text_of(pilot.app) and len(shown()) == 4)
        assert "1✓rank=3 2✓level=error" in text_of(pilot.app)
        await pilot.press("1")
        await until(pilot, lambda: "1✗rank=3" in text_of(pilot.app) and "2✓level" in text_of(pilot.app))
        await pilot.press("2")
        await until(pilot, lambda: "filters off" in text_of(pilot.app) and len(shown()) > 4)
        await pilot.press("0")
        await until(pilot, lambda: "4 lines pass " in text_of(pilot.app))
        await pilot.press("7")
        await type_filters(pilot, "")
        await until(pilot, lambda: "pass" not in text_of(pilot.app) and len(shown()) > 4)

    view(tmp_path, read_job, LINES, play, size)


def test_what_is_wrong_is_told_in_place_and_stays_typed(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, screen: LogScreen) -> None:
        line = await type_filters(pilot, "rank=3 rnak=[b]4[/b]")
        await until(pilot, lambda: "✗ no filter rnak=" in text_of(pilot.app))
        assert line.value == "rank=3 rnak=[b]4[/b]"
        assert line.has_focus
        line.value = "rank=3 le"
        await pilot.press("end", "tab")
        assert line.value == "rank=3 level="
        await pilot.press("escape")
        assert pilot.app.screen is screen
        assert not screen.book.filters.switches
        await type_filters(pilot, "level=error /odd/")
        await until(pilot, lambda: "1 line passes" in text_of(pilot.app))
        await pilot.press("f")
        assert screen.query_one("#filter-line", Input).value == "level=error /odd/ "
        await pilot.press("x", "enter")
        await until(pilot, lambda: "3✓x" in text_of(pilot.app))

    view(tmp_path, read_job, LINES, play)


def test_the_line_one_was_at_is_found_again_among_those_that_pass(
    read_job: tuple[Case, Examination], tmp_path: Path
) -> None:
    level = {4: b"ERROR"}
    rows = [
        b"2031-04-02 12:%02d:%02d.000 %s %d" % (n // 60 % 60, n % 60, level.get(n % 9, b"INFO"), n)
        for n in range(3_000)
    ]

    async def play(pilot: Pilot[Any], place: Workplace, screen: LogScreen) -> None:
        place_of = b"\n".join(rows[:2_000])
        screen.show_place(len(place_of) + 1)
        await type_filters(pilot, "level=error")
        await until(pilot, lambda: screen.pane.chosen and screen.pane.chosen.text.endswith("ERROR 1993"))
        await pilot.press("0")
        await until(pilot, lambda: screen.book.passing is None and len(screen.pane.rows) > 20)
        assert screen.pane.chosen
        assert screen.pane.chosen.text.endswith("ERROR 1993")
        await pilot.press("0", "0", "0")
        await until(pilot, lambda: "333 lines pass " in text_of(pilot.app))
        await pilot.press("pagedown", "down", "up", "G", "g", "n")

    view(tmp_path, read_job, b"\n".join(rows) + b"\n", play)


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_hostile_filters_and_lines_are_drawn_as_they_stand(
    read_job: tuple[Case, Examination], tmp_path: Path, number: int
) -> None:
    text = EVERY[number].replace("\n", " ")
    data = LINES + text.encode("utf-8", "surrogatepass") + b"\n"

    async def play(pilot: Pilot[Any], place: Workplace, screen: LogScreen) -> None:
        for typed in (f"/{text[:200]}", f"event=here {text[:50]}", "level=info !/zzz/"):
            await type_filters(pilot, typed)
            await pilot.pause()
            assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))

    view(tmp_path, read_job, data, play)
