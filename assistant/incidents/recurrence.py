"""Has this been seen before? Compares a case with the team's incidents by what matched, not by words alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from assistant.case.models import Case
from assistant.case.text import clean, plural
from assistant.incidents.confirm import trace_of
from assistant.incidents.models import Incident, Trace

ALIKE = 0.5
"""Likeness from which an incident counts as the same failure."""
WINDOW = timedelta(days=90)
"""How far back a node's earlier failures are counted."""
_FAULT, _TEMPLATE, _CAUSE, _STAGE = 0.4, 0.3, 0.25, 0.05


@dataclass(frozen=True, slots=True)
class Recurrence:
    """An earlier incident that is like the case."""

    incident: Incident
    likeness: float
    """0 to 1."""
    reasons: tuple[str, ...]
    same_nodes: tuple[str, ...] = ()


def recurrences(case: Case, incidents: Iterable[Incident]) -> list[Recurrence]:
    """The incidents that are like a case, the most alike first; the case's own incident is left out."""
    trace = trace_of(case)
    found = [likeness(case, trace, incident) for incident in incidents if incident.case != case.case]
    alike = [one for one in found if one.likeness >= ALIKE]
    return sorted(alike, key=lambda one: (-one.likeness, -len(one.same_nodes), one.incident.id))


def told(case: Case, found: Sequence[Recurrence], *, today: datetime | None = None) -> list[str]:
    """The recurrence in sentences: on the blamed nodes first, then anywhere."""
    if not found:
        return []
    lines = [line for node in _blamed(case) for line in _on_node(node, found, today or datetime.now(UTC))]
    others = [one for one in found if not one.same_nodes]
    if others:
        last = max(others, key=_when)
        where = f" on {clean(', '.join(last.incident.nodes))}" if last.incident.nodes else ""
        lines.append(f"Seen before{where}: {plural(len(others), 'like incident')}, last {_day(last)}{_fix(last)}.")
    return lines


def _on_node(node: str, found: Sequence[Recurrence], today: datetime) -> list[str]:
    here = [one for one in found if node in one.same_nodes and _recent(one, today)]
    if not here:
        return []
    first, last = min(here, key=_when), max(here, key=_when)
    days = max(1, (today.date() - datetime.fromisoformat(_day(first)).date()).days)
    return [f"{_ordinal(len(here) + 1)} time on {clean(node)} in {plural(days, 'day')}, last {_day(last)}{_fix(last)}."]


def likeness(case: Case, trace: Trace, incident: Incident) -> Recurrence:
    """How like a case an incident is, and why. `trace` is the case's own."""
    shared = [fault for fault in trace.faults if fault in (*incident.trace.faults, *incident.faults)]
    common, overlap = _templates(trace, incident.trace)
    same_cause = case.verdict.cause == incident.cause
    same_stage = case.verdict.stage is not None and case.verdict.stage == incident.stage
    leading = bool(shared) and shared[0] == trace.faults[0]
    alike = _FAULT * leading + _TEMPLATE * overlap + _CAUSE * same_cause + _STAGE * same_stage
    nodes = tuple(node for node in _blamed(case) if node in incident.nodes)
    reasons = [f"same known fault: {shared[0]}"] if leading else []
    reasons += [f"{plural(common, 'log template')} in common"] if common else []
    reasons += [f"same cause: {incident.cause}"] if same_cause else []
    reasons += [f"same node: {', '.join(nodes)}"] if nodes else []
    return Recurrence(incident, round(min(1.0, alike), 3), tuple(reasons), nodes)


def _templates(one: Trace, other: Trace) -> tuple[int, float]:
    """How many telling templates are common, and their share of the shorter list."""
    mine, theirs = {sighting.id for sighting in one.templates}, {sighting.id for sighting in other.templates}
    smaller = min(len(mine), len(theirs))
    return len(mine & theirs), len(mine & theirs) / smaller if smaller else 0.0


def _blamed(case: Case) -> tuple[str, ...]:
    return tuple(dict.fromkeys(suspect.node for suspect in case.suspects if suspect.node))


def _recent(found: Recurrence, today: datetime) -> bool:
    return today - WINDOW <= datetime.fromisoformat(_day(found)).replace(tzinfo=UTC) <= today + timedelta(days=1)


def _when(found: Recurrence) -> str:
    return found.incident.date or found.incident.confirmed_at or ""


def _day(found: Recurrence) -> str:
    """A whole day: reports that give only a month or year count from its first day."""
    text = _when(found)[:10] or "1970-01-01"
    return text + "1970-01-01"[len(text) :]


def _fix(found: Recurrence) -> str:
    fix = found.incident.fix or found.incident.note
    return f", last fix: {clean(fix)[:160].rstrip('.')}" if fix else ", no fix was noted"


def _ordinal(number: int) -> str:
    words = {2: "Second", 3: "Third", 4: "Fourth", 5: "Fifth"}
    return words.get(number, f"{number}th")
