"""Copy mode shows plain text and leaves the mouse to the terminal; lines are copied; the mouse is given and taken."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.linux_inline_driver import LinuxInlineDriver
from textual.drivers.web_driver import WebDriver
from textual.pilot import Pilot

from assistant.case.models import Case
from assistant.pipeline import Examination
from assistant.tui import mouse
from assistant.tui.app import COPIED, RootrankApp
from assistant.tui.copy_screen import CopyScreen
from assistant.tui.ports import Table
from assistant.tui.views.nodes_screen import NodesScreen
from assistant.tui.workplace import Workplace
from tests.tui.stage import TestWorkshop, opened, text_of, until
from tests.tui.test_tui_log_viewer import cited, lines, view, viewer

Play = Callable[[Pilot[Any], Workplace, TestWorkshop], Awaitable[None]]


def perform(table: Table, folder: Path, play: Play, size: tuple[int, int] = (120, 40)) -> None:
    workshop = TestWorkshop(folder, lambda hook: table)

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=size) as pilot:
            await play(pilot, await opened(pilot), workshop)

    asyncio.run(go())


async def shown(pilot: Pilot[Any], words: str) -> list[str]:
    """The rows of copy mode, once they hold some words."""
    await until(pilot, lambda: isinstance(pilot.app.screen, CopyScreen) and words in text_of(pilot.app))
    return text_of(pilot.app).split("\n")


def test_each_part_is_shown_without_frames_and_copied(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.prompt.load_text("What failed?")
        await pilot.press("enter")
        await until(pilot, lambda: not place.talk.busy and "Next:" in place.talk.transcript.text())
        await pilot.press("f7")
        rows = await shown(pilot, "Conversation,")
        assert rows[0].startswith("Ask about this job.")
        assert "> What failed?" in rows
        assert not any(sign in "\n".join(rows) for sign in "│▊▎▔▁┃")
        await pilot.press("tab")
        rows = await shown(pilot, "Verdict,")
        assert rows[0].startswith("✗ FAILED  memory.gpu_oom")
        await pilot.press("tab")
        rows = await shown(pilot, "Suspects")
        assert rows[0].startswith("1.00 ") or rows[0].startswith("0.")
        await pilot.press("y", "w", "w", "shift+tab")
        assert "rank 5" in pilot.app.clipboard
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is place)
        assert place.prompt.has_focus

    perform(table, tmp_path, play)


def test_the_focused_list_comes_first_and_commands_do_it_too(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.pane.query_one("#evidence").focus()
        await pilot.press("f7")
        rows = await shown(pilot, "Evidence (")
        assert rows[0].startswith("E1")
        await pilot.press("escape")
        place.prompt.focus()
        place.prompt.load_text("/plain")
        await pilot.press("enter")
        await shown(pilot, "Conversation,")
        await pilot.press("escape")
        place.prompt.load_text("/mouse")
        await pilot.press("enter")
        await until(pilot, lambda: "mouse" in "".join(one.message for one in pilot.app._notifications))

    perform(table, tmp_path, play)


def test_a_table_keeps_its_columns(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, NodesScreen))
        await pilot.press("f7")
        rows = await shown(pilot, "Nodes,")
        assert rows[0].split("  ")[0] == "suspicion"
        assert any("node-02" in row and " 5 " in row for row in rows)

    perform(table, tmp_path, play)


def test_selected_lines_are_copied_whole_and_shown_without_numbers(
    read_job: tuple[Case, Examination], tmp_path: Path
) -> None:
    data = lines(300, n11=b"long " + b"x" * 30_000 + b" end", n12=b"odd \xff [bold]")

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await viewer(pilot, place, "E1")
        await pilot.press("y")
        assert pilot.app.clipboard == "step 10 fine"
        await pilot.press("s", "down", "down", "y")
        copied = pilot.app.clipboard.split("\n")
        assert copied[0] == "step 10 fine"
        assert copied[1] == "long " + "x" * 30_000 + " end"
        assert copied[2] == "odd � [bold]"
        assert "3 lines selected" in text_of(pilot.app)
        await pilot.press("f7")
        rows = await shown(pilot, "Log lines, 3 lines")
        assert rows[0] == "step 10 fine"
        await pilot.press("escape", "escape")
        await until(pilot, lambda: "selected" not in text_of(pilot.app))
        await pilot.press("f7")
        rows = await shown(pilot, "Log lines,")
        assert rows[0] == "step 1 fine"

    view(tmp_path, cited(read_job, data, 10), data, play)


def test_what_is_copied_is_bounded_and_never_broken(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        pilot.app.copy_to_clipboard("\udcff" + "x" * 1_000_000)
        assert pilot.app.clipboard == "?" + "x" * (COPIED - 1)

    perform(table, tmp_path, play)


def test_an_empty_screen_has_nothing_to_copy(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.app.push_screen(CopyScreen([], 3))
        await shown(pilot, "There is no text in sight.")
        await pilot.press("y", "tab", "w", "end", "pagedown", "f7", "f6", "escape")
        await until(pilot, lambda: pilot.app.screen is place)

    perform(table, tmp_path, play)


class Recorder(LinuxDriver):
    """A driver that writes nowhere."""

    def __init__(self) -> None:
        self._mouse = True
        self.written: list[str] = []

    def write(self, data: str) -> None:
        self.written.append(data)

    def flush(self) -> None:
        pass


def test_the_mouse_is_given_and_taken_as_the_installed_library_does_it() -> None:
    app: App[object] = App()
    driver = app._driver = Recorder()
    assert mouse.taken(app)
    mouse.take(app, False)
    assert "\x1b[?1000l" in driver.written
    assert "\x1b[?1006l" in driver.written
    driver.written.clear()
    # Coming back from a suspension goes through the same method; the flag keeps it silent.
    driver._enable_mouse_support()
    mouse.take(app, False)
    assert not driver.written
    mouse.take(app, True)
    assert "\x1b[?1000h" in driver.written
    assert mouse.taken(app)


def test_every_driver_with_a_mouse_has_the_members_that_are_used() -> None:
    for driver in (LinuxDriver, LinuxInlineDriver, WebDriver):
        assert all(callable(getattr(driver, name, None)) for name in mouse.MEMBERS)


def test_a_driver_without_a_mouse_is_left_alone(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        mouse.take(pilot.app, True)
        assert not mouse.taken(pilot.app)

    perform(table, tmp_path, play)
