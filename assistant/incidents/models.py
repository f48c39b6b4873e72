"""One incident: a failure whose cause is known, public or a team's own. The shape of `knowledge/incidents/*.yaml`."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from assistant.case.models import Cause, Model
from assistant.case.vocabulary import ActionKind, Stage

Checked = Literal["read", "secondary", "unverified"]
"""How the facts of an entry were checked: in the source itself, in a retelling of it, or not at all."""

Origin = Literal["public", "team"]


def _spelled(value: object) -> object:
    """YAML reads an unquoted `2024-05-01` as a date and `2022` as a number; both are text to us."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Spelled = Annotated[str, BeforeValidator(_spelled)]
"""Text that YAML may take for a date or a number."""

Day = Annotated[Spelled, Field(pattern=r"^\d{4}(-\d{2}(-\d{2}(T.*)?)?)?$")]
"""A year, a month, a day or an instant, ISO 8601."""


class Sighting(Model):
    """A log template of the failure: its id is the hash of its text, so that it agrees between runs."""

    id: str
    text: str


class Trace(Model):
    """By what an incident is recognised when it comes back."""

    faults: tuple[str, ...] = ()
    """Ids of the fault-library entries that matched."""
    templates: tuple[Sighting, ...] = ()
    """Discriminating templates, the most telling first."""


class Incident(Model):
    """A failure and what it turned out to be."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,119}$")
    title: str
    date: Day | None = None
    source: str = ""
    """Address of the report; for a team's own incident, whatever leads back to it."""
    checked: Checked = "unverified"
    framework: str | None = None
    hardware: str | None = None
    scale: str | None = None
    """How large the job was, in words: `256 GPUs on 32 nodes`."""
    stage: Stage | None = None
    cause: Cause
    symptom: str
    log_lines: tuple[str, ...] = ()
    """Short message texts by which the failure showed."""
    suspect: str | None = None
    """What was blamed at first, or in the end: a node, a rank, a component."""
    root_cause: str
    fix: str = ""
    action: ActionKind = ActionKind.NONE
    lesson: str = ""
    faults: tuple[str, ...] = ()
    """Ids of fault-library entries that this is an instance of."""
    codes: tuple[Spelled, ...] = ()
    """Exact tokens under which it must be found: `Xid 79`, `exit 137`."""

    origin: Origin = "public"
    case: str | None = None
    """Id of the Case that was confirmed."""
    job: str | None = None
    nodes: tuple[str, ...] = ()
    """Nodes that were found guilty, or affected where none was."""
    ranks: tuple[int, ...] = ()
    trace: Trace = Trace()
    evidence: tuple[str, ...] = ()
    """Texts of the log lines that the verdict rested on."""
    confirmed_by: str | None = None
    confirmed_at: Day | None = None
    note: str = ""
    revision: int = Field(default=1, ge=1)
    """Counts up with each correction."""
