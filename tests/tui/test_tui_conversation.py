"""The conversation: asking, streaming, opening, stopping, typing, and what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from assistant.answers.models import (
    Answerer,
    AnswerEvent,
    Failed,
    Fallback,
    Hypothesis,
    Replaced,
    Standing,
    Suggested,
    ToolFinished,
    ToolStarted,
    VerdictGiven,
)
from assistant.answers.sessions import Session, SessionWriter
from assistant.case.models import Evidence
from assistant.errors import StoreError
from assistant.tools.models import ResultStatus
from assistant.tui.app import RootrankApp
from assistant.tui.commands import COMMANDS
from assistant.tui.deeds import DEEDS
from assistant.tui.fulltext import FullText
from assistant.tui.help_screen import HelpScreen
from assistant.tui.ports import Table
from assistant.tui.workplace import Workplace
from tests.tui.outside import EVERY
from tests.tui.stage import TestWorkshop, opened, text_of, until
from tests.tui.talkers import Broken, Scripted, said

Play = Callable[[Pilot[Any], Workplace, TestWorkshop], Awaitable[None]]


def perform(
    table: Table, folder: Path, play: Play, *, answerer: Answerer | None = None, size: tuple[int, int] = (130, 40),
    session: Session | None = None,
) -> TestWorkshop:  # fmt: skip
    workshop = TestWorkshop(folder, lambda hook: table, answerer=answerer, session=session)

    async def go() -> None:
        app = RootrankApp(workshop)
        async with app.run_test(size=size) as pilot:
            await play(pilot, await opened(pilot), workshop)

    asyncio.run(go())
    return workshop


async def ask(pilot: Pilot[Any], place: Workplace, text: str) -> None:
    place.prompt.load_text(text)
    await pilot.press("enter")
    await until(pilot, lambda: not place.talk.busy)
    await pilot.pause()


def everything(place: Workplace) -> str:
    place.talk.transcript.lay_out()
    return place.talk.transcript.text()


def test_a_question_is_answered_with_tools_and_citations_and_kept(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "What failed?")
        shown = everything(place)
        assert "> What failed?" in shown
        assert "T1" in shown
        assert "overview" in shown
        assert "Rank 5" in shown
        assert "Next:" in shown
        assert place.prompt.text == ""
        assert "offline" in text_of(pilot.app)

    workshop = perform(table, tmp_path, play)
    (session,) = workshop.sessions.sessions()
    assert session.turns[0].question.text == "What failed?"
    assert "Rank 5" in session.turns[0].answer


def test_the_narrow_window_turns_to_the_answer_and_back(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        assert "hidden: the conversation (F2)" in text_of(pilot.app)
        await ask(pilot, place, "What failed?")
        assert "hidden: the case (F2)" in text_of(pilot.app)
        await pilot.press("f2")
        await until(pilot, lambda: "Evidence" in text_of(pilot.app))

    perform(table, tmp_path, play, size=(80, 24))


def test_unsupported_sentences_are_marked_and_corrected_ones_redrawn(table: Table, tmp_path: Path) -> None:
    events: list[AnswerEvent] = [
        said(1, "Rank 9 did it. ", Standing.UNSUPPORTED),
        said(2, "First version.\n\n"),
        Replaced(number=2, text="Second version.\n\n", standing=Standing.PLAIN),
    ]

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "who?")
        shown = everything(place)
        assert "⚠ Rank 9 did it. Second version." in shown
        assert "First" not in shown

    perform(table, tmp_path, play, answerer=Scripted(events))


def test_tool_rows_unfold_and_citations_open(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "Why rank 5?")
        place.talk.transcript.focus()
        await pilot.press("g", "right_square_bracket", "enter")
        await until(pilot, lambda: "│" in everything(place))
        place.open_place("E1")
        await until(pilot, lambda: pilot.app.screen is not place)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is place)
        place.open_place("T1")
        place.open_place("E999")
        await pilot.pause()

    perform(table, tmp_path, play)


def test_a_click_on_a_suggestion_asks_it(table: Table, tmp_path: Path) -> None:
    scripted = Scripted([said(1, "Yes.\n\n"), Suggested(questions=("And [bold]then[/]?",))])

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "so?")
        row = text_of(pilot.app).split("\n")
        y = next(number for number, line in enumerate(row) if "And [bold]then[/]?" in line)
        await pilot.click(offset=(row[y].index("And") + 1, y))
        await until(pilot, lambda: len(scripted.asked) == 2)
        assert scripted.asked[1][0].text == "And [bold]then[/]?"
        assert scripted.asked[1][1][0].answer == "Yes.\n\n"

    perform(table, tmp_path, play, answerer=scripted)


def test_escape_stops_the_answer_and_what_is_typed_meanwhile_stays(table: Table, tmp_path: Path) -> None:
    scripted = Scripted([said(1, "It begins. ")], hold=True)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.prompt.load_text("long?")
        await pilot.press("enter")
        await until(pilot, lambda: "It begins." in everything(place))
        place.prompt.load_text("another")
        await pilot.press("enter")
        assert place.prompt.text == "another"
        await pilot.press("escape")
        await until(pilot, lambda: not place.talk.busy)
        await until(pilot, lambda: "stopped" in everything(place))
        assert scripted.stopped
        assert place.prompt.text == "another"

    workshop = perform(table, tmp_path, play, answerer=scripted)
    (session,) = workshop.sessions.sessions()
    assert session.lines[-1].model_dump()["event"]["kind"] == "cancelled"


def test_an_answerer_that_breaks_is_told_and_the_next_question_works(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "one")
        assert "ZeroDivisionError" in everything(place)
        await ask(pilot, place, "two")
        assert everything(place).count("It begins well.") == 2

    perform(table, tmp_path, play, answerer=Broken())


def test_a_full_disk_is_told_and_the_answer_still_comes(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: SessionWriter, line: object) -> None:
        raise StoreError("no space left on device", hint="free some")

    monkeypatch.setattr(SessionWriter, "_write", full)

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "What failed?")
        assert "Rank 5" in everything(place)
        await until(pilot, lambda: "NOT SAVED: no space left" in text_of(pilot.app))

    perform(table, tmp_path, play)


def test_a_session_comes_back_as_it_stood(table: Table, tmp_path: Path) -> None:
    shown: list[str] = []

    async def first(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "Why rank 5?")
        shown.append(everything(place).split("> Why rank 5?")[1])

    workshop = perform(table, tmp_path, first)

    async def second(pilot: Pilot[Any], place: Workplace, again: TestWorkshop) -> None:
        assert everything(place).split("> Why rank 5?")[1] == shown[0]
        await ask(pilot, place, "And now?")

    perform(table, tmp_path, second, session=workshop.sessions.load("last"))
    assert len(workshop.sessions.load("last").turns) == 2


def test_all_kinds_of_events_are_shown(table: Table, tmp_path: Path) -> None:
    events: list[AnswerEvent] = [
        Hypothesis(id="H1", cause="network.link", statement="A cable.", state="proposed", supporting=("E1",)),
        Hypothesis(id="H1", cause="network.link", statement="A cable.", state="refuted", opposing=("E1",)),
        VerdictGiven(cause="memory.gpu_oom", statement="Memory.", agrees=True, rank=5),
        Fallback(source="big", target="offline", reason="no connection", hint="check the address"),
        Failed(message="nothing works", hint="try later"),
    ]

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "?")
        shown = everything(place).replace("\n", " ")
        assert "H1 ✗ refuted network.link: A cable." in shown
        assert "proposed" not in shown
        assert "agrees with the case" in shown
        assert "big failed: no connection (check the address); offline takes over" in shown
        assert "✗ nothing works" in shown

    perform(table, tmp_path, play, answerer=Scripted(events))


@pytest.mark.parametrize("number", range(len(EVERY)))
def test_hostile_text_in_every_event_is_drawn_as_it_stands(table: Table, tmp_path: Path, number: int) -> None:
    text = EVERY[number]
    item = Evidence(id="E9", source=text[:200], line=3, offset=0, text=text)
    events: list[AnswerEvent] = [
        ToolStarted(call="T1", tool=text, arguments={"pattern": text, text[:30]: 1}),
        ToolFinished(call="T1", tool=text, status=ResultStatus.FOUND, text=text, evidence=(item,)),
        said(1, text, Standing.UNSUPPORTED, text[:200]),
        Hypothesis(id="H1", cause=text, statement=text, state="proposed", supporting=(text[:200],)),
        VerdictGiven(cause=text, statement=text, agrees=False, node=text),
        Fallback(source=text, target=text, reason=text, hint=text),
        Failed(message=text, hint=text),
        Suggested(questions=(text[:500],)),
    ]

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, text[:10_000])
        place.talk.transcript.show_row("T1")
        place.table.calls.desk.shown.add([item])
        await pilot.pause()
        assert all(line.isprintable() for line in everything(place).split("\n"))
        assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))
        place.open_place("E9")
        await until(pilot, lambda: isinstance(pilot.app.screen, FullText))
        assert all(line.isprintable() for line in text_of(pilot.app).split("\n"))

    perform(table, tmp_path, play, answerer=Scripted(events))


def test_typing_has_history_lines_and_completion(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "What failed?")
        await pilot.press("a", "up")
        assert place.prompt.text == "What failed?"
        await pilot.press("down")
        assert place.prompt.text == "a"
        await pilot.press("ctrl+j", "b")
        assert place.prompt.text == "a\nb"
        place.prompt.load_text("")
        await pilot.press("at", "n", "o", "d", "e", "minus", "0", "2", "tab")
        assert place.prompt.text == "node-02 "
        await pilot.press("at", "r", "a", "n", "k", "5", "enter")
        assert place.prompt.text == "node-02 rank 5 "
        await pilot.press("at", "e", "1")
        assert "E1" in text_of(pilot.app)
        await pilot.press("escape")

    perform(table, tmp_path, play)


def test_history_outlives_the_run(table: Table, tmp_path: Path) -> None:
    async def first(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "What failed?")

    async def second(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("up")
        assert place.prompt.text == "What failed?"

    perform(table, tmp_path, first)
    perform(table, tmp_path, second)


def test_commands_come_from_one_list(table: Table, tmp_path: Path) -> None:
    assert set(DEEDS) == {command.name for command in COMMANDS}

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("slash")
        assert "/help" in text_of(pilot.app)
        place.prompt.load_text("/help")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        shown = text_of(pilot.app)
        assert "Keys here" in shown
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is place)
        place.prompt.load_text("/nonsense here")
        await pilot.press("enter")
        assert place.prompt.text == "/nonsense here"
        place.prompt.load_text("/newcomer")
        await pilot.press("enter")
        assert place.talk.newcomer

    perform(table, tmp_path, play)


def test_the_palette_offers_the_commands(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await pilot.press("ctrl+p", *"newcom")
        await until(pilot, lambda: "/newcomer" in text_of(pilot.app))

    perform(table, tmp_path, play)


def test_a_long_answer_is_followed_unless_one_scrolls_back(table: Table, tmp_path: Path) -> None:
    scripted = Scripted([said(number, f"Sentence {number}.\n\n") for number in range(1, 300)])

    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        await ask(pilot, place, "go on")
        await until(pilot, lambda: "Sentence 299." in text_of(pilot.app))
        place.talk.transcript.focus()
        await pilot.press("pageup", "pageup")
        await until(pilot, lambda: "Sentence 299." not in text_of(pilot.app))
        place.talk.scribe.remark("something new")
        await until(pilot, lambda: "something new" in place.talk.transcript.text())
        await pilot.pause()
        assert "something new" not in text_of(pilot.app)
        await pilot.press("end")
        await until(pilot, lambda: "something new" in text_of(pilot.app))

    perform(table, tmp_path, play, answerer=scripted)


def test_a_tiny_window_says_so_and_comes_back(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.prompt.load_text("half typed")
        await pilot.resize_terminal(20, 5)
        await until(pilot, lambda: "too small" in text_of(pilot.app))
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: "half typed" in text_of(pilot.app))

    perform(table, tmp_path, play)


def test_what_is_typed_beside_the_prompt_is_typed_into_it(table: Table, tmp_path: Path) -> None:
    async def play(pilot: Pilot[Any], place: Workplace, workshop: TestWorkshop) -> None:
        place.pane.first.focus()
        await pilot.pause()
        await pilot.press("slash", "o", "p")
        await until(pilot, lambda: place.prompt.text == "/op")
        assert place.prompt.has_focus

    perform(table, tmp_path, play)
