"""The job against healthy runs: events only here, only there, and those whose rate has changed."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Footer

from assistant.errors import RootrankError
from assistant.patterns.contrast import Contrast, with_healthy
from assistant.tools.desk import Desk
from assistant.tui.safe import Literal, literal, plain
from assistant.tui.views.differences import NAMES, DifferencesScreen, DifferenceTable

TITLES = (
    "Only in this job: lines",
    "Only in healthy runs: lines a run",
    "At another rate: lines here, expected of a healthy job of this size",
)
HOW = (
    "Without healthy runs nothing can be compared. Store some, once for each kind of job:",
    "    rootrank baseline add NAME LOGS-OF-A-HEALTHY-RUN ...",
    "Then open this case again from its logs: the most similar stored kind is chosen.",
    "For one case only, name a folder of healthy runs: rootrank diagnose LOGS --baseline FOLDER",
)


class CompareScreen(DifferencesScreen):
    """Three tables; where nothing can be compared, why, and what to do about it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next table", id="compare.next"),
        Binding("enter", "open", "First line", id="compare.open", priority=True),
        Binding("escape,q", "dismiss", "Back", id="compare.back"),
    ]

    def compose(self) -> ComposeResult:
        yield Literal("reading", id="compare-head")
        yield Literal("", id="compare-how")
        for name in NAMES:
            yield DifferenceTable(name)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Compares in a thread: the logs of a stored case have to be read again."""
        self.query(DifferenceTable).set(display=False)
        self._compare()

    @work(thread=True, exit_on_error=False)
    def _compare(self) -> None:
        try:
            note, found = self._place.table.calls.aside(_compared)
        except RootrankError as error:
            self.app.call_from_thread(self._refuse, f"{error.message}; {error.hint}")
        else:
            show = self._show if found is not None else self._lack
            self.app.call_from_thread(show, note, found)

    def _refuse(self, why: str) -> None:
        self.query_one("#compare-head", Literal).show(plain(why))

    def _lack(self, note: str, found: Contrast | None) -> None:
        self._refuse(f"Not compared with healthy runs: {note}")
        how = self.query_one("#compare-how", Literal)
        how.show(Content("\n").join([literal(row) for row in HOW]))
        how.display = True

    def _show(self, note: str, found: Contrast | None) -> None:
        self._refuse(note)
        if found is not None:
            self.query(DifferenceTable).set(display=True)
            self.fill(TITLES, found)


def _compared(desk: Desk) -> tuple[str, Contrast | None]:
    """What the comparison rests on, and the differences; None where there was nothing to compare with."""
    seen = desk.examination
    note = seen.findings.cross_job.note
    if seen.baseline is None or not seen.baseline.runs:
        return note or "no healthy run of this kind is stored", None
    return note, with_healthy(seen.reading.scan, seen.baseline, [event.id for event in desk.case.events])
