"""A case beside a past incident: what is the same, what is not, and by how much they are alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assistant.case.models import Case
from assistant.case.text import plural, ranges
from assistant.incidents.confirm import trace_of
from assistant.incidents.models import Incident
from assistant.incidents.recurrence import Recurrence, likeness

UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing that can be the same."""

    name: str
    present: str
    past: str
    same: bool | None
    """None where one of the two does not say."""

    @property
    def sign(self) -> str:
        """`=`, `≠` or `?`: it says the same without colour."""
        return "?" if self.same is None else "=" if self.same else "≠"


def aspects(case: Case, incident: Incident) -> list[Aspect]:
    """Cause, stage, signature, templates, node, rank, framework, size: what is the same and what is not."""
    verdict, job = case.verdict, case.job
    nodes = tuple(dict.fromkeys(one.node for one in case.suspects if one.node))
    ranks = tuple(dict.fromkeys(one.rank for one in case.suspects if one.rank is not None))
    counted = ((job.world_size, "rank"), (job.nodes, "node"))
    size = ", ".join(plural(count, noun) for count, noun in counted if count)
    return [
        _aspect("cause", verdict.cause, incident.cause, verdict.cause == incident.cause),
        _aspect("stage", _words(verdict.stage), _words(incident.stage), verdict.stage == incident.stage),
        _signature(case, incident),
        _templates(case, incident),
        _aspect("node", ", ".join(nodes), ", ".join(incident.nodes), bool(set(nodes) & set(incident.nodes))),
        _aspect("rank", ranges(ranks), ranges(incident.ranks), bool(set(ranks) & set(incident.ranks))),
        _aspect("framework", job.framework or "", incident.framework or "", _alike(job.framework, incident.framework)),
        _aspect("size", size, incident.scale or "", None),
        _aspect("remedy", _words(verdict.action.kind), _words(incident.action), verdict.action.kind == incident.action),
    ]  # fmt: skip


def reasons(case: Case, incident: Incident) -> list[str]:
    """Why an incident is like a case, in words; empty where nothing is the same."""
    same = {one.name: one.past for one in aspects(case, incident) if one.same}
    told = [f"same {name}: {same[name]}" for name in ("cause", "node", "rank", "stage", "signature") if name in same]
    return [*told, *([same["log templates"]] if "log templates" in same else [])]


def nearest(case: Case, incidents: Iterable[Incident]) -> list[Recurrence]:
    """All incidents but the case's own, the most alike first, with their reasons."""
    found = [likeness(case, trace_of(case), incident) for incident in incidents if incident.case != case.case]
    return sorted(found, key=lambda one: (-one.likeness, -len(one.same_nodes), one.incident.id))


def _aspect(name: str, present: str, past: str, same: bool | None) -> Aspect:
    return Aspect(name, present or UNKNOWN, past or UNKNOWN, same if present and past else None)


def _signature(case: Case, incident: Incident) -> Aspect:
    mine, theirs = trace_of(case).faults, tuple(dict.fromkeys((*incident.trace.faults, *incident.faults)))
    common = [fault for fault in mine if fault in theirs]
    past = ", ".join(common[:3] or theirs[:3])
    return _aspect("signature", ", ".join(common[:3] or mine[:3]), past, bool(common))


def _templates(case: Case, incident: Incident) -> Aspect:
    mine = {sighting.id for sighting in trace_of(case).templates}
    theirs = {sighting.id for sighting in incident.trace.templates}
    common = len(mine & theirs)
    told = f"{plural(common, 'log template')} in common" if common else f"{len(theirs)}, none in common"
    return _aspect("log templates", str(len(mine)) if mine else "", told if theirs else "", common > 0)


def _alike(one: str | None, other: str | None) -> bool:
    """Names of frameworks are written in several ways: `megatron-lm`, `Megatron-LM, DeepSpeed`."""
    mine, theirs = _letters(one), _letters(other)
    return bool(mine and theirs) and (mine in theirs or theirs in mine)


def _letters(name: str | None) -> str:
    return "".join(letter for letter in (name or "").lower() if letter.isalnum())


def _words(value: str | None) -> str:
    return (value or "").replace("_", " ")
