"""A handful of screens as pictures: a changed layout is seen, and looked at, before it is accepted.

`pytest tests/tui/test_tui_pictures.py --snapshot-update` takes them anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from assistant.answers.models import AnswerEvent, Hypothesis, Standing, Suggested, ToolFinished, ToolStarted, Usage
from assistant.tools.models import ResultStatus
from assistant.tui.app import RootrankApp
from assistant.tui.logs.screen import LogScreen
from assistant.tui.ports import Table
from assistant.tui.workplace import Workplace
from tests.tui.stage import TestWorkshop, opened, text_of, until
from tests.tui.talkers import Scripted, said

Snap = Callable[..., bool]
EVENTS: list[AnswerEvent] = [
    ToolStarted(call="T1", tool="rank_status", arguments={"rank": 5}),
    ToolFinished(call="T1", tool="rank_status", status=ResultStatus.FOUND, text="Blamed, score 1.00", seconds=0.02),
    Hypothesis(id="H1", cause="memory.gpu_oom", statement="Rank 5 ran out of memory.", state="supported",
               supporting=("E1",)),
    said(1, "**Rank 5** ran out of memory [E1]. ", Standing.SUPPORTED, "E1"),
    said(2, "Rank 3 had the same trouble. ", Standing.UNSUPPORTED),
    said(3, "To be done:\n\n- lower the batch size\n- or `expandable_segments`\n"),
    Suggested(questions=("What should I do now?", "Could it be something else?")),
    Usage(model="scripted", input_tokens=3_200, output_tokens=180, cost=0.0123, context_share=0.21, calls=1),
]  # fmt: skip


@pytest.fixture
def still(table: Table) -> Table:
    """The case without what differs from run to run."""
    timing = table.case.timing.model_copy(update={"seconds": 1.5})
    table.case = table.case.model_copy(update={"timing": timing})
    return table


def shot(
    snap: Snap, table: Table, folder: Path, size: tuple[int, int], before: Callable[[Pilot[Any]], Awaitable[None]]
) -> None:
    workshop = TestWorkshop(folder, lambda hook: table, answerer=Scripted(EVENTS), keep=False)
    app = RootrankApp(workshop)

    async def prepare(pilot: Pilot[Any]) -> None:
        place = await opened(pilot)
        place.prompt.cursor_blink = False
        await until(pilot, lambda: "scripted" in text_of(pilot.app))
        await before(pilot)
        await pilot.pause()

    assert snap(app, terminal_size=size, run_before=prepare)


async def nothing(pilot: Pilot[Any]) -> None:
    """The screen as it opens."""


async def asked(pilot: Pilot[Any]) -> None:
    place = pilot.app.screen
    assert isinstance(place, Workplace)
    place.prompt.load_text("Why?")
    await pilot.press("enter")
    await until(pilot, lambda: "3,380 tokens" in text_of(pilot.app) and "Could it be" in text_of(pilot.app))


async def log(pilot: Pilot[Any]) -> None:
    place = pilot.app.screen
    assert isinstance(place, Workplace)
    place.open_place("E1")
    await until(pilot, lambda: isinstance(pilot.app.screen, LogScreen) and " of " in text_of(pilot.app).split("\n")[0])


async def table_of_nodes(pilot: Pilot[Any]) -> None:
    await pilot.press("f3")
    await until(pilot, lambda: "ranks by suspicion" in text_of(pilot.app))


def test_first_screen_small(snap_compare: Snap, still: Table, tmp_path: Path) -> None:
    shot(snap_compare, still, tmp_path, (80, 24), nothing)


def test_first_screen(snap_compare: Snap, still: Table, tmp_path: Path) -> None:
    shot(snap_compare, still, tmp_path, (100, 30), nothing)


def test_conversation(snap_compare: Snap, still: Table, tmp_path: Path) -> None:
    shot(snap_compare, still, tmp_path, (100, 30), asked)


def test_both_side_by_side(snap_compare: Snap, still: Table, tmp_path: Path) -> None:
    shot(snap_compare, still, tmp_path, (140, 40), asked)


def test_log_viewer(snap_compare: Snap, still: Table, tmp_path: Path) -> None:
    shot(snap_compare, still, tmp_path, (100, 30), log)


def test_nodes(snap_compare: Snap, still: Table, tmp_path: Path) -> None:
    shot(snap_compare, still, tmp_path, (80, 24), table_of_nodes)
