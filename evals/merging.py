"""How quick merged and filtered logs are: `python -m evals.merging [--files 64] [--mb 10] [--gb 1]`. Keeps nothing.

Measured without a terminal, as in `evals.chat`: from the key to the drawn screen.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path

from textual.events import Key

from assistant.case.models import Case, Evidence
from assistant.errors import NothingFound
from assistant.intake.discover import discover
from assistant.intake.models import Source
from assistant.pipeline import Options, diagnose
from assistant.tui.app import RootrankApp
from assistant.tui.filters.typed import Around, read_filters
from assistant.tui.logs.book import LogBook
from assistant.tui.logs.bytefile import open_bytes
from assistant.tui.logs.screen import LogScreen
from assistant.tui.logs.writers import Scribe
from assistant.tui.merged.screen import MergedScreen
from assistant.tui.ports import Table
from assistant.tui.workplace import Workplace
from evals.chat import Talker, Workshop, keys, until

LINE = "2031-04-02 {:02d}:{:02d}:{:02d},{:03d} {} train: rank {} step {} | loss: 2.345 | step time: 200.0 ms\n"
SMALL = "2031-04-02 10:00:00 ERROR [rank0]: RuntimeError: CUDA out of memory\n"
FILTERS = ("/needle/", "level=error", "rank=3", "time=06:10..06:12", "time=06:10..06:12 level=error", "level=info")
BEGIN = 1_932_865_200.0
"""2031-04-02 03:00:00 UTC."""


class Several(Workshop):
    """A case whose logs are many."""

    def __init__(self, folder: Path, case: Case, sources: tuple[Source, ...]) -> None:
        super().__init__(folder, case, sources[0], Talker(1, 0, 0))
        self._all = sources

    def sources(self, table: Table) -> tuple[Source, ...]:
        """All of them."""
        return self._all

    def source(self, table: Table, name: str) -> Source:
        """The one of that name."""
        for one in self._all:
            if one.name == name:
                return one
        raise NothingFound(name, hint="")


def log(path: Path, rank: int, size: float, step: float) -> Path:
    """A log of a rank with a line each `step` seconds, one in 5,000 an error."""
    pick = random.Random(rank)
    with path.open("w") as file:
        begin = 0
        while file.tell() < size:
            rows = []
            for number in range(begin, begin + 5_000):
                at = number * step + pick.random() * step
                clock = 3 + int(at) // 3600, int(at) // 60 % 60, int(at) % 60, int(at * 1000) % 1000
                level = "ERROR needle" if number % 5_000 == 77 else "DEBUG" if number % 3 == 0 else "INFO"
                rows.append(LINE.format(*clock, level, rank, number))
            begin += 5_000
            file.write("".join(rows))
    return path


async def merged(workshop: Several) -> dict[str, list[float]]:
    """From the key that merges to the screen, then pages."""
    found: dict[str, list[float]] = {}
    app = RootrankApp(workshop)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(lambda: isinstance(app.screen, Workplace) and app.screen.is_mounted)
        place = app.screen
        assert isinstance(place, Workplace)
        await until(lambda: place.talk.dialogue is not None)
        await asyncio.to_thread(place.logs.scribe)
        place.open_place("E1")
        await until(lambda: isinstance(app.screen, LogScreen) and app.screen.pane.rows)
        begun = time.perf_counter()
        event = Key("M", "M")
        event.set_sender(app)
        app.post_message(event)
        await until(lambda: isinstance(app.screen, MergedScreen) and app.screen.pane.rows)
        app.screen._compositor.render_strips(app.size)
        found["merged view, from the key to the screen"] = [1000 * (time.perf_counter() - begun)]
        screen = app.screen
        assert isinstance(screen, MergedScreen)
        names = ["down", "pagedown", "up", "pageup", "pagedown", "pagedown"] * 10
        found["a key in it"] = await keys(pilot, names, lambda: screen.pane.here)
    return found


def filtered(source: Source, scribe: Scribe, typed: str) -> tuple[int, float, float]:
    """Lines that pass, seconds to the first, seconds to all."""
    book = LogBook(source, open_bytes(source), scribe=lambda: scribe)
    book.filters.replace(read_filters(typed, Around(time=BEGIN + 3600)))
    begun, first = time.perf_counter(), 0.0
    book.refilter()
    while book.passing is not None and not book.passing.done:
        first = first or (time.perf_counter() - begun if book.passing.hits else 0.0)
        time.sleep(0.01)
    total = time.perf_counter() - begun
    count = len(book.passing.hits) if book.passing else 0
    book.close()
    return count, first or total, total


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--mb", type=float, default=10)
    parser.add_argument("--gb", type=float, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        (folder / "small").mkdir()
        for rank in range(given.files):
            log(folder / "logs" / f"rank-{rank:03d}.log", rank, given.mb * 1e6, 0.1)
        (folder / "small/rank-0.log").write_text(SMALL)
        sources = discover([str(folder / "logs")]).sources
        item = Evidence(id="E1", source=sources[0].name, line=1, offset=int(given.mb * 5e5), text="")
        case = diagnose([str(folder / "small")], Options()).model_copy(update={"evidence": (item,)})
        print(f"{given.files} logs of {given.mb:g} MB")
        for what, times in asyncio.run(merged(Several(folder / "data", case, sources))).items():
            print(f"{what:48} median {statistics.median(times):7.1f} ms  longest {max(times):7.1f} ms", flush=True)
        (source,) = discover([str(log(folder / "rank-3.log", 3, given.gb * 1e9, 0.002))]).sources
        scribe = Scribe([source], None)
        print(f"filters over a log of {given.gb:g} GB")
        for typed in FILTERS:
            count, first, total = filtered(source, scribe, typed)
            print(f"{typed:48} {count:10,} pass  first after {first:5.1f} s  all after {total:5.1f} s", flush=True)


if __name__ == "__main__":
    main()
