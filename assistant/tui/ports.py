"""What the composition root hands to the workplace, so that the screens know neither commands nor settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from assistant.answers.models import Answerer, Hypothesis
from assistant.answers.sessions import Session, SessionStore, SessionWriter
from assistant.case.models import Case
from assistant.incidents.confirm import Ruling
from assistant.incidents.models import Incident
from assistant.intake.models import ProgressHook, Source
from assistant.pipeline import Examination
from assistant.retrieval.documents import Document
from assistant.tools.calls import Calls


@dataclass(slots=True)
class Table:
    """A case on the table, ready to be asked about."""

    case: Case
    calls: Calls
    offline: Answerer
    seen: Examination | None = None
    """What was read to make the case; None for a stored case whose logs were not read again yet."""
    before: Case | None = None
    """The revision before files were added."""
    added: tuple[str, ...] = ()
    unkept: str = ""
    """Why the case could not be stored."""

    @property
    def examination(self) -> Examination | None:
        """What is read of the logs already; nothing is read for this."""
        return self.seen or self.calls.desk.__dict__.get("examination")


@dataclass(frozen=True, slots=True)
class Look:
    """How the screen looks and which keys it takes."""

    theme: str = ""
    mouse: bool = True
    keys: Mapping[str, str] = field(default_factory=dict)


class Workshop(Protocol):
    """Everything that reaches outside the screen."""

    sessions: SessionStore
    folder: Path
    """Where typed questions and exports are kept."""
    look: Look

    def open(self, hook: ProgressHook) -> Table:
        """Reads the logs, or the stored case. Runs in a thread; raises RootrankError."""
        ...

    def attach(self, table: Table, files: Sequence[str], hook: ProgressHook) -> Table:
        """The next revision, with further files. Runs in a thread; raises RootrankError."""
        ...

    def source(self, table: Table, name: str) -> Source:
        """The log of that name, where it still is. Runs in a thread; raises RootrankError."""
        ...

    def sources(self, table: Table) -> tuple[Source, ...]:
        """All logs of the case, where they still are. Runs in a thread; raises RootrankError."""
        ...

    def answerer(self, table: Table, hypotheses: Mapping[str, Hypothesis]) -> Answerer:
        """Who answers. Runs in a thread, since it may load a model's library; raises RootrankError."""
        ...

    def begin(self, table: Table, answerer: Answerer) -> SessionWriter | None:
        """A writer for a new session; None where nothing is kept."""
        ...

    def earlier(self) -> Session | None:
        """The session that was asked for by name."""
        ...

    def turn_to(self, table: Table, session: Session | None) -> None:
        """What `open` opens next: a session with its case, or the present case in a new session."""
        ...

    def confirm(self, case: Case, ruling: Ruling) -> str:
        """Stores what a person says of the verdict; returns the incident's id. Raises RootrankError."""
        ...

    def incidents(self) -> Sequence[Incident]:
        """All past incidents that are known, public ones and the team's. Runs in a thread; raises RootrankError."""
        ...

    def page(self, key: str) -> Document | Incident:
        """What the search names `doc:...`, `fault:...`, `incident:...`. Runs in a thread; raises RootrankError."""
        ...

    def close(self) -> None:
        """Ends what is open behind the screen."""
        ...


Opening = Callable[[ProgressHook], Table]
