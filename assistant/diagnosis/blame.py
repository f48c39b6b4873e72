"""Whom a root blames: the places of its first strike, or those whose process ended with it, or nobody."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.diagnosis.exits import Exit
from assistant.diagnosis.groups import Spread, spread
from assistant.diagnosis.initiating import is_victim
from assistant.diagnosis.models import Exhibit, Group, Place, Population
from assistant.diagnosis.order import CLOCK_TOLERANCE
from assistant.diagnosis.theory import Bench, Blamed
from assistant.faults.models import Blame, Fault
from assistant.signals.models import SignalKind

SHARED_WITHIN_A_NODE = ("config.", "code.import", "launch.", "platform.")
"""Causes that lie in what all ranks of a node share (code, settings, software), so never in one rank alone."""
FILES = ("data.missing", "storage.missing_path", "checkpoint.")
"""Causes in files: shared by a node where several ranks miss them, a rank's own where only one does."""
PROGRAM = ("code.", "data.", "config.", "numerics.", "storage.missing_path", "checkpoint.")
"""Causes that the program or its input brings to every rank alike sooner or later."""
OF_A_MACHINE = ("hardware.", "network.link", "scheduler.node_fail")
"""Causes for which the only node of a job may be blamed as such."""
TOGETHER = 5.0
"""Seconds within which equal errors on several ranks count as one strike and not as one infecting the next."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The blamed places, or why nobody is blamed."""

    blamed: tuple[Blamed, ...] = ()
    nobody: str = ""


def judge(group: Group, bench: Bench, reasons: tuple[str, ...]) -> Judgement:
    """Whom a group blames if it is the root."""
    fault = group.fault
    if fault is None or fault.blame is Blame.NOBODY:
        return Judgement(nobody="an outside decision, no fault of a rank")
    if fault.blame is Blame.ODD_ONE_OUT:
        return _odd_one_out(group, bench, reasons)
    struck = _struck(group, bench)
    reason = _all_alike(struck, group, bench.people) or _shared(group, fault, bench) or _alone(struck, fault, bench)
    if reason:
        return Judgement(nobody=reason)
    placed = _placed(group, bench, reasons) or _ended(group, bench)
    placed = tuple(b for b in placed if _may_be_blamed(b.place, fault, bench.people))
    return Judgement(placed) if placed else Judgement(nobody="the logs do not say which rank or node it was")


def _odd_one_out(group: Group, bench: Bench, reasons: tuple[str, ...]) -> Judgement:
    """Writers that each say to differ from rank 0: who of them stands alone."""
    writers = frozenset(e.writer.rank for e in group.exhibits if e.stands and e.writer.rank is not None)
    size = bench.people.size
    if (first := _first_alone(writers, bench.people)) is not None:
        why = "all other ranks say that they differ from it"
        return Judgement((Blamed(first, 0.9, (why,), group.exhibits),))
    if not writers or len(writers) * 2 >= size:
        return Judgement(nobody="who of them differs cannot be told from the rest")
    return Judgement(_placed(group, bench, reasons))


def _first_alone(writers: frozenset[int], people: Population) -> Place | None:
    """Rank 0, or its node, where all ranks elsewhere and none there report a difference."""
    node = people.node_of.get(0)
    fellows = people.ranks_on(node) if node else frozenset()
    for alone in (frozenset({0}), fellows | {0}):
        if len(alone) * 2 < people.size and writers == frozenset(range(people.size)) - alone:
            return Place(node, 0 if len(alone) == 1 else None)
    return None


def _struck(group: Group, bench: Bench) -> frozenset[int]:
    """The ranks that the group strikes; where its lines name none, those that ended by themselves in its way."""
    told = frozenset(e.place.rank for e in _guilty(group, bench) if e.place.rank is not None)
    if told and not (group.fault and group.fault.cause.startswith("process.")):
        return told
    return told | {end.place.rank for end in _ends_of(group, bench) if end.place.rank is not None}


def _ends_of(group: Group, bench: Bench) -> list[Exit]:
    victims = {e.writer.rank for g in bench.groups if g.waits for e in g.exhibits}
    ends = [end for end in bench.ends if end.by_itself and end.place.rank not in victims]
    if group.nodes:
        ends = [end for end in ends if end.place.node is None or end.place.node in group.nodes]
    cause = group.fault.cause if group.fault else ""
    return [end for end in ends if end.cause == cause] if cause.startswith("process.") else ends


def _all_alike(ranks: frozenset[int], group: Group, people: Population) -> str:
    if spread(ranks, group.nodes, people) is Spread.ALL:
        return "all ranks fail alike"
    program = group.fault is not None and group.fault.cause.startswith(PROGRAM)
    several = len(ranks) >= 2 and spread(ranks, group.nodes, people) is not Spread.ONE_NODE
    if program and several and len(ranks) * 2 >= people.size:
        return "every rank that could still report fails alike"
    return ""


def _shared(group: Group, fault: Fault, bench: Bench) -> str:
    """Code, files and settings are shared by the ranks of a node: only a node among others can stand alone."""
    if not fault.cause.startswith(SHARED_WITHIN_A_NODE) or fault.blame is Blame.SUBJECT:
        return ""
    nodes = {bench.people.node_of.get(rank) for rank in group.ranks} | set(group.nodes)
    nodes.discard(None)
    if len(nodes) == 1 and len(bench.people.nodes) > 1:
        return ""
    if not nodes and not bench.people.nodes and len(group.ranks) == 1 and _others_wait(group, bench):
        return ""
    return "what failed is shared by all ranks, no rank's own fault"


def _others_wait(group: Group, bench: Bench) -> bool:
    """Most of the other ranks got past what failed here and then missed this one."""
    waiting = {e.writer.rank for g in bench.groups if g.waits for e in g.exhibits if e.stands} - group.ranks - {None}
    return len(waiting) * 2 >= bench.people.size > 1


def _alone(ranks: frozenset[int], fault: Fault, bench: Bench) -> str:
    """A program's error on the only rank whose lines are at hand may as well be every rank's."""
    lone = len(ranks) == 1 and bench.people.ranks == ranks and not bench.ends
    return "no other rank's lines are at hand to compare with" if lone and fault.cause.startswith(PROGRAM) else ""


def _placed(group: Group, bench: Bench, reasons: tuple[str, ...]) -> tuple[Blamed, ...]:
    cause = group.fault.cause if group.fault else ""
    by_node = cause.startswith(SHARED_WITHIN_A_NODE) or (cause.startswith(FILES) and len(group.ranks) != 1)
    places: dict[Place, list[Exhibit]] = {}
    for exhibit in _first_strike(_guilty(group, bench)):
        place = _node_of(exhibit.place, bench.people) if by_node else exhibit.place
        if place.known or place.device:
            places.setdefault(place, []).append(exhibit)
    if any(place.rank is not None for place in places):
        places = {place: found for place, found in places.items() if place.rank is not None or place.device}
    ordered = sorted(places.items(), key=lambda item: (item[0].rank is None, item[0].rank or 0, item[0].node or ""))
    return tuple(Blamed(place, 0.95, reasons, tuple(found)) for place, found in ordered)


def _node_of(place: Place, people: Population) -> Place:
    """The node, with its rank where it runs only one."""
    if place.node is None:
        return place
    ranks = people.ranks_on(place.node)
    return Place(place.node, next(iter(ranks)) if len(ranks) == 1 else None)


def _guilty(group: Group, bench: Bench) -> list[Exhibit]:
    """The standing exhibits without those of ranks that had lost a peer before, unless that leaves none."""
    waits = [e for g in bench.groups if g.waits for e in g.exhibits if e.stands]
    standing = [exhibit for exhibit in group.exhibits if exhibit.stands]
    return [exhibit for exhibit in standing if not is_victim(exhibit, waits)] or standing


def _first_strike(standing: list[Exhibit]) -> list[Exhibit]:
    start = standing[0].record.time if standing else None
    if start is None:
        return standing
    within = TOGETHER + CLOCK_TOLERANCE
    return [e for e in standing if e.record.time is None or e.record.time - start <= within]


def _ended(group: Group, bench: Bench) -> tuple[Blamed, ...]:
    """Unsigned lines belong to the process that ended by itself, or to the first that its launcher saw end."""
    ends = [end for end in _ends_of(group, bench) if end.place.rank is not None]
    if len(ends) > 1:
        first = {s.rank for s in bench.findings.signals if s.kind is SignalKind.FIRST_FAILURE}
        ends = [end for end in ends if end.place.rank in first]
    if len(ends) != 1:
        return ()
    reason = (f"the process that its launcher saw end by itself ({ends[0].words})",)
    return (Blamed(ends[0].place, 0.8, reason, (), (ends[0],)),)


def _may_be_blamed(place: Place, fault: Fault, people: Population) -> bool:
    """The only node of a job is not blamed for what its ranks did."""
    machine = fault.cause.startswith(OF_A_MACHINE)
    if place.rank is not None or (place.device is not None and machine):
        return True
    return machine or len(people.nodes) > 1 or place.node not in people.nodes
