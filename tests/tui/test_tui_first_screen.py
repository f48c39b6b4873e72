"""The first screen tells the verdict without a key being pressed, and says what it hides."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.case.models import Case, Evidence
from assistant.case.text import clean
from assistant.errors import NothingFound
from assistant.intake.models import Progress, ProgressHook
from assistant.pipeline import Examination, Options, case_of, examine
from assistant.tui.app import RootrankApp
from assistant.tui.ports import Table
from assistant.tui.reading_screen import ReadingScreen
from assistant.tui.views.heat import heat
from tests.tui.conftest import table_of
from tests.tui.outside import EVERY, LONG
from tests.tui.stage import TestWorkshop, opened, text_of, until


def on(table: Table) -> Callable[[ProgressHook], Table]:
    return lambda hook: table


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_verdict_suspect_map_and_evidence_stand_there_at_once(
    table: Table, tmp_path: Path, size: tuple[int, int]
) -> None:
    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, on(table)))
        async with app.run_test(size=size) as pilot:
            await opened(pilot)
            shown = text_of(app)
            assert "FAILED" in shown
            assert "memory.gpu_oom" in shown
            assert "confidence" in shown
            assert "Do now" in shown
            assert "rank 5" in shown
            assert "node-02" in shown
            assert "E1" in shown

    asyncio.run(play())


def test_a_small_window_says_what_it_hides(table: Table, tmp_path: Path) -> None:
    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, on(table)))
        async with app.run_test(size=(80, 16)) as pilot:
            await opened(pilot)
            await until(pilot, lambda: "hidden:" in text_of(app))

    asyncio.run(play())


def test_reading_shows_how_far_it_is_and_what_was_found_first(table: Table, tmp_path: Path) -> None:
    go_on = threading.Event()

    def slow(hook: ProgressHook) -> Table:
        hook(Progress(5_000_000, 20_000_000, 3, "rank 5: [red]CUDA out of memory[/]"))
        go_on.wait(30)
        return table

    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, slow))
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "5.0 MB of 20.0 MB" in text_of(app))
            shown = text_of(app)
            assert "3 files" in shown
            assert "left" in shown
            assert "[red]CUDA out of memory[/]" in shown
            go_on.set()
            await opened(pilot)

    asyncio.run(play())


def test_escape_stops_the_reading(table: Table, tmp_path: Path) -> None:
    def endless(hook: ProgressHook) -> Table:
        wait = threading.Event()
        while True:
            hook(Progress(1, None, 1))
            wait.wait(0.01)

    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, endless))
        async with app.run_test() as pilot:
            await until(pilot, lambda: isinstance(app.screen, ReadingScreen))
            await pilot.press("escape")
            await until(pilot, lambda: not app.is_running)
        assert app.return_value is None

    asyncio.run(play())


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_nobody_waits_for_a_reader_that_does_not_hear(table: Table, tmp_path: Path, key: str) -> None:
    go_on = threading.Event()

    def deaf(hook: ProgressHook) -> Table:
        go_on.wait(30)
        return table

    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, deaf))
        async with app.run_test() as pilot:
            await until(pilot, lambda: "waiting for the first lines" in text_of(app))
            await pilot.press(key)
            await until(pilot, lambda: not app.is_running)
        assert not go_on.is_set()
        go_on.set()

    asyncio.run(play())


def test_a_job_in_which_nothing_failed_shows_no_leftovers(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for rank in range(2):
        lines = [f"2031-04-02 10:00:{step:02d} [INFO] train: Step: {step}/30 | loss: 2.0" for step in range(1, 31)]
        (logs / f"rank-{rank}.log").write_text("\n".join([*lines, "2031-04-02 10:00:31 training finished\n"]))
    seen = examine([str(logs)], Options())

    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, on(table_of(case_of(seen, seconds=0.1), seen))))
        async with app.run_test(size=(80, 24)) as pilot:
            await opened(pilot)
            shown = text_of(app)
            assert "HEALTHY" in shown
            assert "nobody is blamed" in shown
            assert "nothing points here" not in shown
            assert "no failure event was found" in shown

    asyncio.run(play())


def test_what_cannot_be_read_ends_with_its_error(tmp_path: Path) -> None:
    def refuse(hook: ProgressHook) -> Table:
        raise NothingFound("no log", hint="look elsewhere")

    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, refuse))
        async with app.run_test() as pilot:
            await until(pilot, lambda: not app.is_running)
        assert isinstance(app.return_value, NothingFound)

    asyncio.run(play())


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_outside_text_is_drawn_as_it_stands_everywhere(
    read_job: tuple[Case, Examination], tmp_path: Path, number: int
) -> None:
    text = EVERY[number]
    case = soaked(read_job[0], text)

    async def play() -> None:
        app = RootrankApp(TestWorkshop(tmp_path, on(table_of(case, None))))
        async with app.run_test(size=(160, 60)) as pilot:
            await opened(pilot)
            shown = text_of(app)
            assert all(line.isprintable() for line in shown.splitlines())
            if text != LONG:
                assert clean(text).split()[0] in shown

    asyncio.run(play())


def soaked(case: Case, text: str) -> Case:
    """A case in which everything that comes from outside is one hostile text."""
    item = Evidence(id="E1", source=text[:300], line=1, offset=0, text=text, node=text[:80], rank=1, time=None)
    who = case.candidates[0].model_copy(update={"node": text[:80], "reasons": (text,), "evidence": ("E1",)})
    step = case.verdict.action.steps[0].model_copy(update={"command": text, "text": text})
    action = case.verdict.action.model_copy(update={"text": text, "steps": (step,)})
    verdict = case.verdict.model_copy(
        update={"statement": text, "action": action, "missing": (text,), "evidence": ("E1",), "why": (text,)}
    )
    job = case.job.model_copy(update={"framework": text, "id": text})
    return case.model_copy(
        update={"evidence": (item,), "suspects": (who,), "candidates": (who,), "verdict": verdict, "job": job}
    )


def test_the_map_counts_events_by_node_and_time(read_job: tuple[Case, Examination]) -> None:
    case, seen = read_job
    found = heat(case, seen, 10)
    assert {name for name, _ in found.rows} == {"node-00", "node-01", "node-02", "node-03"}
    assert found.most >= 1
    assert found.end > found.start


def test_without_a_readable_time_the_map_counts_what_it_cannot_place(read_job: tuple[Case, Examination]) -> None:
    case = read_job[0]
    untimed = tuple(item.model_copy(update={"time": None}) for item in case.evidence)
    found = heat(case.model_copy(update={"evidence": untimed}), None, 10)
    assert found.untimed == len(untimed)
    assert found.most == 0
