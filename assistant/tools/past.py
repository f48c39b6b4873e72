"""Past failures like the one on the desk: by what matched, and by what the search finds in their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.errors import RootrankError
from assistant.incidents.comparison import nearest, reasons
from assistant.incidents.models import Incident
from assistant.retrieval.models import Hit, Kind
from assistant.tools.desk import Desk
from assistant.tools.knowledge import case_query

LEAST = 0.2
"""Likeness from which an incident is listed for what it has in common, and not only where the search finds it."""
KINDS: tuple[Kind, ...] = ("incident", "ticket")
MOST = 40


@dataclass(frozen=True, slots=True)
class Past:
    """Something that happened before."""

    key: str
    """`incident:bloom-nccl-hang`, `ticket:OPS-12`."""
    title: str
    date: str
    reasons: tuple[str, ...]
    """Why it is like the case."""
    likeness: float
    """0 to 1, by cause, signature, templates and stage."""
    incident: Incident | None = None
    """None for a ticket, which is only words."""


def alike(desk: Desk, incidents: Iterable[Incident]) -> list[Past]:
    """The incidents that have something in common with the case, the most alike first. Needs no search."""
    found = [one for one in nearest(desk.case, incidents) if one.likeness >= LEAST or one.same_nodes]
    return [
        _past(one.incident, tuple(reasons(desk.case, one.incident)), one.likeness) for one in found[:MOST]
    ]  # fmt: skip


def with_search(desk: Desk, incidents: Sequence[Incident], found: Sequence[Past]) -> tuple[list[Past], tuple[str, ...]]:
    """The same list with what the search finds besides, and what could not be searched."""
    if desk.search is None:
        return list(found), ("the search of knowledge and incidents is not set up here",)
    try:
        answer = desk.search(case_query(desk.case, KINDS, 10))
    except RootrankError as error:
        return list(found), (f"{error.message}; {error.hint}",)
    by_id = {incident.id: incident for incident in incidents if incident.case != desk.case.case}
    known = {one.key for one in found}
    more = [_found(desk, hit, by_id.get(hit.passage.document)) for hit in answer.hits]
    place = {one.key: at for at, one in enumerate(more)}
    found = sorted(found, key=lambda one: (-one.likeness, place.get(one.key, len(more))))
    own = f"incident:i-{desk.case.case.removeprefix('c-')}"
    return [*found, *(one for one in more if one.key not in known and one.key != own)], answer.missing


def _past(incident: Incident, why: tuple[str, ...], likeness: float) -> Past:
    date = incident.date or incident.confirmed_at or ""
    return Past(f"incident:{incident.id}", incident.title, date[:10], why, likeness, incident)


def _found(desk: Desk, hit: Hit, incident: Incident | None) -> Past:
    passage = hit.passage
    why = (*(reasons(desk.case, incident) if incident else ()), f"found by {', '.join(hit.reasons)}")
    if incident is not None:
        return _past(incident, tuple(why), 0.0)
    return Past(f"{passage.kind}:{passage.document}", passage.title, passage.date[:10], tuple(why), 0.0)
