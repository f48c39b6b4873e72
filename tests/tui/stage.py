"""A workplace for tests: cases written here, the real tools and the offline answerer, and waiting for conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from assistant.answers.models import Answerer, Hypothesis
from assistant.answers.sessions import Session, SessionStore, SessionWriter
from assistant.case.models import Case
from assistant.errors import NothingFound
from assistant.incidents.confirm import Ruling, incident_of
from assistant.incidents.library import load_incidents
from assistant.incidents.models import Incident
from assistant.intake.models import ProgressHook, Source
from assistant.retrieval.corpus import gather
from assistant.retrieval.documents import Document
from assistant.tui.ports import Look, Table
from assistant.tui.workplace import Workplace

PATIENCE = 30.0
"""Seconds after which a condition counts as failed."""


async def until(pilot: Pilot[Any], holds: Callable[[], object]) -> None:
    """Lets the application work until something holds."""
    start = time.monotonic()
    while not holds():
        if time.monotonic() - start > PATIENCE:
            raise AssertionError("waited in vain")
        await pilot.pause()
        await asyncio.sleep(0.01)


async def opened(pilot: Pilot[Any]) -> Workplace:
    """The workplace, once it is there and settled."""
    await until(pilot, lambda: isinstance(pilot.app.screen, Workplace) and pilot.app.screen.is_mounted)
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, Workplace)
    return screen


def text_of(app: App[Any]) -> str:
    """What stands on the screen, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size)
    assert len(lines) <= height
    return "\n".join(strip.text[:width].rstrip() for strip in lines)


class TestWorkshop:
    """Opens what it is given; keeps sessions in a folder."""

    __test__ = False

    def __init__(
        self, folder: Path, opening: Callable[[ProgressHook], Table], *, answerer: Answerer | None = None,
        session: Session | None = None, look: Look | None = None, attaching: Table | None = None,
        keep: bool = True,
    ) -> None:  # fmt: skip
        self.sessions = SessionStore(folder)
        self.folder = folder / "chat"
        self.look = look or Look()
        self.confirmed: list[Ruling] = []
        self.closed = False
        self._keep = keep
        self._opening, self._answerer, self._session, self._attaching = opening, answerer, session, attaching

    def open(self, hook: ProgressHook) -> Table:
        return self._opening(hook)

    def attach(self, table: Table, files: Sequence[str], hook: ProgressHook) -> Table:
        assert self._attaching is not None
        return self._attaching

    def source(self, table: Table, name: str) -> Source:
        return table.calls.desk.source(name)

    def sources(self, table: Table) -> tuple[Source, ...]:
        return table.calls.desk.sources if table.examination is not None else ()

    def answerer(self, table: Table, hypotheses: Mapping[str, Hypothesis]) -> Answerer:
        return self._answerer or table.offline

    def begin(self, table: Table, answerer: Answerer) -> SessionWriter | None:
        if not self._keep:
            return None
        if self._session is not None:
            return self.sessions.resume(self._session.header.session)[1]
        case = table.case
        return self.sessions.new(case=case.case, revision=case.revision, answerer=answerer.name, program="test")

    def earlier(self) -> Session | None:
        return self._session

    def turn_to(self, table: Table, session: Session | None) -> None:
        self._session = session

    def confirm(self, case: Case, ruling: Ruling) -> str:
        self.confirmed.append(ruling)
        return incident_of(case, ruling).id

    def incidents(self) -> Sequence[Incident]:
        return [filed.incident for filed in load_incidents()[0]]

    def page(self, key: str) -> Document | Incident:
        found = next((one for one in self.incidents() if f"incident:{one.id}" == key), None)
        pages = gather().find(key)
        if found is None and not pages:
            raise NothingFound("no document of that name", hint="search for it")
        return found or pages[0]

    def close(self) -> None:
        self.closed = True
