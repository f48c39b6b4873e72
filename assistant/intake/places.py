"""Which node each stream was written on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from assistant.intake.claims import Claim
from assistant.intake.launchers import Fact, Maps
from assistant.intake.models import WriterKind
from assistant.intake.topology import Topology, named_nodes


def place(claims: Sequence[Claim], maps: Maps, shape: Topology, facts: Sequence[Fact]) -> None:
    """Nodes: from launcher lines, from a rank's other streams, from its block of ranks, or the only node there is."""
    aliases = dict(pair for fact in facts for pair in named_nodes(fact))
    launched = any(fact.get("dialect") in ("torchrun", "deepspeed") for fact in facts)
    highest = max((claim.rank for claim in claims if claim.rank is not None), default=-1)
    world = shape.world_size or (None if launched else highest + 1)
    tasks_are_ranks = max(maps.node_of_task, default=-1) + 1 == world
    for claim in claims:
        _alias(claim, aliases)
        if claim.rank is not None and claim.rank in maps.node_of_rank:
            claim.take("node", *maps.node_of_rank[claim.rank])
        if claim.task is not None and claim.task in maps.node_of_task:
            claim.take("node", *maps.node_of_task[claim.task])
        elif claim.rank is not None and tasks_are_ranks:
            claim.take("node", *maps.node_of_task.get(claim.rank, (None, "")))
    _share_places(claims)
    _fill_blocks(claims, shape)
    only = _only_node(claims, maps, shape, facts)
    for claim in claims:
        if only and not _elsewhere(claim):
            claim.take("node", only[0], only[1])


def _elsewhere(claim: Claim) -> bool:
    return claim.origin.kind in (WriterKind.KERNEL, WriterKind.SCHEDULER)


def _alias(claim: Claim, aliases: Mapping[str, str]) -> None:
    """A file named after a node of the launcher's list is that node's, whatever its host is called."""
    stem = claim.stream.group.rpartition("/")[2].split(".")[0]
    if stem in aliases:
        host = aliases[stem]
        claim.node = stem
        claim.how = [note for note in claim.how if not note.startswith("node ")]
        claim.how.append(f"node from the file's name, listed by the launcher with host {host}")


def _share_places(claims: Sequence[Claim]) -> None:
    known: dict[int, set[str]] = defaultdict(set)
    for claim in claims:
        if claim.rank is not None and claim.node:
            known[claim.rank].add(claim.node)
    for claim in claims:
        if claim.rank is not None and len(known[claim.rank]) == 1:
            claim.take("node", next(iter(known[claim.rank])), "the same rank's other lines")


def _fill_blocks(claims: Sequence[Claim], shape: Topology) -> None:
    """Ranks are numbered through node by node where everything known fits that."""
    each = shape.ranks_per_node
    if not each or each < 2:
        return
    blocks: dict[int, set[str]] = defaultdict(set)
    for claim in claims:
        if claim.rank is not None and claim.node:
            blocks[claim.rank // each].add(claim.node)
    named = [node for nodes in blocks.values() for node in nodes]
    if any(len(nodes) > 1 for nodes in blocks.values()) or len(set(named)) < len(named):
        return
    for claim in claims:
        nodes = blocks.get(claim.rank // each) if claim.rank is not None else None
        if nodes:
            claim.take("node", next(iter(nodes)), f"its block of {each} ranks, as others in it")


def _only_node(claims: Sequence[Claim], maps: Maps, shape: Topology, facts: Sequence[Fact]) -> tuple[str, str] | None:
    """The node of a job that is known to run on one, where some line names it."""
    one = shape.nodes == 1 or (shape.world_size and shape.world_size == shape.ranks_per_node)
    if not one:
        return None
    named = {claim.node for claim in claims if claim.node}
    named |= {node for node, _ in [*maps.node_of_rank.values(), *maps.node_of_task.values()]}
    named |= set(shape.hosts)
    if not named:
        named = {fact[group] for fact in facts for group in ("host", "env_host") if fact.get(group)}
    return (next(iter(named)), "the only node of the job") if len(named) == 1 else None
