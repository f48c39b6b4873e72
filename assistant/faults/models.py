"""The shape of an entry of `knowledge/faults/*.yaml` (each file holds a list of entries)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from assistant.case.models import Cause, Model, Step
from assistant.case.vocabulary import ActionKind, Stage
from assistant.faults.axes import Axes


class FaultRole(StrEnum):
    """What a matching record usually is."""

    ROOT = "root"
    CASCADE = "cascade"
    """A victim's report: something else failed first (collective timeout, connection reset by a peer)."""
    CONFIRMATION = "confirmation"
    """Confirms a root that another record shows (exit code 137 beside an OOM-killer line); a root only if alone."""
    TEARDOWN = "teardown"
    """Written while the job is being taken down."""
    BENIGN = "benign"
    """Looks like a failure, is none."""


class Specificity(StrEnum):
    """How much a match proves by itself; orders entries that match the same record."""

    DECISIVE = "decisive"
    SPECIFIC = "specific"
    GENERIC = "generic"


class Blame(StrEnum):
    """Whom a match blames when it is the initiating event."""

    WRITER = "writer"
    """The rank (or node) whose stream holds the record."""
    SUBJECT = "subject"
    """The rank, node or device named by the regex's groups; the writer where no group matched."""
    ODD_ONE_OUT = "odd_one_out"
    """Each record compares its writer with rank 0: few writers differ themselves; where all others write, it does."""
    NOBODY = "nobody"


class Signature(Model):
    """One way a fault shows in text.

    `regex` is in the RE2 subset (no look-around, no back-references); `(?i)` allowed. It is matched on whole records,
    so `.` does not cross lines and `(?s)` does. Named groups: `rank`, `local_rank`, `task`, `node`, `device`, `pid`,
    `peer`, `iteration`, `exitcode`, `signal`.
    """

    regex: str
    where: Literal["any", "rank", "launcher", "kernel", "scheduler"] = "any"
    requires: tuple[str, ...] = ()
    """Regexes that must also match the record."""
    excludes: tuple[str, ...] = ()
    """Regexes that must not match the record."""


class Reference(Model):
    """Where a fact stands and how it was checked."""

    source: str
    checked: Literal["read", "secondary", "unverified"]


class FaultAction(Model):
    """What to do when this is the root cause."""

    kind: ActionKind
    text: str
    steps: tuple[Step, ...] = ()


class Examples(Model):
    """Lines that a test runs: each of `match` fires this entry first among roots, none of `no_match` fires it."""

    match: tuple[str, ...] = Field(min_length=1)
    no_match: tuple[str, ...] = ()


class Fault(Model):
    """One entry of the library."""

    id: str
    """kebab-case, stable, unique."""
    title: str
    cause: Cause
    role: FaultRole
    specificity: Specificity = Specificity.SPECIFIC
    blame: Blame = Blame.WRITER
    stage: Stage | None = None
    """The stage this fault belongs to by its nature; None where it can happen anywhere."""
    axes: Axes | None = None
    """How the failure studies would sort it."""
    signatures: tuple[Signature, ...] = Field(min_length=1)
    explains: tuple[str, ...] = ()
    """Ids of entries that usually follow from this one."""
    beside: tuple[str, ...] = ()
    """Ids of other root entries that may match the same text without being wrong; the matcher's order decides."""
    does_not_prove: str = ""
    explanation: str
    action: FaultAction
    settles: tuple[str, ...] = ()
    """Measurements or files that would settle the doubt."""
    references: tuple[Reference, ...] = ()
    examples: Examples
