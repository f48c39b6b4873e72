"""Draws the pictures of README and docs from the bundled example: `python -m evals.pictures`."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from textual.pilot import Pilot

from assistant.cli.demo import examples
from assistant.cli.settings import configured
from assistant.cli.workshop import CommandWorkshop
from assistant.pipeline import diagnose
from assistant.report.terminal import render
from assistant.tui.app import RootrankApp
from assistant.tui.logs.screen import LogScreen
from assistant.tui.workplace import Workplace
from evals.chat import until

Steps = Callable[[Pilot[Any], Workplace], Awaitable[None]]
WIDTH, HEIGHT = 100, 30
SCREEN = (132, 38)
"""Columns and rows of a picture of the workplace."""
DOCS = Path(__file__).resolve().parent.parent / "docs"
QUESTION = "Why rank 5 and not rank 4?"


def verdict(example: Path) -> str:
    """What `rootrank demo` prints."""
    case = diagnose([str(example)])
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor")
    for line in render(case, WIDTH, HEIGHT):
        console.print(line, soft_wrap=True)
    return console.export_svg(title="rootrank demo", unique_id="rootrank")


async def asked(pilot: Pilot[Any], place: Workplace) -> None:
    """The case beside a conversation."""
    place.prompt.load_text(QUESTION)
    await pilot.press("enter")
    await until(lambda: place.talk.usage is not None and not place.talk.busy)
    await until(lambda: "Next:" in place.talk.transcript.text())
    await pilot.pause()
    place.talk.transcript.scroll_home(animate=False)
    await pilot.pause()


async def opened_log(pilot: Pilot[Any], place: Workplace) -> None:
    """A cited line in its log."""
    place.open_place("E1")
    await until(lambda: isinstance(pilot.app.screen, LogScreen) and pilot.app.screen.pane.rows)
    screen = pilot.app.screen
    assert isinstance(screen, LogScreen)
    await until(lambda: screen.book.count is not None and screen.book.count.done)
    screen.look()
    await pilot.pause()


async def workplace(example: Path, steps: Steps) -> str:
    """The workplace after some steps."""
    workshop = CommandWorkshop(configured(cases__save=("pictures", False)), (str(example),), (), "offline", None)
    app = RootrankApp(workshop)
    async with app.run_test(size=SCREEN) as pilot:
        await until(lambda: isinstance(app.screen, Workplace) and app.screen.talk.dialogue)
        place = app.screen
        assert isinstance(place, Workplace)
        place.prompt.cursor_blink = False
        await steps(pilot, place)
        picture = app.export_screenshot(title=f"rootrank chat {example.name}", simplify=True)
    workshop.close()
    return picture


def main() -> None:
    """Writes the pictures."""
    example = examples()["hanging-rank"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROOTRANK_DATA_DIR"] = folder
        drawn = {
            "demo": verdict(example),
            "chat": asyncio.run(workplace(example, asked)),
            "chat-log": asyncio.run(workplace(example, opened_log)),
        }
    for name, svg in drawn.items():
        (DOCS / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
