"""Follow mode of the log viewer: what arrives is shown, counted and searched; files that are replaced, cut or gone."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from assistant.case.models import Case
from assistant.pipeline import Examination
from assistant.tui.logs.screen import LogScreen
from assistant.tui.workplace import Workplace
from tests.tui.stage import TestWorkshop, text_of, until
from tests.tui.test_tui_log_viewer import cited, lines, search, view, viewer

Job = tuple[Case, Examination]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def said(pilot: Pilot[Any]) -> str:
    return "\n".join(one.message for one in pilot.app._notifications)


async def following(pilot: Pilot[Any], place: Workplace) -> LogScreen:
    screen = await viewer(pilot, place, "E1")
    await pilot.press("F")
    await until(pilot, lambda: "following" in text_of(pilot.app))
    return screen


def last_of(screen: LogScreen) -> str:
    return screen.pane.rows[-1].text


def test_what_arrives_is_shown_counted_and_searched(read_job: Job, tmp_path: Path) -> None:
    data, log = lines(3_000), tmp_path / "big.log"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await following(pilot, place)
        assert last_of(screen) == "step 3000 fine"
        append(log, b"a line whose end has not")
        await until(pilot, lambda: last_of(screen) == "a line whose end has not")
        append(log, b" come yet\nneedle\nand more\n")
        await until(pilot, lambda: last_of(screen) == "and more")
        await until(pilot, lambda: "line 3,003 of 3,003" in text_of(pilot.app))
        assert "a line whose end has not come yet" in text_of(pilot.app)
        await search(pilot, "needle")
        await until(pilot, lambda: "1 found" in text_of(pilot.app))
        append(log, b"a needle again\n")
        await until(pilot, lambda: "2 found" in text_of(pilot.app))
        await pilot.press("n", "n")
        await until(pilot, lambda: screen.pane.chosen and screen.pane.chosen.text == "a needle again")

    view(tmp_path, cited(read_job, data, 5), data, play)


@pytest.mark.parametrize("key", ["up", "pageup", "home"])
def test_going_up_stops_following(read_job: Job, tmp_path: Path, key: str) -> None:
    data, log = lines(500), tmp_path / "big.log"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await following(pilot, place)
        await pilot.press(key)
        await until(pilot, lambda: "following" not in text_of(pilot.app))
        here = screen.pane.here
        append(log, b"later\n")
        await until(pilot, lambda: "of 501" in text_of(pilot.app))
        assert screen.pane.here == here
        await pilot.press("F")
        await until(pilot, lambda: last_of(screen) == "later")

    view(tmp_path, cited(read_job, data, 5), data, play)


def test_following_what_a_search_finds(read_job: Job, tmp_path: Path) -> None:
    data, log = lines(500, n20=b"needle 1"), tmp_path / "big.log"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "E1")
        await search(pilot, "needle")
        await until(pilot, lambda: "1 found" in text_of(pilot.app))
        await pilot.press("ampersand", "F")
        append(log, b"other\nneedle 2\nother\n")
        await until(pilot, lambda: [row.text for row in screen.pane.rows] == ["needle 1", "needle 2"])
        assert "following" in text_of(pilot.app)

    view(tmp_path, cited(read_job, data, 5), data, play)


def test_the_end_is_in_sight_with_long_lines_wrapped(read_job: Job, tmp_path: Path) -> None:
    data, log = b"".join(b"%d %s\n" % (n, b"x" * 700) for n in range(50)), tmp_path / "big.log"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "E1")
        await pilot.press("w", "F")
        append(log, b"the end\n")
        await until(pilot, lambda: last_of(screen) == "the end")
        append(log, b"y" * 20_000)
        await until(pilot, lambda: screen.pane.chosen and screen.pane.chosen.text.startswith("y"))

    view(tmp_path, cited(read_job, data, 5), data, play)


def test_a_rotated_file_is_told_and_the_new_one_followed_with_one_key(read_job: Job, tmp_path: Path) -> None:
    data, log = lines(500), tmp_path / "big.log"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await following(pilot, place)
        os.rename(log, tmp_path / "big.log.1")
        await until(pilot, lambda: "was removed" in text_of(pilot.app))
        await pilot.press("R")
        assert last_of(screen) == "step 500 fine"
        log.write_bytes(b"new 1\nnew 2\n")
        await until(pilot, lambda: "rotated" in text_of(pilot.app))
        assert last_of(screen) == "step 500 fine"
        await pilot.press("R")
        await until(pilot, lambda: last_of(screen) == "new 2")
        append(log, b"new 3\n")
        await until(pilot, lambda: last_of(screen) == "new 3" and "line 3 of 3" in text_of(pilot.app))
        assert "⚠" not in text_of(pilot.app)
        await pilot.press("m")
        assert [(one.id, one.line, one.text) for one in place.logs.marked] == [("S1", 3, "new 3")]

    view(tmp_path, cited(read_job, data, 3), data, play)


@pytest.mark.parametrize("anew", [b"short\n", b"another begin\n" * 5_000])
def test_a_file_that_is_written_anew_keeps_what_was_on_the_screen(read_job: Job, tmp_path: Path, anew: bytes) -> None:
    data, log = lines(500), tmp_path / "big.log"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "E1")
        await pilot.press("end")
        log.write_bytes(anew)
        await until(pilot, lambda: "written anew" in text_of(pilot.app))
        assert last_of(screen) == "step 500 fine"
        append(log, b"more\n" * 1_000)
        await pilot.press("R", "F")
        await until(pilot, lambda: last_of(screen) == "more")
        assert "⚠" not in text_of(pilot.app)

    view(tmp_path, cited(read_job, data, 5), data, play)


def test_moving_in_a_file_that_was_cut_keeps_its_lines(read_job: Job, tmp_path: Path) -> None:
    data, log = lines(5_000), tmp_path / "big.log"

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        screen = await viewer(pilot, place, "E1")
        os.truncate(log, 0)
        for key in ("down", "up", "pagedown", "w", "right", "end", "F", "pageup", "home", "e", "n", "escape", "enter"):
            await pilot.press(key)
        await until(pilot, lambda: pilot.app.screen is not screen or "written anew" in text_of(pilot.app))

    view(tmp_path, cited(read_job, data, 4_000), data, play)


def test_a_packed_file_says_that_it_cannot_be_followed(read_job: Job, tmp_path: Path) -> None:
    data = lines(100)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await viewer(pilot, place, "E1")
        await pilot.press("F")
        await until(pilot, lambda: "cannot be followed" in said(pilot))
        (tmp_path / "big.log.gz").unlink()
        await until(pilot, lambda: "was removed" in text_of(pilot.app))
        await pilot.press("R")
        await until(pilot, lambda: "cannot be opened" in said(pilot))

    view(tmp_path, cited(read_job, data, 5, "big.log.gz"), gzip.compress(data), play, "big.log.gz")
