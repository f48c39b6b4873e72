"""The models that `--json` prints. Frozen: attaching evidence later makes a new Case."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assistant.case.vocabulary import (
    ActionKind,
    Confidence,
    EvidenceClass,
    NodeState,
    Role,
    Stage,
    Status,
    all_causes,
)


def _known_cause(value: str) -> str:
    if value not in all_causes():
        raise ValueError(f"unknown cause class {value!r}")
    return value


Cause = Annotated[str, AfterValidator(_known_cause)]
"""A cause class, `layer.class`, `none` or `unknown` (see `vocabulary.CAUSES`)."""


class Model(BaseModel):
    """Base of all case models: frozen, closed, documented by attribute docstrings."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Evidence(Model):
    """One place in the logs. Re-reading the source at the offset yields the text."""

    id: str
    """`E1`, `E2`, ... in order of first citation."""
    source: str
    line: int
    """1-based line number in the decompressed stream."""
    offset: int
    """Byte offset of the text in the decompressed stream."""
    text: str
    """Exact text of the record's first cited line, decoded with replacement."""
    node: str | None = None
    rank: int | None = None
    time: str | None = None
    """ISO 8601, UTC where the zone is known; null where the record has no time."""


class Step(Model):
    """One step of an action, with what it risks and how to check and undo it."""

    text: str
    command: str | None = None
    risk: str = ""
    verify: str = ""
    undo: str | None = None


class Action(Model):
    """The one thing to do now."""

    kind: ActionKind
    text: str
    evidence: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


class Alternative(Model):
    """Another explanation that the evidence does not rule out."""

    cause: Cause
    why: str
    evidence: tuple[str, ...] = ()


class Verdict(Model):
    """What broke, how sure we are, and what would settle the doubt."""

    cause: Cause
    statement: str
    confidence: Confidence | None = None
    """Null where there is no cause to be confident of."""
    evidence_class: EvidenceClass
    evidence: tuple[str, ...] = ()
    stage: Stage | None = None
    iteration: int | None = None
    action: Action
    alternatives: tuple[Alternative, ...] = ()
    missing: tuple[str, ...] = ()
    """Measurements or files that would settle the doubt."""
    why: tuple[str, ...] = ()
    """The argument in short sentences, each naming the evidence it rests on."""
    fault: str | None = None
    """Id of the fault-library entry that matched, if one did."""


class Candidate(Model):
    """A node, rank or device with a score and reasons. A suspect is a candidate that is blamed."""

    node: str | None = None
    rank: int | None = None
    device: str | None = None
    score: float
    """0 to 1; comparable within one case only."""
    reasons: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


class NodeReport(Model):
    """One node: the ranks it ran, its state, and how far it came."""

    node: str
    ranks: tuple[int, ...] = ()
    state: NodeState
    last_iteration: int | None = None
    last_time: str | None = None
    why: str = ""


class Failure(Model):
    """A further failure, independent of the first."""

    verdict: Verdict
    suspects: tuple[Candidate, ...] = ()


class Attempt(Model):
    """One try of the launcher to run the job; the top level describes the last one."""

    number: int
    started: str | None = None
    ended: str | None = None
    outcome: str
    """`failed`, `succeeded`, `cancelled`, `restarted`, `unknown`."""
    last_iteration: int | None = None


class EventReport(Model):
    """A failure-indicating event: a template with its occurrences and its role."""

    id: str
    template: str
    role: Role
    count: int
    nodes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    evidence: tuple[str, ...] = ()
    parameters: tuple[tuple[str, ...], ...] = ()
    """Distinct values that stood in the template's slots, slot by slot, of the first few occurrences."""
    why: str = ""
    """Which pattern or library entry picked it, in words."""
    fault: str | None = None
    score: float = 0.0


class NotRead(Model):
    """Something that was given but not (wholly) read."""

    source: str
    why: str


class Job(Model):
    """What the logs say about the job itself."""

    id: str | None = None
    world_size: int | None = None
    nodes: int | None = None
    framework: str | None = None
    outcome: str
    topology: dict[str, int] = Field(default_factory=dict)
    """Sizes of the parallel groups where known: tp, pp, dp, ep, cp."""


class PatternReport(Model):
    """What one of the three comparisons did: ran, was switched off, or could not run and why."""

    name: Literal["cross_job", "spatial", "temporal"]
    ran: bool
    note: str


class Timing(Model):
    """The only part of a Case that differs between two runs on the same input."""

    seconds: float
    bytes: int


class Case(Model):
    """Everything known about one job. `schema_` is spelled `schema` in JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, populate_by_name=True, serialize_by_alias=True
    )

    schema_: Literal["rootrank.case/1"] = Field(default="rootrank.case/1", alias="schema")
    case: str
    """Stable id derived from the input, `c-` and ten hex digits."""
    revision: int = 1
    status: Status
    job: Job
    verdict: Verdict
    suspects: tuple[Candidate, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    nodes: tuple[NodeReport, ...] = ()
    failures: tuple[Failure, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    events: tuple[EventReport, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    patterns: tuple[PatternReport, ...] = ()
    notes: tuple[str, ...] = ()
    """One-line remarks on the reading: broken UTF-8, cut lines, clock skew, ..."""
    not_read: tuple[NotRead, ...] = ()
    timing: Timing
