"""What the terminal workplace asks of the rest: opening, adding files, answerers, sessions, confirming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.answers.models import Answerer, Hypothesis
from assistant.answers.sessions import Session, SessionStore, SessionWriter
from assistant.case.models import Case
from assistant.case.store import data_dir
from assistant.case.text import clean
from assistant.cli.conversing import Opened, open_case, session_store
from assistant.cli.explain import Wanted, answerer_for, writer_for
from assistant.cli.incidents import incident_store, user
from assistant.cli.request import again
from assistant.cli.settings import case_store
from assistant.errors import NothingFound
from assistant.incidents.confirm import Ruling, incident_of
from assistant.paths import locate
from assistant.tui.ports import Look, Table

if TYPE_CHECKING:
    from assistant.config import Settings
    from assistant.incidents.models import Incident
    from assistant.intake.models import ProgressHook, Source
    from assistant.retrieval.documents import Document


class CommandWorkshop:
    """The workplace's port, made of what the commands use."""

    look: Look

    def __init__(
        self, settings: Settings, targets: tuple[str, ...], added: tuple[str, ...], profile: str | None,
        session: Session | None,
    ) -> None:  # fmt: skip
        self.look = Look(settings.tui.theme, settings.tui.mouse, settings.tui.keys)
        self.sessions: SessionStore = session_store(settings)
        self.folder: Path = data_dir(settings.storage.data_dir) / "chat"
        self._settings, self._targets, self._added = settings, targets, added
        self._wanted = Wanted("text", profile, True, settings.cases.save)
        self._session = session
        self._prompt = ""
        self._opened: Opened | None = None

    def open(self, hook: ProgressHook) -> Table:
        """Reads the logs, or the stored case."""
        return self._table(self._open(self._targets, self._added, hook))

    def attach(self, table: Table, files: Sequence[str], hook: ProgressHook) -> Table:
        """The next revision, with further files."""
        if not self._wanted.save:
            # Without a stored case, the logs are read again together with everything that was added so far.
            self._added = (*self._added, *files)
            return self._table(self._open(self._targets, self._added, hook))
        return self._table(self._open((table.case.case,), files, hook))

    def _open(self, targets: Sequence[str], added: Sequence[str], hook: ProgressHook) -> Opened:
        before = self._opened
        opened = open_case(targets, added, self._settings, save=self._wanted.save, bar=False, hook=hook)
        if before is not None:
            before.search.close()
        self._opened = opened
        return opened

    def _table(self, opened: Opened) -> Table:
        return Table(opened.case, opened.calls, opened.offline, opened.seen, opened.before, opened.added)

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

        stored = case_store(self._settings).load(table.case.case, table.case.revision)
        return discover(again(stored.inputs, ()).paths).sources

    def answerer(self, table: Table, hypotheses: Mapping[str, Hypothesis]) -> Answerer:
        """Who answers."""
        answerer, self._prompt = answerer_for(self._now(), self._settings, self._wanted, self._session)
        return answerer

    def begin(self, table: Table, answerer: Answerer) -> SessionWriter | None:
        """A writer for a new session, or for the one that goes on."""
        return writer_for(self._now(), self._settings, self._wanted, answerer.name, self._prompt, self._session)

    def earlier(self) -> Session | None:
        """The session that was asked for by name."""
        return self._session

    def turn_to(self, table: Table, session: Session | None) -> None:
        """What `open` opens next."""
        self._session = session
        if session is not None:
            self._targets, self._added = (session.header.case,), ()
        elif self._wanted.save:
            self._targets, self._added = (table.case.case,), ()

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
