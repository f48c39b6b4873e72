"""How each rank stands: suspicion, last iteration, last line, errors. Knows no screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from assistant.case.models import Case
from assistant.case.vocabulary import NodeState
from assistant.diagnosis.ledger import iso
from assistant.patterns.models import RankProgress
from assistant.pipeline import Examination
from assistant.tui.views.heat import UNKNOWN

_Key = tuple[str | None, int | None]


@dataclass(frozen=True, slots=True)
class Standing:
    """One rank of a node, or a node of which no rank is known."""

    node: str
    rank: int | None
    state: NodeState
    score: float
    """Of the candidate; 0 where it is none."""
    blamed: bool
    last_iteration: int | None
    last_time: str
    errors: int
    """Failure-indicating records it wrote."""


ORDERS: dict[str, Callable[[Standing], tuple[object, ...]]] = {
    "suspicion": lambda one: (-one.score, one.node, _rank(one)),
    "iteration": lambda one: (one.last_iteration is None, one.last_iteration or 0, one.node, _rank(one)),
    "time": lambda one: (one.last_time == "", one.last_time, one.node, _rank(one)),
    "errors": lambda one: (-one.errors, one.node, _rank(one)),
    "name": lambda one: (one.node, _rank(one)),
}
"""By what the table can be sorted: the most telling first."""


def _rank(one: Standing) -> int:
    return -1 if one.rank is None else one.rank


def standings(case: Case, seen: Examination | None) -> list[Standing]:
    """All ranks of all nodes, the most suspicious first."""
    scores = {(one.node, one.rank): one.score for one in reversed(case.candidates)}
    blamed = {(one.node, one.rank) for one in case.suspects}
    reach = {one.rank: one for one in seen.findings.temporal.progress if one.rank is not None} if seen else {}
    errors = _errors(seen, case)
    found: list[Standing] = []
    for node in case.nodes:
        for rank in node.ranks or (None,):
            own = reach.get(rank) if rank is not None else None
            key = (node.node, rank)
            found.append(Standing(
                node.node, rank, node.state, scores.get(key, scores.get((node.node, None), 0.0)),
                key in blamed or (node.node, None) in blamed,
                own.last_iteration if own else node.last_iteration,
                (iso(own.last_time) if own else node.last_time) or "", errors[key],
            ))  # fmt: skip
    placed = {rank for node in case.nodes for rank in node.ranks}
    found += [_unplaced(rank, own, scores, blamed, errors) for rank, own in reach.items() if rank not in placed]
    return sorted(found, key=lambda one: ORDERS["suspicion"](one))


def _unplaced(
    rank: int, own: RankProgress, scores: Mapping[_Key, float], blamed: Collection[_Key], errors: Counter[_Key]
) -> Standing:
    """A rank of which no line tells the node."""
    key = (own.node, rank)
    state = NodeState.AFFECTED if key in blamed else NodeState.CHANGED if errors[key] else NodeState.HEALTHY
    return Standing(
        own.node or UNKNOWN, rank, state, scores.get(key, 0.0), key in blamed, own.last_iteration,
        iso(own.last_time) or "", errors[key],
    )  # fmt: skip


def _errors(seen: Examination | None, case: Case) -> Counter[tuple[str | None, int | None]]:
    counted: Counter[tuple[str | None, int | None]] = Counter()
    if seen is None:
        counted.update((item.node, item.rank) for item in case.evidence)
        return counted
    scan = seen.reading.scan
    reported = {event.id for event in case.events}
    for one in scan.indicators:
        if one.record.template >= 0 and scan.templates[one.record.template].id in reported:
            stream = scan.streams[one.record.stream]
            counted[stream.node, stream.rank] += one.count
    return counted
