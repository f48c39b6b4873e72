"""Nodes, time, actions, comparisons, attaching, confirming, exporting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, OptionList

from assistant.case.models import Case
from assistant.errors import NothingFound
from assistant.pipeline import Examination, Options, case_of, examine
from assistant.tools.moments import Moment
from assistant.tui.app import RootrankApp
from assistant.tui.exporting import export
from assistant.tui.ports import Table
from assistant.tui.views.actions_screen import ActionsScreen
from assistant.tui.views.chart import columns_of
from assistant.tui.views.moments import Value, axis, line_of, timed
from assistant.tui.views.nodes_screen import NodesScreen
from assistant.tui.views.peers import against_peers
from assistant.tui.views.peers_screen import PeersScreen
from assistant.tui.views.standings import ORDERS, standings
from assistant.tui.views.timeline_screen import TimelineScreen
from assistant.tui.workplace import Workplace
from tests.tui.conftest import table_of
from tests.tui.outside import EVERY
from tests.tui.stage import TestWorkshop, opened, text_of, until
from tests.tui.test_tui_first_screen import soaked

Play = Callable[[Pilot[Any], Workplace, TestWorkshop], Awaitable[None]]


def perform(table: Table, folder: Path, play: Play, *, attaching: Table | None = None) -> TestWorkshop:
    workshop = TestWorkshop(folder, lambda hook: table, attaching=attaching)

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=(130, 40)) as pilot:
            place = await opened(pilot)
            await until(pilot, lambda: place.talk.dialogue is not None)
            await play(pilot, place, workshop)

    asyncio.run(go())
    return workshop


async def command(pilot: Pilot[Any], place: Workplace, text: str) -> None:
    place.prompt.focus()
    place.prompt.load_text(text)
    await pilot.press("enter")


def told(pilot: Pilot[Any]) -> str:
    """The short words of the program that are in sight."""
    return "\n".join(one.message for one in pilot.app._notifications)


def test_every_rank_stands_in_the_table_and_can_be_sorted(read_job: tuple[Case, Examination]) -> None:
    rows = standings(*read_job)
    assert rows[0].rank == 5
    assert rows[0].blamed
    assert len(rows) == 8
    assert rows[0].last_iteration == 79
    for order in ORDERS.values():
        assert sorted(rows, key=order)
    assert sorted(rows, key=ORDERS["name"])[0].rank == 0


def test_a_node_is_compared_with_its_peers_side_by_side(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, NodesScreen))
        await pilot.pause()
        assert "node-02" in text_of(pilot.app)
        rows = pilot.app.screen.query_one(DataTable)
        await pilot.press("a")
        assert str(rows.get_cell_at((0, 2))) == "0"  # type: ignore[arg-type]
        await pilot.press("s", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PeersScreen))
        await until(pilot, lambda: "Only on node-02" in text_of(pilot.app))
        shown = text_of(pilot.app)
        assert "Only on 3 other nodes" in shown
        assert "node-02 beside 3 other nodes" in shown
        assert "last iteration 79" in shown
        assert "torch.OutOfMemoryError" in shown
        await pilot.press("escape", "escape")
        await until(pilot, lambda: pilot.app.screen is place)

    perform(table, tmp_path, play)


def test_f1_tells_the_keys_of_the_view_that_is_open(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        for key, told in (("f3", "nodes.compare"), ("f4", "time.open"), ("f5", "actions.done")):
            await pilot.press(key)
            await until(pilot, lambda: pilot.app.screen is not place)
            await pilot.press("f1")
            await until(pilot, lambda told=told: told in text_of(pilot.app))  # type: ignore[misc]
            await pilot.press("f1", "escape")
            await until(pilot, lambda: pilot.app.screen is place)

    perform(table, tmp_path, play)


def test_the_line_of_time_shows_moments_and_a_chart(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(pilot.app.screen, TimelineScreen))
        await until(pilot, lambda: "Iteration time" in text_of(pilot.app))
        assert "▼" in text_of(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is place)

    perform(table, tmp_path, play)


def test_moments_share_one_line_and_the_most_telling_wins() -> None:
    moments = [
        Moment("2031-04-02T10:00:00Z", "first iteration 0"),
        Moment("2031-04-02T10:01:00Z", "cascade: n1 [E2] x"),
        Moment("2031-04-02T10:01:00Z", "initiating: n1 [E1] x"),
    ]
    line = axis(timed(moments), 20)
    assert (line[0], line[-1], len(line)) == ("═", "▼", 20)
    assert axis([], 20) == ""
    assert axis(timed([Moment("never", "x")]), 20) == ""


def test_iterations_checkpoints_and_failures_share_one_line_of_time(tmp_path: Path) -> None:
    rows = [f"2031-04-02 10:00:{step:02d} iteration {step}/40 | loss: {4 - step / 20:.3f}" for step in range(1, 40)]
    rows.insert(20, "2031-04-02 10:00:20   successfully saved checkpoint at iteration      20 to /ckpt")
    rows += ["2031-04-02 10:00:50 torch.OutOfMemoryError: CUDA out of memory."]
    (tmp_path / "rank-0.log").write_text("\n".join(rows) + "\n")
    seen = examine([str(tmp_path)], Options())
    found = line_of(table_of(case_of(seen, seconds=1.0), seen).calls.desk, seen)
    line = axis(found.timed, 50)
    assert line.startswith("A═")
    assert 15 < line.index("C") < 25
    assert line.endswith("─▼")
    assert (found.losses[0], found.losses[-1]) == ((1, 3.95), (39, 2.05))


def test_a_chart_keeps_the_one_slow_iteration_in_sight() -> None:
    values: list[Value] = [(n, 9.0 if n == 517 else 1.0) for n in range(1000)]
    assert columns_of(values, 50).count(9.0) == 1
    assert columns_of(values[:3], 50) == [1.0, 1.0, 1.0]


def test_a_stored_case_without_logs_still_has_its_moments(read_job: tuple[Case, Examination]) -> None:
    found = line_of(table_of(read_job[0], None).calls.desk, None)
    assert found.moments
    assert found.losses == []


def test_steps_are_ticked_off_and_their_commands_copied(table: Table, tmp_path: Path) -> None:
    step = table.case.verdict.action.steps[0].model_copy(update={"command": "fix [it] --now"})
    action = table.case.verdict.action.model_copy(update={"steps": (step,)})
    table.case = table.case.model_copy(update={"verdict": table.case.verdict.model_copy(update={"action": action})})

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, ActionsScreen) and "[ ] 1." in text_of(pilot.app))
        assert "$ fix [it] --now" in text_of(pilot.app)
        await pilot.press("c")
        assert pilot.app.clipboard == "fix [it] --now"
        await pilot.press("space")
        await until(pilot, lambda: "[x] 1." in text_of(pilot.app))
        await pilot.press("escape")
        assert place.steps_done == {0}

    perform(table, tmp_path, play)


def test_where_there_is_one_node_a_rank_is_compared_with_the_others(tmp_path: Path) -> None:
    for rank in range(3):
        lines = [f"2031-04-02 10:00:{step:02d} step {step} | loss: 2.5" for step in range(40)]
        lines += ["torch.OutOfMemoryError: CUDA out of memory."] if rank == 1 else []
        (tmp_path / f"rank-{rank}.log").write_text("\n".join(lines) + "\n")
    seen = examine([str(tmp_path)], Options())
    case = case_of(seen, seconds=1.0)
    rows = standings(case, seen)
    found = against_peers(table_of(case, seen).calls.desk, rows, rows[0])
    assert (found.own.name, found.others.name) == ("rank 1", "2 other ranks")
    assert [one.text for one in found.contrast.only_here] == ["torch.OutOfMemoryError: CUDA out of memory."]
    with pytest.raises(NothingFound, match="no other rank"):
        against_peers(table_of(case, seen).calls.desk, rows[:1], rows[0])


def test_a_file_that_was_missing_makes_a_new_revision_that_says_what_changed(
    read_job: tuple[Case, Examination], table: Table, tmp_path: Path
) -> None:
    case, seen = read_job
    verdict = case.verdict.model_copy(update={"statement": "It was something else.", "cause": "hardware.gpu_memory"})
    later = table_of(case.model_copy(update={"revision": 2, "verdict": verdict}), seen)
    later.before, later.added = case, ("dmesg [x].txt",)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await command(pilot, place, "What failed?")
        await until(pilot, lambda: not place.talk.busy)
        await command(pilot, place, "/attach dmesg.txt")
        await until(pilot, lambda: place.table is later)
        await until(pilot, lambda: "revision 2" in text_of(pilot.app))
        await until(pilot, lambda: "dmesg [x].txt" in place.talk.transcript.text())
        assert "hardware.gpu_memory" in text_of(pilot.app)
        await until(pilot, lambda: place.talk.dialogue and place.talk.dialogue.answerer is later.offline)
        await command(pilot, place, "What failed now?")
        await until(pilot, lambda: not place.talk.busy)

    workshop = perform(table, tmp_path, play, attaching=later)
    turns = workshop.sessions.load("last").turns
    assert len(turns) == 3
    assert "dmesg [x].txt" in turns[1].answer


def test_confirming_and_correcting_reach_the_store(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await command(pilot, place, "/confirm it was so")
        await until(pilot, lambda: len(workshop.confirmed) == 1)
        await command(pilot, place, "/correct network.link a cable, fixed by a new one")
        await until(pilot, lambda: len(workshop.confirmed) == 2)
        await command(pilot, place, "/correct no.such")
        await until(pilot, lambda: "unknown cause class" in told(pilot))

    workshop = perform(table, tmp_path, play)
    assert [(one.cause, one.note, one.fix) for one in workshop.confirmed[:2]] == [
        (None, "it was so", ""),
        ("network.link", "a cable", "a new one"),
    ]


def test_an_export_never_replaces_a_file(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await command(pilot, place, "What failed?")
        await until(pilot, lambda: not place.talk.busy)
        await command(pilot, place, f"/export {tmp_path / 'x.md'}")
        await until(pilot, lambda: (tmp_path / "x.md").exists())
        await command(pilot, place, f"/export {tmp_path / 'x.md'}")
        await until(pilot, lambda: "cannot be written" in told(pilot))

    perform(table, tmp_path, play)
    text = (tmp_path / "x.md").read_text()
    assert "## Question 1" in text
    assert "What failed?" in text
    exported = export(tmp_path / "x.json", table.case, ())
    assert json.loads(exported.read_text())["case"] == table.case.case


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_hostile_text_does_nothing_in_any_view(read_job: tuple[Case, Examination], tmp_path: Path, number: int) -> None:
    text = EVERY[number]
    case = soaked(read_job[0], text)
    node = case.nodes[0].model_copy(update={"node": text[:300], "why": text})
    case = case.model_copy(update={"nodes": (node,)})

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        for key in ("f3", "f4", "f5", "f1"):
            await pilot.press(key)
            await until(pilot, lambda: pilot.app.screen is not place)
            await pilot.pause()
            assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))
            for rows in pilot.app.screen.query(OptionList):
                rows.action_first()
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is place)
        await command(pilot, place, f"/{text[:200]}")
        await command(pilot, place, f"/open {text[:200]}")
        await pilot.pause()
        assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))

    perform(table_of(case, None), tmp_path, play)
