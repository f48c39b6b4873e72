"""Where everything of a replica comes from: which real node and rank each of its nodes and ranks copies, and what is
its own: names, clocks, pids, delays. All of it follows from one seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from evals.scale.original import Original
from evals.truth import Provable

PER_NODE = 8
"""Ranks a node, as on ordinary accelerator servers. A job with one rank a node keeps that: none of its launchers shows
how the guilty one's neighbours are stopped."""
SKEW = 30.0
"""Largest difference between two nodes' clocks, seconds."""
GROUP = 8
"""Nodes whose ranks share the innermost communicator with each other."""
HOP = (0.05, 0.4)
"""How much later each further communicator notices a failure, seconds."""
LATEST = 20.0
"""Longest delay of a cascade, seconds."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node of the replica."""

    index: int
    name: str
    template: int
    """Index of the real node that it copies."""
    locals: tuple[int, ...]
    """The real local rank that each of its ranks copies."""
    skew: float
    delay: float
    """How much later it notices the failure, seconds."""
    pid: int
    """Of its launcher; its workers follow."""
    run_folder: str
    address: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole replica."""

    original: Original
    nodes: tuple[NodePlan, ...]
    special: dict[int, tuple[int, ...]]
    """Replica ranks of each real rank that something was done to, or that is guilty."""
    struck: dict[int, int]
    """Replica node of each real node that holds such ranks."""
    failed_at: float | None
    """When the failure began on the real clock; later lines are delayed."""
    seed: int

    @property
    def per_node(self) -> int:
        """Ranks a node."""
        return len(self.nodes[0].locals)

    @property
    def ranks(self) -> int:
        """World size."""
        return len(self.nodes) * self.per_node

    def node_for(self, real: int, near: NodePlan) -> int:
        """The replica node that a mention of a real node means, in the logs of `near`."""
        if real == near.template:
            return near.index
        if real in self.struck:
            return self.struck[real]
        return 0 if real == 0 else (near.index + real - near.template) % len(self.nodes)

    def rank_for(self, real: int, near: NodePlan, local: int | None) -> int:
        """The replica rank that a mention of a real rank means, in the logs of a rank of `near`."""
        real_size = self.original.per_node
        own = near.index * self.per_node + (local or 0)
        own_real = near.template * real_size + near.locals[local or 0]
        if local is not None and real == own_real:
            return own
        if real in self.special:
            return self.special[real][0]
        if real // real_size == near.template and real % real_size in near.locals:
            return near.index * self.per_node + near.locals.index(real % real_size)
        return 0 if real == 0 else (own + real - own_real) % self.ranks


def special_ranks(original: Original) -> frozenset[int]:
    """Real ranks that something was done to or that are guilty, by themselves or with their node.

    Where that is every rank, nothing has a place of its own, and there is none.
    """
    truth, names = original.truth, [node.name for node in original.nodes]
    found = {one.rank for one in truth.injected if one.rank is not None}
    nodes = {one.node for one in truth.injected if one.rank is None and one.node}
    for seen in _all_provable(truth.provable):
        found |= set(seen.ranks)
        nodes |= set(seen.nodes) if not seen.ranks else set()
    first = {name: index * original.per_node for index, name in enumerate(names)}
    whole = {first[name] + local for name in nodes if name in first for local in range(original.per_node)}
    special = frozenset(rank for rank in found | whole if 0 <= rank < truth.world_size)
    return special if len(special) < truth.world_size else frozenset()


def _all_provable(seen: Provable) -> Iterable[Provable]:
    yield seen
    for further in seen.further:
        yield from _all_provable(further)


def make_plan(original: Original, ranks: int, seed: int) -> Plan:
    """Draws a replica of `ranks` ranks.

    Raises ValueError where the real job has no ordinary rank to copy, or `ranks` is too few or no multiple of eight.
    """
    size = PER_NODE if original.per_node > 1 else 1
    count = ranks // size
    if ranks % size or count < len(original.nodes):
        raise ValueError(f"{ranks} ranks: must be a multiple of {size} and at least {len(original.nodes)} nodes")
    draw = random.Random(f"{original.truth.job}/{ranks}/{seed}")
    special = special_ranks(original)
    struck = _struck(original, special, count, draw)
    templates = _templates(original, struck, count, draw)
    locals_ = [
        _locals(original, template, index, count, size, special, draw) for index, template in enumerate(templates)
    ]
    nodes = _nodes(original, templates, locals_, struck, draw)
    return Plan(original, nodes, _places(original, nodes, special, struck), struck, failed_at(original), seed)


def unique_ranks(original: Original) -> tuple[int, ...]:
    """Ranks that log what no other does: the first, and in a pipeline the last, which alone knows the loss."""
    return (0, original.truth.world_size - 1) if original.truth.recipe == "pipeline" else (0,)


def _struck(original: Original, special: frozenset[int], count: int, draw: random.Random) -> dict[int, int]:
    """A place for each real node with special ranks: nodes of unique ranks keep theirs, stages stay in their half."""
    fixed = _fixed_nodes(original, count)
    taken = {node: index for node, index in fixed.items() if any(original.node_of(rank) == node for rank in special)}
    for node in sorted({original.node_of(rank) for rank in special} - set(taken)):
        half = _half(node, len(original.nodes), count)
        free = [index for index in half if index not in taken.values() and index not in fixed.values()]
        taken[node] = draw.choice(free)
    return taken


def _fixed_nodes(original: Original, count: int) -> dict[int, int]:
    """The replica node of each real node with a unique rank: the first, or the last."""
    return {original.node_of(rank): 0 if rank == 0 else count - 1 for rank in unique_ranks(original)}


def _half(node: int, of: int, count: int) -> range:
    """The half of the replica's nodes that stands for the half of the real ones that a node is in."""
    middle = count // 2
    return range(middle) if 2 * node < of else range(middle, count)


def _templates(original: Original, struck: dict[int, int], count: int, draw: random.Random) -> list[int]:
    """The real node that each replica node copies; those with a unique rank only where there is no other."""
    total, fixed = len(original.nodes), _fixed_nodes(original, count)
    ordinary = [node for node in range(total) if node not in struck]
    if not ordinary:
        raise ValueError(f"{original.truth.job}: every node is guilty")
    placed = {index: node for node, index in (fixed | struck).items()}
    plain = [node for node in ordinary if node not in fixed]
    staged = original.truth.recipe == "pipeline"
    chosen = []
    for index in range(count):
        alike = [node for node in ordinary if index in _half(node, total, count)]
        best = [node for node in alike if node in plain]
        choice = draw.choice(_first_filled(best, alike if staged else [], plain, ordinary))
        chosen.append(placed.get(index, choice))
    return chosen


def _first_filled(*lists: list[int]) -> list[int]:
    return next(each for each in lists if each)


def _locals(
    original: Original, template: int, index: int, count: int, size: int, special: frozenset[int], draw: random.Random
) -> tuple[int, ...]:
    """Which real local rank each of a node's ranks copies. A special one is copied once, a unique one at its place."""
    own = range(original.per_node)
    first = template * original.per_node
    marked = [local for local in own if first + local in special]
    if len(marked) == original.per_node:
        return tuple(local % original.per_node for local in range(size))
    unique = {rank - first: 0 if rank == 0 else size - 1 for rank in unique_ranks(original) if rank - first in own}
    here = index == _fixed_nodes(original, count).get(template)
    ordinary = [local for local in own if local not in marked]
    later = [local for local in ordinary if local not in unique] or ordinary
    chosen = [draw.choice(later) for _ in range(size)]
    fixed = {place: local for local, place in unique.items() if here}
    free = [place for place in range(size) if place not in fixed]
    moving = [local for local in marked if local not in fixed.values()]
    for place, local in (fixed | dict(zip(draw.sample(free, len(moving)), moving, strict=True))).items():
        chosen[place] = local
    return tuple(chosen)


def _nodes(
    original: Original,
    templates: list[int],
    locals_: list[tuple[int, ...]],
    struck: dict[int, int],
    draw: random.Random,
) -> tuple[NodePlan, ...]:
    names = host_names([node.name for node in original.nodes], len(templates), draw)
    sources = sorted(struck.values()) or [0]
    hop = draw.uniform(*HOP)
    late = original.truth.provable.status.value == "failed"
    made = []
    for index, template in enumerate(templates):
        hops = min(_hops(index, source, len(templates)) for source in sources)
        delay = min(LATEST, hops * hop * draw.uniform(0.8, 1.2)) if late else 0.0
        folder = _run_folder(original.nodes[template].run_folder, draw)
        address = f"10.{64 + index // 65536}.{index // 256 % 256}.{index % 256}"
        pid = draw.randint(1200, 3_900_000)
        skew = round(draw.uniform(0, SKEW), 3)
        made.append(NodePlan(index, names[index], template, locals_[index], skew, delay, pid, folder, address))
    return tuple(made)


def _hops(index: int, source: int, count: int) -> int:
    """Communicators between two nodes: those of a group share one, groups stand in a ring."""
    groups = max(1, -(-count // GROUP))
    apart = abs(index // GROUP - source // GROUP)
    return min(apart, groups - apart)


def host_names(real: list[str], count: int, draw: random.Random) -> list[str]:
    """Names in the manner of the real ones: the last number counts on."""
    found = re.match(r"(.*?)(\d+)(\D*)$", real[0])
    head, tail = (found[1], found[3]) if found else (f"{real[0]}-", "")
    start = draw.randint(1, 200)
    numbers = sorted(draw.sample(range(start, start + 2 * count), count))
    return [f"{head}{number:04d}{tail}" for number in numbers]


def _run_folder(real: str, draw: random.Random) -> str:
    head, _, tail = real.partition("_")
    return f"{head}_{''.join(draw.choice(_LETTERS) for _ in tail)}" if tail else real


def _places(
    original: Original, nodes: tuple[NodePlan, ...], special: frozenset[int], struck: dict[int, int]
) -> dict[int, tuple[int, ...]]:
    """Replica ranks of each special real rank."""
    places: dict[int, tuple[int, ...]] = {}
    for rank in sorted(special):
        node, local = divmod(rank, original.per_node)
        if node in struck:
            copies = [place for place, real in enumerate(nodes[struck[node]].locals) if real == local]
            places[rank] = tuple(struck[node] * len(nodes[0].locals) + place for place in copies)
    return places


def failed_at(original: Original) -> float | None:
    """When something was first done to the real job, UTC epoch seconds."""
    times = [datetime.fromisoformat(one.time).timestamp() for one in original.truth.injected if one.time]
    return min(times) if times else None
