"""Put exhibits that say the same together, and tell how far over the job a group spreads."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from assistant.diagnosis.models import Exhibit, Group, Population
from assistant.faults.models import Specificity

MOST = 0.75
"""Share of the ranks from which on "many" counts as "all": a launcher kills the rest before they can report."""


class Spread(StrEnum):
    """How far a group reaches."""

    ONE_RANK = "one rank"
    SOME_RANKS = "some ranks"
    ONE_NODE = "one node"
    ALL = "all"
    UNPLACED = "unplaced"


def group(exhibits: Iterable[Exhibit]) -> list[Group]:
    """Groups in order of their first exhibit; the exhibits must be in order."""
    buckets: dict[str, list[Exhibit]] = {}
    for exhibit in exhibits:
        buckets.setdefault(_key(exhibit), []).append(exhibit)
    return [_as_group(key, members) for key, members in buckets.items()]


def _key(exhibit: Exhibit) -> str:
    if exhibit.fault is None:
        return f"?{exhibit.record.template}"
    if exhibit.specificity is Specificity.GENERIC:
        return f"{exhibit.fault.id}?{exhibit.record.template}"
    return exhibit.fault.id


def _as_group(key: str, members: list[Exhibit]) -> Group:
    ranks = frozenset(e.place.rank for e in members if e.place.rank is not None)
    nodes = frozenset(e.place.node for e in members if e.place.node is not None)
    return Group(key, members[0].fault, tuple(members), ranks, nodes)


def spread(ranks: frozenset[int], nodes: frozenset[str], people: Population) -> Spread:
    """How far a set of ranks and nodes reaches over the job."""
    if not ranks:
        return _spread_of_nodes(nodes, people)
    if len(ranks) == 1:
        return Spread.ONE_RANK
    homes = {people.node_of.get(rank) for rank in ranks}
    if len(homes) == 1 and None not in homes and len(people.nodes) > 1:
        return Spread.ONE_NODE
    return Spread.ALL if len(ranks) >= MOST * people.size else Spread.SOME_RANKS


def _spread_of_nodes(nodes: frozenset[str], people: Population) -> Spread:
    if not nodes:
        return Spread.UNPLACED
    if len(nodes) == 1:
        return Spread.ONE_NODE
    return Spread.ALL if len(nodes) >= MOST * len(people.nodes) else Spread.SOME_RANKS
