"""The screen that is shown while logs are read: how far it is, and what was found first."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, ProgressBar

from assistant.case.text import plural
from assistant.errors import InputError, RootrankError
from assistant.intake.models import Progress
from assistant.tui.marks import size, span
from assistant.tui.ports import Opening, Table
from assistant.tui.safe import Literal, literal

FINDINGS = 200
"""First findings that are kept; the newest are shown."""
EVERY = 0.1
"""Seconds between two looks at how far it is."""


class Stopped(Exception):
    """A person stopped the reading; raised inside the reader by its own hook."""


class Meter:
    """Takes the reader's reports in its thread; the screen looks at it from time to time."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.state = Progress(0, None, 0)
        self.findings: list[str] = []
        self.stop = False

    def __call__(self, state: Progress) -> None:
        """Takes how far the read is. Raises Stopped where a person wants it to end."""
        if self.stop:
            raise Stopped
        self.state = state
        if state.finding and len(self.findings) < FINDINGS:
            self.findings.append(state.finding)

    def line(self) -> str:
        """Bytes, files, rate and time left, as far as they are known."""
        seconds = max(1e-3, time.monotonic() - self.started)
        read, total = self.state.bytes, self.state.total
        if not read:
            return f"waiting for the first lines · {span(seconds)}"
        rate = read / seconds
        parts = [f"{size(read)} of {size(total)}" if total else size(read)]
        parts += [plural(self.state.sources, "file"), f"{size(rate)}/s"]
        if total and read and rate > 0:
            parts.append(f"{span(max(0.0, total - read) / rate)} left" if read < total else "comparing")
        return " · ".join([*parts, f"{span(seconds)} so far"])


class ReadingScreen(Screen[None]):
    """Reads in a thread. Ends by telling the application `Ready`, `Refused`, or that a person stopped it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="reading.cancel"),
        Binding("ctrl+c", "cancel", "Cancel", show=False, id="reading.interrupt"),
    ]

    class Ready(Message):
        """The case is there."""

        def __init__(self, table: Table) -> None:
            super().__init__()
            self.table = table

    class Stopping(Message):
        """A person wants no more of it; `Refused` follows when the reader notices."""

    class Refused(Message):
        """It cannot be read; None where a person stopped it."""

        def __init__(self, error: RootrankError | None) -> None:
            super().__init__()
            self.error = error

    def __init__(self, opening: Opening, title: str = "Reading the logs") -> None:
        super().__init__()
        self.meter = Meter()
        self._opening = opening
        self._heading = title

    def compose(self) -> ComposeResult:
        with Vertical(id="reading"):
            yield Literal(self._heading, classes="heading")
            yield ProgressBar(total=None, show_eta=False, id="bar")
            yield Literal("", id="how-far")
            yield Literal("", id="findings")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Starts the reading."""
        self.set_interval(EVERY, self.look)
        self._read()

    def on_unmount(self) -> None:
        """Whoever ends the program while it reads does not wait for the rest of the logs."""
        self.meter.stop = True

    def look(self) -> None:
        """Shows how far it is."""
        state = self.meter.state
        self.query_one("#bar", ProgressBar).update(total=state.total, progress=state.bytes)
        self.query_one("#how-far", Literal).show("stopping" if self.meter.stop else self.meter.line())
        found = self.meter.findings
        room = max(1, self.size.height - 10)
        rows = [Content.assemble("First findings", f" ({len(found)})") if found else Content("")]
        rows += [Content.assemble(("• ", "$text-warning"), literal(text)) for text in found[-room:]]
        self.query_one("#findings", Literal).show(Content("\n").join(rows))

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _read(self) -> None:
        try:
            table = self._opening(self.meter)
        except Stopped:
            self.post_message(self.Refused(None))
        except RootrankError as error:
            self.post_message(self.Refused(error))
        except Exception as error:
            hint = "try again; where it stays so, report it with what `rootrank diagnose` says"
            self.post_message(self.Refused(InputError(f"reading broke: {type(error).__name__}: {error}", hint=hint)))
        else:
            self.post_message(self.Refused(None) if self.meter.stop else self.Ready(table))

    def action_cancel(self) -> None:
        """Stops the reading at its next report."""
        self.meter.stop = True
        self.post_message(self.Stopping())
