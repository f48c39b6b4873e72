"""What is true of a replica, from what is true of the real job: who is guilty, and which records say so."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evals.scale.original import Original
from evals.scale.plan import Plan
from evals.truth import Injected, Label, Provable, Truth

Moved = Mapping[tuple[int, str], Mapping[int, tuple[int, int]]]
"""By replica node and console: where each real line went."""

_RANK = re.compile(r"(?<![a-z_])([Rr]ank(?:\\?[ =:\]]| )*)(\d+)")
_LOCAL = re.compile(r"(local_rank: )(\d+)")


def follow(plan: Plan, name: str, twins: tuple[str, ...], moved: Moved) -> Truth:
    """The replica's truth under its own name."""
    truth = plan.original.truth
    return truth.model_copy(
        update={
            "job": name,
            "world_size": plan.ranks,
            "nodes": tuple(node.name for node in plan.nodes),
            "seed": plan.seed,
            "twins": twins,
            "replica_of": truth.job,
            "injected": tuple(one for each in truth.injected for one in _injected(plan, each)),
            "provable": _provable(plan, truth.provable),
            "labels": tuple(_label(plan, label, moved) for label in truth.labels),
            "settings": {**truth.settings, "per_node": plan.per_node},
        }
    )


def _injected(plan: Plan, one: Injected) -> tuple[Injected, ...]:
    """Something that was done to a node was done to all of it; to a rank, to its place alone."""
    if one.rank is None:
        return (one.model_copy(update={"node": _node_name(plan, one.node)}),)
    ranks = plan.special.get(one.rank, ())
    node = plan.nodes[ranks[0] // plan.per_node].name if ranks and one.node else one.node
    return tuple(one.model_copy(update={"rank": rank, "node": node}) for rank in ranks)


def _provable(plan: Plan, seen: Provable) -> Provable:
    return seen.model_copy(
        update={
            "ranks": tuple(sorted(rank for real in seen.ranks for rank in plan.special.get(real, ()))),
            "nodes": tuple(name for node in seen.nodes if (name := _node_name(plan, node))),
            "further": tuple(_provable(plan, further) for further in seen.further),
        }
    )


def _node_name(plan: Plan, real: str | None) -> str | None:
    """The replica's name of a struck node; other nodes have no single counterpart."""
    index = _real_node(plan.original, real)
    return plan.nodes[plan.struck[index]].name if index in plan.struck else None


def _real_node(original: Original, name: str | None) -> int:
    return next((index for index, node in enumerate(original.nodes) if node.name == name), -1)


def _label(plan: Plan, label: Label, moved: Moved) -> Label:
    source, node = _source(plan, label.source)
    first, last = label.first_line, label.last_line
    if node is not None and (first or last):
        places = moved.get((plan.struck[node], label.source.partition("/")[2]), {})
        first = places[first][0] if first is not None and first in places else None
        last = places[last][1] if last is not None and last in places else None
    elif node is None:
        first = last = None
    pattern = _pattern(plan, label.pattern, node)
    return label.model_copy(update={"source": source, "pattern": pattern, "first_line": first, "last_line": last})


def _source(plan: Plan, source: str) -> tuple[str, int | None]:
    """The source of a label, and the struck real node that it names, if any.

    A file of an ordinary node stands for that file on every node.
    """
    host, slash, rest = source.partition("/")
    real = _real_node(plan.original, host)
    if real < 0:
        return source, None
    if real not in plan.struck:
        return f"*{slash}{_any_rank(rest)}", None
    node = plan.nodes[plan.struck[real]]
    old = plan.original.nodes[real].run_folder
    rest = rest.replace(old, node.run_folder) if old else rest
    return f"{node.name}{slash}{_moved_local(plan, rest, real)}", real


def _any_rank(rest: str) -> str:
    return re.sub(r"^torchrun/[^/]+/attempt_(\d+)/\d+/", r"torchrun/*/attempt_\1/*/", rest)


def _moved_local(plan: Plan, rest: str, real: int) -> str:
    def put(found: re.Match[str]) -> str:
        return f"{found[1]}{_local_of(plan, real, int(found[2]))}"

    return re.sub(r"(/attempt_\d+/)(\d+)(?=/)", put, rest)


def _local_of(plan: Plan, real_node: int, real_local: int) -> int:
    copies = plan.nodes[plan.struck[real_node]].locals
    return copies.index(real_local) if real_local in copies else real_local


def _pattern(plan: Plan, pattern: str, node: int | None) -> str:
    """The pattern with the numbers of struck ranks as they are now; host names too."""

    def rank(found: re.Match[str]) -> str:
        places = plan.special.get(int(found[2]))
        return f"{found[1]}{places[0]}" if places and len(places) == 1 else found.group()

    def local(found: re.Match[str]) -> str:
        return f"{found[1]}{_local_of(plan, node, int(found[2]))}" if node is not None else found.group()

    pattern = _LOCAL.sub(local, _RANK.sub(rank, pattern))
    for real, index in plan.struck.items():
        pattern = pattern.replace(plan.original.nodes[real].name, plan.nodes[index].name)
    return pattern
