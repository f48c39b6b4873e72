"""How quick the workplace is: `python -m evals.chat [--gb 5]`. Prints a table; nothing is kept.

Measured without a terminal (Textual's test driver), so drawing is in, the terminal's own time is not: a place in a
large log, a key while an answer streams and another process counts the lines of that log, a very long conversation.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.events import Key
from textual.pilot import Pilot

from assistant.answers.intents import load_intents
from assistant.answers.models import (
    Answerer,
    AnswerEvent,
    Done,
    Hypothesis,
    Question,
    Standing,
    Text,
    ToolFinished,
    ToolStarted,
    Turn,
)
from assistant.answers.offline import OfflineAnswerer
from assistant.answers.sessions import Session, SessionStore, SessionWriter
from assistant.case.models import Case, Evidence
from assistant.faults.library import load_library
from assistant.incidents.confirm import Ruling
from assistant.incidents.models import Incident
from assistant.intake.discover import discover
from assistant.intake.models import ProgressHook, Source
from assistant.pipeline import Options, diagnose
from assistant.retrieval.documents import Document
from assistant.tools.calls import Calls
from assistant.tools.desk import Desk
from assistant.tools.models import ResultStatus
from assistant.tools.words import load_glossary
from assistant.tui.app import RootrankApp
from assistant.tui.logs.bytefile import PlainFile
from assistant.tui.logs.lines import FileLines
from assistant.tui.logs.pane import LogPane
from assistant.tui.logs.screen import LogScreen
from assistant.tui.ports import Look, Table
from assistant.tui.workplace import Workplace

LINE = b"2031-04-02 10:00:00 [INFO] train: step %09d of an ordinary run, with words enough to fill a line of a log\n"
ROWS, PIECES = 300, 10_000
LATEST = 10.0
"""Seconds after which a key is taken to have changed nothing."""


class Talker:
    """An answer of many pieces; `pause` seconds between two of them."""

    name = "talker"

    def __init__(self, pieces: int, rows: int, pause: float) -> None:
        self._pieces, self._rows, self._pause = pieces, rows, pause

    async def answer(self, question: Question, history: tuple[Turn, ...]) -> AsyncIterator[AnswerEvent]:
        """Rows of tools, then sentences."""
        for number in range(1, self._rows + 1):
            yield ToolStarted(call=f"T{number}", tool="grep_log", arguments={"pattern": "x", "rank": number})
            yield ToolFinished(call=f"T{number}", tool="grep_log", status=ResultStatus.FOUND, text="a row\n" * 30)
        for number in range(1, self._pieces + 1):
            text = f"Sentence {number} says that **rank {number % 64}** was slow [E1].\n\n"
            yield Text(number=number, text=text, standing=Standing.SUPPORTED, citations=("E1",))
            await asyncio.sleep(self._pause)
        yield Done(answerer=self.name)


class Workshop:
    """A case whose one log is the large one."""

    look = Look()

    def __init__(self, folder: Path, case: Case, source: Source, talker: Talker) -> None:
        self.sessions, self.folder = SessionStore(folder), folder / "chat"
        self._case, self._source, self._talker = case, source, talker

    def open(self, hook: ProgressHook) -> Table:
        """At once."""
        calls = Calls(Desk(self._case, load_library(strict=False), load_glossary()))
        return Table(self._case, calls, OfflineAnswerer(calls, load_intents()))

    def attach(self, table: Table, files: Sequence[str], hook: ProgressHook) -> Table:
        """Not used."""
        return table

    def source(self, table: Table, name: str) -> Source:
        """The large log."""
        return self._source

    def answerer(self, table: Table, hypotheses: Mapping[str, Hypothesis]) -> Answerer:
        """The one of many pieces."""
        return self._talker

    def begin(self, table: Table, answerer: Answerer) -> SessionWriter | None:
        """Kept, as in earnest."""
        return self.sessions.new(case=self._case.case, revision=1, answerer=answerer.name, program="eval")

    def earlier(self) -> Session | None:
        """None."""
        return None

    def turn_to(self, table: Table, session: Session | None) -> None:
        """Not used."""

    def confirm(self, case: Case, ruling: Ruling) -> str:
        """Not used."""
        return ""

    def sources(self, table: Table) -> tuple[Source, ...]:
        """The large log."""
        return (self._source,)

    def incidents(self) -> list[Incident]:
        """None."""
        return []

    def page(self, key: str) -> Document | Incident:
        """Not used."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""


def big_log(folder: Path, gigabytes: float) -> Path:
    """A log of ordinary lines."""
    path = folder / "big.log"
    block = b"".join(LINE % number for number in range(100_000))
    with path.open("wb") as file:
        while file.tell() < gigabytes * 1e9:
            file.write(block)
    return path


def places(path: Path) -> list[float]:
    """Milliseconds to open the log and read a screen at scattered places."""
    size, found = path.stat().st_size, []
    for share in range(1, 20):
        begun = time.perf_counter()
        file = PlainFile(path, "big.log")
        lines = FileLines(file)
        start = lines.start_of(size * share // 20)
        lines.backward(start, 20)
        lines.forward(start, 40)
        file.close()
        found.append(1000 * (time.perf_counter() - begun))
    return found


async def until(holds: Callable[[], object]) -> None:
    """Lets the application work until something holds."""
    while not holds():
        await asyncio.sleep(0.002)


async def keys(pilot: Pilot[Any], names: Sequence[str], state: Callable[[], object]) -> list[float]:
    """Milliseconds from each key until what it changes has changed and the screen is drawn."""
    found = []
    for name in names:
        before, begun = state(), time.perf_counter()
        event = Key(name, name if len(name) == 1 else None)
        event.set_sender(pilot.app)
        pilot.app.post_message(event)
        while state() == before and time.perf_counter() - begun < LATEST:
            await asyncio.sleep(0)
        pilot.app.screen._compositor.render_strips(pilot.app.size)
        found.append(1000 * (time.perf_counter() - begun))
        await asyncio.sleep(0.03)
    return found


async def measure(workshop: Workshop, long: Workshop) -> dict[str, list[float]]:
    """All figures that need a screen."""
    found: dict[str, list[float]] = {}
    app = RootrankApp(workshop)
    async with app.run_test(size=(160, 50)) as pilot:
        place = await _opened(pilot)
        place.talk.ask("go")
        found["a letter in the prompt, answer streaming"] = await keys(
            pilot, "abcdefghijklmnopqrst", lambda: place.prompt.text
        )
        begun = time.perf_counter()
        place.open_place("E1")
        await until(lambda: isinstance(app.screen, LogScreen) and app.screen.pane.rows)
        found["a citation to its log line on the screen"] = [1000 * (time.perf_counter() - begun)]
        names = ["down", "pagedown", "up", "pageup", "pagedown"] * 6
        pane = app.screen.query_one(LogPane)
        place_of = "a key in the log, answer streaming, lines being counted"
        found[place_of] = await keys(pilot, names, lambda: (pane.top, pane.here))
    app = RootrankApp(long)
    async with app.run_test(size=(160, 50)) as pilot:
        place = await _opened(pilot)
        begun = time.perf_counter()
        place.talk.ask("go")
        await until(lambda: not place.talk.busy)
        found[f"an answer of {PIECES:,} sentences and {ROWS} rows, in all"] = [1000 * (time.perf_counter() - begun)]
        found["a letter in the prompt after it"] = await keys(pilot, "abcdefghijklmnopqrst", lambda: place.prompt.text)
        page = place.talk.transcript
        page.focus()
        found["page up in it"] = await keys(pilot, ["pageup"] * 20, lambda: page.scroll_target_y)
    return found


async def _opened(pilot: Pilot[Any]) -> Workplace:
    await until(lambda: isinstance(pilot.app.screen, Workplace) and pilot.app.screen.talk.dialogue)
    place = pilot.app.screen
    assert isinstance(place, Workplace)
    await until(lambda: place.prompt.has_focus)
    return place


def main() -> None:
    """Makes the log, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gb", type=float, default=1.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = big_log(folder, given.gb)
        found = {f"a place in a log of {given.gb:g} GB, read": places(path)}
        job = folder / "rank0.log"
        job.write_text(
            "".join(f"step {n} loss 2.5\n" for n in range(50)) + "torch.OutOfMemoryError: CUDA out of memory.\n"
        )
        (source,) = discover([str(path)]).sources
        middle = path.stat().st_size // 2 // len(LINE % 0)
        item = Evidence(id="E1", source="big.log", line=middle + 1, offset=middle * len(LINE % 0), text="a line")
        case = diagnose([str(job)], Options()).model_copy(update={"evidence": (item,)})
        streaming = Workshop(folder / "a", case, source, Talker(PIECES, 3, 0.02))
        found |= asyncio.run(measure(streaming, Workshop(folder / "b", case, source, Talker(PIECES, ROWS, 0.0))))
    print("| what | median, ms | longest, ms |\n| --- | --- | --- |")
    for what, values in found.items():
        print(f"| {what} | {statistics.median(values):.1f} | {max(values):.1f} |")


if __name__ == "__main__":
    main()
