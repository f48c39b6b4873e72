"""A theory says what started the failure. Five kinds are tried; the best founded one becomes the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.case.vocabulary import Confidence, EvidenceClass
from assistant.diagnosis.exits import Exit
from assistant.diagnosis.initiating import Weighed
from assistant.diagnosis.models import Exhibit, Findings, Group, Place, Population
from assistant.diagnosis.silence import Silent
from assistant.faults.models import Fault
from assistant.signals.models import Signal


@dataclass(frozen=True, slots=True)
class Blamed:
    """A place that a theory blames, and why."""

    place: Place
    score: float
    reasons: tuple[str, ...]
    exhibits: tuple[Exhibit, ...] = ()
    ends: tuple[Exit, ...] = ()
    signals: tuple[Signal, ...] = ()
    """Facts from elsewhere that it rests on."""


@dataclass(frozen=True, slots=True)
class Theory:
    """What started it, who is to blame, how sure."""

    cause: str
    title: str
    """The cause in words that fit behind "Rank 7: ..."."""
    confidence: Confidence
    evidence_class: EvidenceClass
    blamed: tuple[Blamed, ...] = ()
    nobody: str = ""
    """Why nobody is blamed, where nobody is."""
    group: Group | None = None
    """The initiating group, if an exhibit shows the start."""
    fault: Fault | None = None
    reasons: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    rivals: tuple[Weighed, ...] = ()
    """Other groups that could have started it."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What every theory is judged on."""

    findings: Findings
    people: Population
    exhibits: tuple[Exhibit, ...]
    """All exhibits of the last attempt, in order, those that were overcome included."""
    groups: tuple[Group, ...]
    """Groups of the exhibits that stand."""
    ends: tuple[Exit, ...]
    weighed: tuple[Weighed, ...]
    silent: tuple[Silent, ...]
    goal: bool
    """The run reached its goal in the last attempt."""
