"""The theory that an exhibit shows the start: an error that the library knows as a possible root."""

from __future__ import annotations

from assistant.case.vocabulary import Confidence, EvidenceClass
from assistant.diagnosis.groups import Spread, spread
from assistant.diagnosis.initiating import Weighed, blames_nobody
from assistant.diagnosis.models import Exhibit, Group, Place
from assistant.diagnosis.order import CLOCK_TOLERANCE
from assistant.diagnosis.theory import Bench, Blamed, Theory
from assistant.faults.models import Blame, Fault, FaultRole, Specificity

UNIFORM_WITHIN_A_NODE = (
    "config.",
    "code.import",
    "launch.",
    "platform.",
    "data.missing",
    "storage.missing_path",
    "checkpoint.",
)
"""Causes that lie in what all ranks of a node share (code, files, settings), so never in one rank alone."""
TOGETHER = 5.0
"""Seconds within which equal errors on several ranks count as one strike and not as one infecting the next."""
CLEAR = 1.0
"""Weight by which the first theory must lead to be beyond doubt."""


def root_theory(bench: Bench) -> Theory | None:
    """The likeliest root among the exhibits, or None where none can be a root."""
    roots = [w for w in bench.weighed if w.group.fault is not None]
    if not roots:
        return None
    best = roots[0]
    fault = best.group.fault
    assert fault is not None
    nobody = nobody_to_blame(best.group, bench)
    rivals = tuple(w for w in roots[1:] if w.group.fault and w.group.fault.cause != fault.cause)
    return Theory(
        cause=fault.cause,
        title=fault.title,
        confidence=_confidence(best, rivals),
        evidence_class=EvidenceClass.NEEDS_MEASUREMENT if fault.settles else EvidenceClass.LOGS,
        blamed=() if nobody else blamed(best.group, bench, best.reasons),
        nobody=nobody,
        group=best.group,
        fault=fault,
        reasons=best.reasons,
        missing=fault.settles,
        rivals=rivals[:3],
    )


def nobody_to_blame(group: Group, bench: Bench) -> str:
    """Why this root blames nobody, or the empty string."""
    reason = blames_nobody(group, bench.people)
    if reason or group.fault is None:
        return reason
    if _shared_by_nature(group.fault) and not _node_stands_alone(group, bench):
        return "what failed is shared by all ranks, no rank's own fault"
    if _most_that_could_speak(group, bench):
        return "every rank that could still report fails alike"
    return ""


def _shared_by_nature(fault: Fault) -> bool:
    return fault.cause.startswith(UNIFORM_WITHIN_A_NODE) and fault.blame is not Blame.SUBJECT


def _node_stands_alone(group: Group, bench: Bench) -> bool:
    """One node of several shows it, and ranks on other nodes had the chance to show it too."""
    nodes = {bench.people.node_of.get(rank) for rank in group.ranks} | set(group.nodes)
    nodes.discard(None)
    return len(nodes) == 1 and len(bench.people.nodes) > 1


def _most_that_could_speak(group: Group, bench: Bench) -> bool:
    """At least half of the ranks show the same program error: the rest were ended before they could."""
    if group.fault is None or not group.fault.cause.startswith(("code.", "data.", "config.", "numerics.")):
        return False
    if len(group.ranks) < 2 or spread(group.ranks, group.nodes, bench.people) is Spread.ONE_NODE:
        return False
    return len(group.ranks) * 2 >= bench.people.size


def blamed(group: Group, bench: Bench, reasons: tuple[str, ...]) -> tuple[Blamed, ...]:
    """The places of the group's first strike; a whole node where what failed is shared within the node."""
    strike = _first_strike(group)
    by_node = group.fault is not None and _shared_by_nature(group.fault)
    places: dict[Place, list[Exhibit]] = {}
    for exhibit in strike:
        place = Place(exhibit.place.node) if by_node and exhibit.place.node else exhibit.place
        if place.known or place.device:
            places.setdefault(place, []).append(exhibit)
    ordered = sorted(places.items(), key=lambda item: (item[0].rank is None, item[0].rank or 0, item[0].node or ""))
    return tuple(Blamed(place, 0.95, reasons, tuple(found)) for place, found in ordered)


def _first_strike(group: Group) -> list[Exhibit]:
    start = group.first.record.time
    if start is None:
        return list(group.exhibits)
    within = TOGETHER + CLOCK_TOLERANCE
    return [e for e in group.exhibits if e.record.time is None or e.record.time - start <= within]


def _confidence(best: Weighed, rivals: tuple[Weighed, ...]) -> Confidence:
    fault = best.group.fault
    generic = best.group.first.specificity is Specificity.GENERIC or fault is None
    lead = best.weight - rivals[0].weight if rivals else CLEAR
    if fault is not None and fault.role is FaultRole.CONFIRMATION:
        return Confidence.MEDIUM if lead >= CLEAR else Confidence.LOW
    if generic:
        return Confidence.MEDIUM if lead >= CLEAR else Confidence.LOW
    return Confidence.HIGH if lead >= CLEAR else Confidence.MEDIUM
