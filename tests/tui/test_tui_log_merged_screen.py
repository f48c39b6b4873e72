"""Several logs as one on the screen: opened, walked, searched, marked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from assistant.case.models import Case
from assistant.intake.clock import Skew
from assistant.pipeline import Examination, Options, case_of, examine
from assistant.tui.app import RootrankApp
from assistant.tui.fulltext import FullText
from assistant.tui.logs.desk import marked_in
from assistant.tui.logs.screen import LogScreen
from assistant.tui.merged.screen import MergedScreen
from assistant.tui.workplace import Workplace
from tests.tui.conftest import table_of
from tests.tui.outside import EVERY
from tests.tui.stage import TestWorkshop, opened, text_of, until
from tests.tui.test_tui_log_merged import stamp

Play = Callable[[Pilot[Any], Workplace, TestWorkshop], Awaitable[None]]


def play_in(folder: Path, job: tuple[Case, Examination], play: Play, size: tuple[int, int] = (100, 30)) -> TestWorkshop:
    table = table_of(*job)
    workshop = TestWorkshop(folder / "data", lambda hook: table)

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=size) as pilot:
            place = await opened(pilot)
            await until(pilot, lambda: place.talk.dialogue is not None)
            await play(pilot, place, workshop)

    asyncio.run(go())
    return workshop


async def merge(pilot: Pilot[Any], place: Workplace, typed: str) -> MergedScreen:
    place.logs.merging.open(typed)
    await until(pilot, lambda: isinstance(pilot.app.screen, MergedScreen))
    screen = pilot.app.screen
    assert isinstance(screen, MergedScreen)
    await until(pilot, lambda: screen.pane.rows and not screen.pane.waiting)
    return screen


@pytest.mark.parametrize("size", [(100, 30), (80, 24), (40, 10)])
def test_a_log_widens_to_its_node_and_to_all_at_the_same_line(
    read_job: tuple[Case, Examination], tmp_path: Path, size: tuple[int, int]
) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.open_place("E1")
        await until(pilot, lambda: isinstance(pilot.app.screen, LogScreen) and pilot.app.screen.pane.chosen)
        first = pilot.app.screen
        assert isinstance(first, LogScreen)
        assert first.pane.chosen
        line = first.pane.chosen.text
        for logs, key in (("2 logs", "M"), ("8 logs", "M")):
            await pilot.press(key)
            await until(pilot, partial(said_above, pilot, f"{logs} by corrected time"))
            assert chosen(pilot) == line
        assert "node-0" in text_of(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is first)

    play_in(tmp_path, read_job, play, size)


def said_above(pilot: Pilot[Any], words: str) -> bool:
    return words in str(head(pilot)) and bool(chosen(pilot))


def chosen(pilot: Pilot[Any]) -> str:
    screen = pilot.app.screen
    return screen.pane.chosen.text if isinstance(screen, LogScreen) and screen.pane.chosen else ""


def head(pilot: Pilot[Any]) -> object:
    found = pilot.app.screen.query("#log-head")
    return found.first().render() if found else ""


def test_every_key_of_the_viewer_works_in_a_merged_view(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    table = table_of(*read_job)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await merge(pilot, place, "")
        await pilot.press("g")
        await until(pilot, lambda: screen.pane.chosen and "Step: 0/90" in screen.pane.chosen.text)
        await pilot.press("e")
        await until(pilot, lambda: screen.pane.chosen and "Connection closed" in screen.pane.chosen.text)
        await pilot.press("E")
        await until(pilot, lambda: "nothing further" in notices(pilot))
        await pilot.press("c", "c", "C", "v", "V", "down", "up", "pagedown", "pageup", "w", "w", "right", "left")
        await pilot.press("G")
        await until(pilot, lambda: screen.pane.chosen and "[rank7]" in screen.pane.chosen.text)
        await pilot.press("up", "up", "m")
        await until(pilot, lambda: place.logs.marked or "marked" in notices(pilot))
        await pilot.press("slash")
        screen.query_one("#log-search").value = "Step: 41/"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: "8 found" in text_of(pilot.app))
        await pilot.press("N")
        await until(pilot, lambda: screen.pane.chosen and "Step: 41/" in screen.pane.chosen.text)
        await pilot.press("m")
        await until(pilot, lambda: place.logs.marked and "Step: 41/" in place.logs.marked[-1].text)
        marked, line = place.logs.marked[-1], screen.pane.chosen
        assert line is not None
        assert marked.source == screen.merged.book_of(line).source.name
        assert marked.line == 42
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, FullText) and ":42" in text_of(pilot.app))
        await pilot.press("escape", "F", "R", "y", "escape")
        await until(pilot, lambda: pilot.app.screen is place)

    workshop = play_in(tmp_path, (table.case, read_job[1]), play)
    assert "Step: 41/" in [item.text[-200:] for item in marked_in(workshop.sessions.load("last"))][-1]


def notices(pilot: Pilot[Any]) -> str:
    return " ".join(str(one.message) for one in pilot.app._notifications)


def test_filters_of_rank_and_level_hold_in_a_merged_view(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await merge(pilot, place, "")
        screen.filterer.read("rank=4-6 level=error")
        await until(pilot, lambda: "7 lines pass " in text_of(pilot.app))
        shown = [row.line.text for row in screen.pane.rows]
        assert sum("closed by peer" in text for text in shown) == 2
        assert "Traceback (most recent call last):" in shown
        await pilot.press("1")
        await until(pilot, lambda: "12 lines pass " in text_of(pilot.app))
        await pilot.press("0")
        await until(pilot, lambda: "filters off" in text_of(pilot.app) and len(screen.pane.rows) > 20)

    play_in(tmp_path, read_job, play)


def test_a_name_that_fits_no_log_is_told_and_stays_typed(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.prompt.load_text("/merge node-77 [b]")
        await pilot.press("enter")
        await until(pilot, lambda: "no log is of" in notices(pilot))
        assert place.prompt.text == "/merge node-77 [b]"
        await merge(pilot, place, "node-01 rank 5")

    play_in(tmp_path, read_job, play)


def test_hostile_names_and_lines_are_drawn_as_they_stand(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    for number, text in enumerate(EVERY):
        node = folder / f"n[b]{number}"
        node.mkdir(parents=True)
        line = text.replace("\n", " ").encode("utf-8", "surrogatepass")
        (node / "rank-[red]0.log").write_bytes(
            f"{stamp(number)} begin\n{stamp(number)} ".encode() + line + b"\n" + line + b"\n"
        )
    seen = examine([str(folder)], Options())

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await merge(pilot, place, "all")
        for key in ("g", "w", "w", "right", "pagedown", "f", "escape", "G"):
            await pilot.press(key)
            assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))

    play_in(tmp_path, (case_of(seen, seconds=1.0), seen), play)


def test_the_skew_that_the_diagnosis_found_moves_the_lines(tmp_path: Path) -> None:
    for rank in range(4):
        rows = [f"{stamp(n + (7.0 if rank == 2 else 0.0))} Step: {n}/90 | loss: 2.0" for n in range(60)]
        (tmp_path / f"rank-{rank}.log").write_text("\n".join(rows) + "\n")
    seen = examine([str(tmp_path)], Options())
    assert seen.reading.scan.skew != Skew()

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await merge(pilot, place, "all")
        await pilot.press("g")
        await until(pilot, lambda: screen.pane.chosen and "Step: 0/" in screen.pane.chosen.text)
        steps = [row.line.text.partition("Step: ")[2][:2] for row in screen.pane.rows[:8]]
        assert steps == ["0/"] * 4 + ["1/"] * 4
        await pilot.press("down", "down")
        await until(pilot, lambda: "-7.0 s" in str(head(pilot)))

    play_in(tmp_path / "data", (case_of(seen, seconds=1.0), seen), play)
