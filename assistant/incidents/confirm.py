"""From a case that a person confirms, or corrects, to an incident of the team's memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from assistant.case.models import Case, EventReport
from assistant.case.vocabulary import Role, all_causes
from assistant.errors import UsageError
from assistant.incidents.models import Incident, Sighting, Trace

TEMPLATES = 8
"""Discriminating templates that are kept."""
LINES = 6
_ORDER = {Role.INITIATING: 0, Role.CASCADE: 1, Role.CONTEXT: 2, Role.TEARDOWN: 3}


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a person says of a verdict; what they leave out stays as the case has it."""

    cause: str | None = None
    nodes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    nobody: bool = False
    """Nobody is to blame, whatever the case says."""
    fix: str = ""
    note: str = ""
    by: str = ""


def incident_of(case: Case, ruling: Ruling, *, now: datetime | None = None) -> Incident:
    """The incident that a confirmed case becomes.

    Raises UsageError for a cause class that does not exist, or where neither case nor person names a cause.
    """
    cause = _cause(case, ruling)
    when = (now or datetime.now(UTC)).isoformat(timespec="seconds")
    nodes, ranks = _blamed(case, ruling)
    verdict = case.verdict
    return Incident(
        id=f"i-{case.case.removeprefix('c-')}",
        title=verdict.statement if cause == verdict.cause else f"{cause} (corrected)",
        date=_day(case) or when[:10],
        source=f"case {case.case}, revision {case.revision}",
        checked="read",
        framework=case.job.framework,
        scale=_scale(case),
        stage=verdict.stage,
        cause=cause,
        symptom=verdict.statement,
        log_lines=tuple(event.template for event in telling(case.events)[:LINES]),
        suspect=", ".join([*nodes, *(f"rank {rank}" for rank in ranks)]) or None,
        root_cause=ruling.note or (verdict.statement if cause == verdict.cause else cause),
        fix=ruling.fix,
        action=verdict.action.kind,
        faults=_faults(case),
        origin="team",
        case=case.case,
        job=case.job.id,
        nodes=nodes,
        ranks=ranks,
        trace=trace_of(case),
        evidence=tuple(item.text for item in case.evidence if item.id in verdict.evidence)[:LINES],
        confirmed_by=ruling.by or None,
        confirmed_at=when,
        note=ruling.note,
    )


def trace_of(case: Case) -> Trace:
    """By what a case is recognised when it comes back."""
    events = telling(case.events)
    sightings = tuple(Sighting(id=event.id, text=event.template) for event in events[:TEMPLATES])
    return Trace(faults=_faults(case), templates=sightings)


def telling(events: Iterable[EventReport]) -> list[EventReport]:
    """The events by how much they tell: initiating first, then by score; teardown is left out."""
    kept = [event for event in events if event.role is not Role.TEARDOWN]
    return sorted(kept, key=lambda event: (_ORDER[event.role], -event.score, event.id))


def _cause(case: Case, ruling: Ruling) -> str:
    cause = ruling.cause or case.verdict.cause
    if cause not in all_causes():
        layer = cause.partition(".")[0]
        near = [name for name in sorted(all_causes()) if name.startswith(layer + ".")] or sorted(all_causes())
        raise UsageError(f"unknown cause class {cause!r}", hint=f"for example {', '.join(near[:6])}")
    if cause in ("unknown", "none"):
        raise UsageError(f"the cause of {case.case} is {cause}", hint="say what it was: --cause LAYER.CLASS")
    return cause


def _blamed(case: Case, ruling: Ruling) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if ruling.nobody:
        return (), ()
    if ruling.nodes or ruling.ranks:
        return ruling.nodes, ruling.ranks
    nodes = dict.fromkeys(suspect.node for suspect in case.suspects if suspect.node)
    ranks = dict.fromkeys(suspect.rank for suspect in case.suspects if suspect.rank is not None)
    return tuple(nodes), tuple(ranks)


def _faults(case: Case) -> tuple[str, ...]:
    events = [event.fault for event in telling(case.events) if event.role in (Role.INITIATING, Role.CASCADE)]
    return tuple(dict.fromkeys(fault for fault in (case.verdict.fault, *events) if fault))


def _day(case: Case) -> str | None:
    """The day of the failure, by the evidence; None where no line has a time."""
    times = [item.time for item in case.evidence if item.id in case.verdict.evidence and item.time]
    return min(times)[:10] if times else None


def _scale(case: Case) -> str | None:
    parts = [
        f"{case.job.world_size} ranks" if case.job.world_size else "",
        f"{case.job.nodes} nodes" if case.job.nodes else "",
    ]
    return " on ".join(filter(None, parts)) or None
