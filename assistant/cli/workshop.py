"""What the terminal workplace asks of the rest: opening, adding files, answerers, sessions, confirming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from assistant.answers.models import Answerer, Hypothesis
from assistant.answers.sessions import Session, SessionStore, SessionWriter
from assistant.case.models import Case
from assistant.case.store import data_dir
from assistant.case.text import clean
from assistant.cli.conversing import Opened, cleared, open_case, session_store, with_more
from assistant.cli.explain import Wanted, answerer_for, writer_for
from assistant.cli.incidents import incident_store, user
from assistant.cli.request import again
from assistant.cli.understanding import learn
from assistant.errors import NothingFound
from assistant.incidents.confirm import Ruling, incident_of
from assistant.paths import locate
from assistant.tui.ports import Look, Table

if TYPE_CHECKING:
    from assistant.config import Settings
    from assistant.incidents.models import Incident
    from assistant.intake.models import ProgressHook, Source
    from assistant.retrieval.documents import Document


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person turns to: a session, or a new one about the same case."""

    session: Session | None


class CommandWorkshop:
    """The workplace's port, made of what the commands use."""

    look: Look

    def __init__(
        self, settings: Settings, targets: tuple[str, ...], added: tuple[str, ...], profile: str | None,
        session: Session | None, job: str | None = None,
    ) -> None:  # fmt: skip
        self.look = Look(settings.tui.theme, settings.tui.mouse, settings.tui.keys)
        self.sessions: SessionStore = session_store(settings)
        self.folder: Path = data_dir(settings.storage.data_dir) / "chat"
        self._settings, self._targets, self._added, self._job = settings, targets, added, job
        self._wanted = Wanted("text", profile, True, settings.cases.save)
        self._session = session
        self._prompt = ""
        self._opened: Opened | None = None
        self._next: Turn | None = None

    def open(self, hook: ProgressHook) -> Table:
        """Reads the logs, or the stored case; for another conversation about the same case nothing is read again."""
        before, wanted = self._opened, self._next
        case = wanted.session.header.case if wanted is not None and wanted.session is not None else None
        if before is None:
            opened = open_case(
                self._targets, self._added, self._settings, save=self._wanted.save, bar=False, hook=hook, job=self._job
            )
        elif case in (None, before.case.case):
            opened = cleared(before, self._settings)
        else:
            opened = open_case((case,), (), self._settings, save=self._wanted.save, bar=False, hook=hook)
        if wanted is not None:
            self._session, self._next = wanted.session, None
        return self._laid(opened)

    def attach(self, table: Table, files: Sequence[str], hook: ProgressHook) -> Table:
        """The next revision, with further files."""
        return self._laid(with_more(self._now(), files, self._settings, save=self._wanted.save, hook=hook))

    def _laid(self, opened: Opened) -> Table:
        if self._opened is not None:
            self._opened.search.close()
        self._opened = opened
        return Table(
            opened.case, opened.calls, opened.offline, opened.seen, opened.before, opened.added, unkept=opened.unkept
        )

    def source(self, table: Table, name: str) -> Source:
        """The log of that name; of a stored case its files are listed, not read."""
        if table.examination is not None:
            return table.calls.desk.source(name)
        found = [one for one in self.sources(table) if one.name == name]
        if not found:
            raise NothingFound(f"{clean(name)} is not there any more", hint="the lines that the case cites are kept")
        return found[0]

    def sources(self, table: Table) -> tuple[Source, ...]:
        """All logs of the case; those of a stored one are listed, not read."""
        if table.examination is not None:
            return table.calls.desk.sources
        from assistant.intake.discover import discover

        inputs = self._now().inputs
        assert inputs is not None
        return discover(again(inputs, ()).paths).sources

    def answerer(self, table: Table, hypotheses: Mapping[str, Hypothesis]) -> Answerer:
        """Who answers."""
        Thread(target=learn, args=(self._settings,), daemon=True).start()
        answerer, self._prompt = answerer_for(self._now(), self._settings, self._wanted, self._session)
        return answerer

    def begin(self, table: Table, answerer: Answerer) -> SessionWriter | None:
        """A writer for a new session, or for the one that goes on."""
        return writer_for(self._now(), self._settings, self._wanted, answerer.name, self._prompt, self._session)

    def earlier(self) -> Session | None:
        """The session that was asked for by name."""
        return self._session

    def turn_to(self, table: Table, session: Session | None) -> None:
        """What `open` opens next; the present session stays until it has done so."""
        self._next = Turn(session)

    def confirm(self, case: Case, ruling: Ruling) -> str:
        """Stores what a person says of the verdict; returns the incident's id."""
        said = replace(ruling, by=ruling.by or user())
        return incident_store(self._settings).add(incident_of(case, said)).id

    def incidents(self) -> list[Incident]:
        """The public ones and the team's; a team's own replaces a public one of its id."""
        from assistant.incidents.library import load_incidents

        public = (filed.incident for filed in load_incidents()[0])
        return list({one.id: one for one in (*public, *incident_store(self._settings).all()[0])}.values())

    def page(self, key: str) -> Document | Incident:
        """An incident as it is stored, any other document as the search has it."""
        from assistant.retrieval.corpus import gather

        kind, _, name = key.partition(":")
        if kind == "incident" and (found := next((one for one in self.incidents() if one.id == name), None)):
            return found
        pages = gather(locate("knowledge")).find(key)
        if not pages:
            raise NothingFound(f"there is no {clean(key)}", hint="the search lists what there is: /knowledge WORDS")
        return pages[0]

    def close(self) -> None:
        """Closes the search."""
        if self._opened is not None:
            self._opened.search.close()

    def _now(self) -> Opened:
        assert self._opened is not None, "open() comes first"
        return self._opened
