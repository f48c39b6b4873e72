"""The log viewer on the screen: opening a place, moving, searching, filtering, marking, and files that change."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from assistant.case.models import Case, Evidence
from assistant.intake.discover import discover
from assistant.intake.models import Source
from assistant.pipeline import Examination
from assistant.tui.app import RootrankApp
from assistant.tui.fulltext import FullText
from assistant.tui.logs.desk import marked_in
from assistant.tui.logs.screen import LogScreen
from assistant.tui.ports import Table
from assistant.tui.workplace import Workplace
from tests.tui.conftest import table_of
from tests.tui.outside import EVERY
from tests.tui.stage import TestWorkshop, opened, text_of, until

Play = Callable[[Pilot[Any], Workplace, TestWorkshop], Awaitable[None]]


class LogWorkshop(TestWorkshop):
    """Has one log, whatever is asked for."""

    log: Source

    def source(self, table: Table, name: str) -> Source:
        return self.log


def view(folder: Path, table: Table, data: bytes, play: Play, name: str = "big.log") -> LogWorkshop:
    (folder / name).write_bytes(data)
    workshop = LogWorkshop(folder / "data", lambda hook: table)
    (workshop.log,) = discover([str(folder / name)]).sources

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=(100, 30)) as pilot:
            await play(pilot, await opened(pilot), workshop)

    asyncio.run(go())
    return workshop


async def viewer(pilot: Pilot[Any], place: Workplace, name: str) -> LogScreen:
    await until(pilot, lambda: place.talk.dialogue is not None)
    place.open_place(name)
    await until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))
    screen = pilot.app.screen
    assert isinstance(screen, LogScreen)
    await until(pilot, lambda: screen.pane.rows and not screen.pane.waiting)
    return screen


async def search(pilot: Pilot[Any], pattern: str) -> None:
    await pilot.press("slash")
    pilot.app.screen.query_one("#log-search", Input).value = pattern
    await pilot.press("enter")


def lines(count: int, **special: bytes) -> bytes:
    rows = [special.get(f"n{n}", b"step %d fine" % n) for n in range(1, count + 1)]
    return b"\n".join(rows) + b"\n"


def cited(read_job: tuple[Case, Examination], data: bytes, line: int, name: str = "big.log") -> Table:
    """A case that cites one line of the log."""
    rows = data.split(b"\n")
    offset = len(b"\n".join(rows[: line - 1])) + 1
    item = Evidence(id="E1", source=name, line=line, offset=offset, text=rows[line - 1].decode("utf-8", "replace"))
    return table_of(read_job[0].model_copy(update={"evidence": (item,)}), None)


@pytest.mark.parametrize("packed", [False, True])
def test_a_cited_place_opens_with_its_neighbours_and_numbers(
    read_job: tuple[Case, Examination], tmp_path: Path, packed: bool
) -> None:
    data = lines(60_000, n50000=b"ERROR here [bold]it[/bold] is")
    table = cited(read_job, data, 50_000, "big.log.gz" if packed else "big.log")

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "E1")
        shown = text_of(pilot.app)
        assert "ERROR here [bold]it[/bold] is" in shown
        assert "step 49999 fine" in shown
        assert "step 50001 fine" in shown
        await until(pilot, lambda: "line 50,000 of 60,000" in text_of(pilot.app))
        await until(pilot, lambda: "50000●" in text_of(pilot.app))
        await pilot.press("down")
        assert screen.pane.chosen
        assert screen.pane.chosen.text == "step 50001 fine"
        await pilot.press("pagedown", "pageup", "up")
        await pilot.press("c")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is place)

    view(tmp_path, table, gzip.compress(data) if packed else data, play, "big.log.gz" if packed else "big.log")


def test_searching_counts_goes_on_back_and_filters(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    data = lines(30_000, n100=b"needle one", n20000=b"needle [two]", n29000=b"Traceback: odd")

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "E1")
        await search(pilot, "needle")
        await until(pilot, lambda: "2 found" in text_of(pilot.app))
        await until(pilot, lambda: screen.pane.chosen and screen.pane.chosen.text == "needle one")
        await pilot.press("n")
        await until(pilot, lambda: screen.pane.chosen and screen.pane.chosen.text == "needle [two]")
        await pilot.press("N")
        await until(pilot, lambda: screen.pane.chosen and screen.pane.chosen.text == "needle one")
        await pilot.press("ampersand")
        await until(pilot, lambda: "2 lines pass" in text_of(pilot.app) and "1✓/needle/" in text_of(pilot.app))
        assert [row.text for row in screen.pane.rows] == ["needle one", "needle [two]"]
        await pilot.press("ampersand", "e")
        await until(pilot, lambda: screen.pane.chosen and screen.pane.chosen.text == "Traceback: odd")
        await search(pilot, "(")
        assert screen.query_one("#log-search").display
        await pilot.press("escape")
        assert pilot.app.screen is screen

    view(tmp_path, cited(read_job, data, 1), data, play)


def test_a_marked_line_becomes_evidence_that_answers_may_cite(
    read_job: tuple[Case, Examination], tmp_path: Path
) -> None:
    data = lines(300, n150=b"something odd")
    table = cited(read_job, data, 1)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "big.log:150")
        await until(pilot, lambda: screen.pane.chosen and screen.pane.chosen.text == "something odd")
        await pilot.press("m", "m")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is place)
        marked = table.calls.desk.evidence("S1")
        assert marked is not None
        assert (marked.line, marked.text) == (150, "something odd")
        assert "S1" in text_of(pilot.app)
        assert len(place.logs.marked) == 1
        await pilot.press("f2")
        await until(pilot, lambda: "bookmark" in text_of(pilot.app))

    workshop = view(tmp_path, table, data, play)
    session = workshop.sessions.load("last")
    assert [item.id for item in marked_in(session)] == ["S1"]


def test_the_full_text_of_a_long_line_opens(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    data = lines(20, n5=b"long " + b"x" * 1_000_000 + b" end")
    table = cited(read_job, data, 5)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "E1")
        await pilot.press("w", "w", "right", "left")
        assert screen.pane.chosen
        assert screen.pane.chosen.cut > 900_000
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, FullText) and "x" * 60 in text_of(pilot.app))

    view(tmp_path, table, data, play)


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_hostile_lines_are_drawn_as_they_stand(read_job: tuple[Case, Examination], tmp_path: Path, number: int) -> None:
    data = lines(20, n5=EVERY[number].replace("\n", " ").encode("utf-8", "surrogatepass"))
    table = cited(read_job, data, 5)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await viewer(pilot, place, "E1")
        for key in ("w", "w", "right"):
            await pilot.press(key)
            assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))

    view(tmp_path, table, data, play)


def test_a_file_that_shrinks_or_goes_says_so_in_place(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    data = lines(5_000)
    table = cited(read_job, data, 4_000)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await viewer(pilot, place, "E1")
        (tmp_path / "big.log").write_bytes(b"short\n")
        await until(pilot, lambda: "shortened" in text_of(pilot.app))
        await pilot.press("down", "pagedown", "g")
        await until(pilot, lambda: "short" in text_of(pilot.app))
        (tmp_path / "big.log").unlink()
        await until(pilot, lambda: "⚠" in text_of(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is place)
        place.open_place("E1")
        await until(pilot, lambda: isinstance(pilot.app.screen, FullText) and "step 4000 fine" in text_of(pilot.app))

    view(tmp_path, table, data, play)


def test_empty_files_and_unknown_places_do_no_harm(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    table = cited(read_job, lines(9), 1)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.open_place("nothing")
        place.open_place("E1")
        await until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))
        for key in ("down", "up", "pagedown", "end", "home", "enter", "m", "n", "escape", "e", "c", "v"):
            await pilot.press(key)
        await pilot.press("escape")

    view(tmp_path, table, b"\n", play)


@pytest.mark.parametrize("keys", [("w",), ("slash",), ("w", "w", "slash", "escape")])
def test_the_chosen_line_stays_when_lines_are_laid_out_anew(
    read_job: tuple[Case, Examination], tmp_path: Path, keys: tuple[str, ...]
) -> None:
    data = b"\n".join(b"%d " % n + b"x" * 300 for n in range(1, 101)) + b"\n"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "E1")
        await pilot.press(*keys)
        await pilot.pause()
        assert screen.pane.chosen
        assert screen.pane.chosen.text.startswith("100 ")
        assert "100●" in text_of(pilot.app)

    view(tmp_path, cited(read_job, data, 100), data, play)


def test_a_line_that_goes_on_beyond_the_edge_shows_it(read_job: tuple[Case, Examination], tmp_path: Path) -> None:
    data = b"short\n" + b"y" * 300 + b"\n"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await viewer(pilot, place, "E1")
        short, long = text_of(pilot.app).split("\n")[1:3]
        assert short.endswith("short")
        assert long.endswith("y…")
        await pilot.press("right")
        await pilot.pause()
        assert "…y" in text_of(pilot.app)

    view(tmp_path, cited(read_job, data, 2), data, play)
