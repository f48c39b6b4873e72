"""What launchers and libraries say about who runs where: maps from their FACT lines."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assistant.intake.nodelists import expand_numbers
from assistant.intake.numerals import whole
from assistant.intake.topology import Topology, task_counts

Fact = Mapping[str, str]

BLOCK = 12
"""Lines within which parts of one launcher message (rendezvous result, failure block) stand together."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launcher's rendezvous result: which global rank each of its local ranks is."""

    stream: int
    ranks: dict[int, int]
    restart: int = 0
    line: int = 0


@dataclass(slots=True)
class Maps:
    """Everything that launcher lines map, each with the line it stands on."""

    launches: list[Launch] = field(default_factory=list)
    node_of_rank: dict[int, tuple[str, str]] = field(default_factory=dict)
    """rank -> (node, how)."""
    node_of_task: dict[int, tuple[str, str]] = field(default_factory=dict)
    rank_of_process: dict[str, tuple[int, str]] = field(default_factory=dict)
    """`host/pid` -> (rank, how)."""
    device_of_process: dict[str, str] = field(default_factory=dict)


def read_maps(facts: Sequence[Fact], topology: Topology, keys: Mapping[int, str]) -> Maps:
    """Gather all maps. `keys`: each stream's writer key, by stream id."""
    maps = Maps(launches=list(_launches(facts)))
    _failure_blocks(facts, maps)
    _pairs(facts, maps)
    _srun_errors(facts, maps)
    _task_blocks(facts, topology, maps)
    _processes(facts, topology, keys, maps)
    return maps


def _where(fact: Fact) -> str:
    return f"line {fact.get('line', '?')}"


def _line(fact: Fact) -> int:
    return int(fact.get("line") or 0)


def _by_stream(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        found[fact.get("stream", "")].append(fact)
    return found


def _numbers(text: str) -> list[int]:
    values = _literal(text)
    return [value for value in values if isinstance(value, int)] if isinstance(values, list) else []


def _literal(text: str) -> object:
    """What a Python literal stands for; None for anything else."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _launches(facts: Sequence[Fact]) -> Iterable[Launch]:
    """torchrun prints `restart_count`, `group_rank`, `local_ranks` and `global_ranks` in this order, a line each."""
    for stream, own in _by_stream(f for f in facts if f.get("dialect") == "torchrun").items():
        restart = 0
        local: list[int] = []
        for fact in own:
            restart = int(fact.get("restart_count", restart))
            local = _numbers(fact["local_ranks"]) if "local_ranks" in fact else local
            if "global_ranks" in fact and local:
                ranks = dict(zip(local, _numbers(fact["global_ranks"]), strict=False))
                yield Launch(int(stream or 0), ranks, restart, _line(fact))
                local = []
    yield from _static_launches(facts)


def _static_launches(facts: Sequence[Fact]) -> Iterable[Launch]:
    """A launcher that states its node's number and its ranks a node: they are numbered through."""
    for fact in facts:
        each, group = whole(fact.get("nproc"), 1024), whole(fact.get("group_rank"))
        if each is not None and group is not None:
            yield Launch(int(fact.get("stream") or 0), {i: group * each + i for i in range(each)}, 0, _line(fact))


def _failure_blocks(facts: Sequence[Fact], maps: Maps) -> None:
    """torchelastic's failure block: `host` just above `rank`."""
    for own in _by_stream(f for f in facts if f.get("dialect") == "torchrun").values():
        host: tuple[str, int] | None = None
        for fact in own:
            if "host" in fact:
                host = fact["host"], _line(fact)
            elif "rank" in fact and host and 0 <= _line(fact) - host[1] <= BLOCK:
                maps.node_of_rank.setdefault(int(fact["rank"]), (host[0], f"failure block, {_where(fact)}"))
                host = None


def _pairs(facts: Sequence[Fact], maps: Maps) -> None:
    """Lines that name a rank and its node together, and DeepSpeed's table of them."""
    for fact in facts:
        if fact.get("node") and (rank := whole(fact.get("rank"))) is not None:
            maps.node_of_rank.setdefault(rank, (fact["node"], _where(fact)))
        for node, ranks in _rank_map(fact).items():
            for rank in ranks:
                maps.node_of_rank.setdefault(rank, (node, f"global_rank_mapping, {_where(fact)}"))


def _rank_map(fact: Fact) -> dict[str, list[int]]:
    table = _literal(fact.get("rank_map", "{}"))
    if not isinstance(table, dict):
        return {}
    return {str(k): [int(r) for r in v if isinstance(r, int)] for k, v in table.items() if isinstance(v, list)}


def _srun_errors(facts: Sequence[Fact], maps: Maps) -> None:
    for fact in facts:
        if fact.get("node") and fact.get("tasks"):
            for task in expand_numbers(fact["tasks"]):
                maps.node_of_task.setdefault(task, (fact["node"], f"srun, {_where(fact)}"))


def _task_blocks(facts: Sequence[Fact], topology: Topology, maps: Maps) -> None:
    """Slurm fills nodes in the order of their list; taken only where no line of srun says otherwise."""
    total, each = task_counts(facts)
    hosts = topology.hosts
    each = each or topology.ranks_per_node
    if not hosts or not each or (total or each * len(hosts)) != each * len(hosts):
        return
    placed = {task: hosts[task // each] for task in range(each * len(hosts))}
    if any(placed.get(task) != node for task, (node, _) in maps.node_of_task.items()):
        return
    how = f"host list, {each} task{'s' if each > 1 else ''} a node"
    for task, node in placed.items():
        maps.node_of_task.setdefault(task, (node, how))


def _processes(facts: Sequence[Fact], topology: Topology, keys: Mapping[int, str], maps: Maps) -> None:
    """Ranks of processes in communicators that span the whole job; smaller communicators number their own members."""
    sized = [fact for fact in facts if fact.get("comm_rank") and fact.get("comm_size")]
    world = topology.world_size or max((int(fact["comm_size"]) for fact in sized), default=0)
    for fact in sized:
        process = process_of(fact, keys.get(int(fact.get("stream") or 0), ""))
        if process and fact.get("device"):
            maps.device_of_process.setdefault(process, fact["device"])
        if process and int(fact["comm_size"]) == world and world > 1:
            name = "HCCL" if fact.get("dialect") == "ascend" else "NCCL"
            maps.rank_of_process.setdefault(process, (int(fact["comm_rank"]), f"{name} init, {_where(fact)}"))


def process_of(fact: Fact, key: str) -> str | None:
    """`host/pid` of the process that wrote a fact, from the fact or from its stream's `nccl=` label."""
    if fact.get("node") and fact.get("pid"):
        return f"{fact['node']}/{fact['pid']}"
    labels = [part.removeprefix("nccl=") for part in key.split(";") if part.startswith("nccl=")]
    return labels[0] if labels else None
