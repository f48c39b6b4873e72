"""Past incidents beside the case, pages of knowledge, healthy runs in tables."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from assistant.baselines.statistics import from_scans
from assistant.case.models import Case
from assistant.incidents.confirm import Ruling, incident_of
from assistant.incidents.models import Incident
from assistant.patterns.cross_job import compare
from assistant.pipeline import Examination, Options, case_of, examine
from assistant.retrieval.models import Answer, Hit, Passage, Query
from assistant.tools.past import alike
from assistant.tui.app import RootrankApp
from assistant.tui.logs.screen import LogScreen
from assistant.tui.ports import Table
from assistant.tui.views.beside_screen import BesideScreen
from assistant.tui.views.compare_screen import CompareScreen
from assistant.tui.views.differences import DifferenceTable
from assistant.tui.views.knowledge_screen import KnowledgeScreen
from assistant.tui.views.page_screen import PageScreen
from assistant.tui.views.similar_screen import SimilarScreen
from assistant.tui.workplace import Workplace
from tests.tui.conftest import table_of, write_job
from tests.tui.outside import EVERY
from tests.tui.stage import TestWorkshop, opened, text_of, until

Play = Callable[[Pilot[Any], Workplace], Awaitable[None]]


class Remembering(TestWorkshop):
    """A workshop with incidents of its own."""

    __test__ = False
    kept: tuple[Incident, ...] = ()

    def incidents(self) -> tuple[Incident, ...]:
        return self.kept


def perform(
    table: Table, folder: Path, play: Play, *, size: tuple[int, int] = (130, 40), kept: tuple[Incident, ...] = ()
) -> None:
    workshop = Remembering(folder, lambda hook: table)
    workshop.kept = kept

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=size) as pilot:
            place = await opened(pilot)
            await until(pilot, lambda: place.talk.dialogue is not None)
            await play(pilot, place)

    asyncio.run(go())


async def command(pilot: Pilot[Any], place: Workplace, text: str) -> None:
    place.prompt.focus()
    place.prompt.load_text(text)
    await pilot.press("enter")


def earlier(case: Case) -> Incident:
    before = case.model_copy(update={"case": "c-0000000000"})
    return incident_of(before, Ruling(fix="[bold]a smaller batch[/bold]", by="ada", note="the batch grew"))


OTHER = Incident(id="far", title="A cable", cause="network.link", symptom="x", root_cause="x")


async def beside(pilot: Pilot[Any], place: Workplace) -> None:
    await command(pilot, place, "/similar")
    await until(pilot, lambda: isinstance(pilot.app.screen, SimilarScreen) and pilot.app.screen.found)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, BesideScreen))
    await pilot.pause()


def test_a_past_failure_is_listed_with_why_and_opens_beside_the_case(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await command(pilot, place, "/similar")
        await until(pilot, lambda: isinstance(pilot.app.screen, SimilarScreen) and pilot.app.screen.found)
        await until(pilot, lambda: "1 past failure" in text_of(pilot.app))
        shown = text_of(pilot.app)
        assert "same cause: memory.gpu_oom" in shown
        assert "same node: node-02" in shown
        assert "A cable" not in shown
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, BesideScreen))
        await until(pilot, lambda: "What fixed it" in text_of(pilot.app))
        shown = text_of(pilot.app)
        assert "= cause" in shown
        assert "[bold]a smaller batch[/bold]" in shown
        assert "ada)" in shown
        assert "E1 " in text_of(pilot.app)
        await pilot.press("f2", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))
        await pilot.press("escape", "escape", "escape")
        await until(pilot, lambda: pilot.app.screen is place)

    perform(table, tmp_path, play, kept=(OTHER, earlier(table.case)))


def test_in_a_narrow_window_one_side_follows_the_other(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await beside(pilot, place)
        await until(pilot, lambda: "hidden: the present case (F2)" in text_of(pilot.app))
        assert "What fixed it" in text_of(pilot.app)
        assert "FAILED" not in text_of(pilot.app)
        await pilot.press("f2")
        await until(pilot, lambda: "hidden: the past incident (F2)" in text_of(pilot.app))
        assert "FAILED" in text_of(pilot.app)
        assert "What fixed it" not in text_of(pilot.app)

    perform(table, tmp_path, play, size=(80, 24), kept=(earlier(table.case),))


def test_where_nothing_is_alike_that_is_said(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await command(pilot, place, "/similar")
        await until(pilot, lambda: "no past failure is like this one" in text_of(pilot.app))
        await until(pilot, lambda: "not set up here" in text_of(pilot.app))
        await pilot.press("enter", "j", "k", "escape")
        await until(pilot, lambda: pilot.app.screen is place)

    perform(table, tmp_path, play, kept=(OTHER,))


def test_what_the_search_finds_follows_what_matched(table: Table) -> None:
    kept = [earlier(table.case), OTHER]
    found = alike(table.calls.desk, kept)
    assert [one.key for one in found] == ["incident:i-0000000000"]
    assert found[0].likeness > 0.9


def searching(table: Table, *passages: Passage) -> Table:
    hits = tuple(Hit(passage=one, score=1.0, reasons=("words #1",)) for one in passages)

    def search(query: Query) -> Answer:
        return Answer(query=query.text, fits=bool(hits), hits=hits, note="" if hits else "no such words")

    table.calls.desk.search = search
    return table


def test_a_page_of_knowledge_opens_from_a_hit_with_its_source(table: Table, tmp_path: Path) -> None:
    searching(table, Passage(document="nvidia-xid", kind="doc", title="Xid", text="facts"))

    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await command(pilot, place, "/knowledge CUDA out of memory")
        await until(pilot, lambda: isinstance(pilot.app.screen, KnowledgeScreen) and len(pilot.app.screen.hits) == 2)
        assert "its signature" in text_of(pilot.app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PageScreen))
        await pilot.pause()
        shown = text_of(pilot.app)
        assert "What it does not prove" in shown
        assert "source: https://" in shown
        await pilot.press("c")
        assert pilot.app.clipboard.startswith("https://")
        await pilot.press("escape", "slash")
        await until(pilot, lambda: pilot.app.screen.query_one(Input).has_focus)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: pilot.app.screen is place)

    perform(table, tmp_path, play)


def test_what_an_exit_code_means_stands_above_the_pages(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await command(pilot, place, "/knowledge")
        await until(pilot, lambda: isinstance(pilot.app.screen, KnowledgeScreen))
        await pilot.press(*"exit", "space", *"137", "enter")
        await until(pilot, lambda: "SIGKILL" in text_of(pilot.app))
        await until(pilot, lambda: "not set up here" in text_of(pilot.app))

    perform(table, tmp_path, play)


def test_what_the_search_names_opens_by_that_name(table: Table, tmp_path: Path) -> None:
    workshop = TestWorkshop(tmp_path, lambda hook: table)

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=(130, 40)) as pilot:
            place = await opened(pilot)
            place.open_place("incident:bloom-cuda-unknown-error")
            await until(pilot, lambda: isinstance(pilot.app.screen, BesideScreen))
            await pilot.press("escape")
            place.open_place("fault:gpu-out-of-memory")
            await until(pilot, lambda: isinstance(pilot.app.screen, PageScreen))
            await pilot.press("escape")
            place.open_place("doc:no-such-page")
            await until(pilot, lambda: any("no document" in one.message for one in pilot.app._notifications))

    asyncio.run(go())


@pytest.fixture
def compared(tmp_path: Path) -> tuple[Case, Examination]:
    job = write_job(tmp_path / "job")
    healthy = [write_job(tmp_path / f"run{n}") for n in range(2)]
    for n, run in enumerate(healthy):
        for file in run.rglob("*.log"):
            kept = [line for line in file.read_text().splitlines() if "[INFO]" in line]
            file.write_text("\n".join([*kept, *["saved all shards"] * (n + 1), "all done"]) + "\n")
    seen = examine([str(job)], Options())
    baseline = from_scans([examine([str(run)], Options()).reading.scan for run in healthy], "pretraining")
    cross = compare(seen.reading.scan, baseline)
    seen = replace(seen, baseline=baseline, findings=replace(seen.findings, cross_job=cross))
    return case_of(seen, seconds=1.0), seen


def test_healthy_runs_are_compared_in_three_tables(compared: tuple[Case, Examination], tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await command(pilot, place, "/compare")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        await until(pilot, lambda: "Only in healthy runs" in text_of(pilot.app))
        here, there, changed = pilot.app.screen.query(DifferenceTable)
        assert any("OutOfMemory" in one.text for one in here.rows_shown)
        assert {one.text for one in there.rows_shown} == {"saved all shards", "all done"}
        assert changed.rows_shown == []
        assert here.has_focus
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LogScreen))

    perform(table_of(*compared), tmp_path, play, size=(80, 24))


def test_without_healthy_runs_it_says_how_to_store_some(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await command(pilot, place, "/compare")
        await until(pilot, lambda: "rootrank baseline add" in text_of(pilot.app))
        assert "Not compared with healthy runs" in text_of(pilot.app)
        await pilot.press("tab", "enter", "escape")
        await until(pilot, lambda: pilot.app.screen is place)

    perform(table, tmp_path, play)


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_hostile_text_does_nothing_beside_the_case_or_on_a_page(table: Table, tmp_path: Path, number: int) -> None:
    text = EVERY[number]
    kept = earlier(table.case).model_copy(
        update={
            "title": text,
            "fix": text,
            "symptom": text,
            "log_lines": (text,),
            "source": text[:500],
            "suspect": text,
        }
    )
    searching(table, Passage(document=text[:50], kind="doc", title=text, text=text, source=text[:200], heading=text))

    async def play(pilot: Pilot[Any], place: Workplace) -> None:
        await beside(pilot, place)
        assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))
        await pilot.press("f2", "j", "k", "escape", "escape")
        await until(pilot, lambda: pilot.app.screen is place)
        await command(pilot, place, f"/knowledge {text[:100]}")
        await until(pilot, lambda: isinstance(pilot.app.screen, KnowledgeScreen) and pilot.app.screen.hits)
        await pilot.pause()
        assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))
        for rows in pilot.app.screen.query(OptionList):
            rows.action_first()

    perform(table, tmp_path, play, kept=(kept,))
