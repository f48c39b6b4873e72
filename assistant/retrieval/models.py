"""What goes into a search and what comes out of it. Frozen: these are printed as JSON and read by tools."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from assistant.case.models import Model

Kind = Literal["fault", "doc", "incident", "runbook", "ticket"]
"""A library entry, a page of facts, something that happened, a team's own page, an imported ticket."""

KINDS: tuple[Kind, ...] = ("fault", "doc", "incident", "runbook", "ticket")


class Filters(Model):
    """What may be found. An entry that does not say its vendor, framework or version is general, and passes."""

    kinds: tuple[Kind, ...] = ()
    """Empty: all."""
    vendor: str = ""
    layer: str = ""
    framework: str = ""
    version: str = ""
    """A version such as `2.19.3`; entries whose range leaves it out do not pass."""


class Query(Model):
    """What is looked for: words, and what a Case knows besides them."""

    text: str
    filters: Filters = Filters()
    limit: int = Field(default=5, ge=1, le=100)
    faults: tuple[str, ...] = ()
    """Fault-library entries that matched the job, the initiating one first."""
    templates: tuple[str, ...] = ()
    """Ids of the job's failure-indicating templates."""
    stage: str = ""
    """A document about the same stage, framework or vendor is preferred; none is left out for another one."""
    framework: str = ""
    vendor: str = ""
    today: str = ""
    """The day from which an incident's age is counted, ISO 8601; empty: now."""


class Passage(Model):
    """A part of a document, with the place it came from."""

    document: str
    """Id of the document; unique within its kind."""
    kind: Kind
    title: str
    heading: str = ""
    text: str
    source: str = ""
    """Where the fact stands: an address, or what the document was imported from."""
    file: str = ""
    """The file that holds it."""
    line: int = 0
    """1-based line of that file; 0 where the file has no lines of its own for it."""
    layer: str = ""
    vendor: str = ""
    framework: str = ""
    versions: str = ""
    date: str = ""
    checked: str = ""
    codes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    origin: Literal["shipped", "user", "team"] = "shipped"


class Hit(Model):
    """A passage that was found, its document being shown once."""

    passage: Passage
    score: float
    """Comparable within one answer only."""
    reasons: tuple[str, ...]
    """Why it was found: `code Xid 79`, `words #1`, `meaning 0.62`."""
    folded: tuple[str, ...] = ()
    """Documents that say nearly the same and are not listed."""


class Answer(Model):
    """What a search found, or that nothing fits, and which parts of the search were not there."""

    query: str
    fits: bool
    hits: tuple[Hit, ...] = ()
    """Empty where nothing fits."""
    nearest: tuple[Hit, ...] = ()
    """Where nothing fits: what comes nearest all the same, to be looked at and not to be relied on."""
    note: str = ""
    """Where nothing fits: why."""
    missing: tuple[str, ...] = ()
    """Parts of the search that could not take part, each with its remedy."""
