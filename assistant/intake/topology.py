"""The size and shape of a job, from what its own lines state: world size, nodes, parallel groups, framework, hosts."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import yaml

from assistant.errors import UsageError
from assistant.intake.models import Stream
from assistant.intake.nodelists import expand_hosts
from assistant.intake.numerals import whole

Fact = Mapping[str, str]

SIZES = ("world_size", "nodes", "ranks_per_node", "tp", "pp", "dp", "ep", "cp")
LARGEST = 1_000_000
"""Sizes above this are misreadings."""
_MESH = {"dp": "dp", "dp_shard": "dp", "dp_replicate": "dp", "fsdp": "dp", **{n: n for n in ("tp", "pp", "cp", "ep")}}
_FRAMEWORKS = {
    "megatron": "megatron-lm", "deepspeed": "deepspeed", "nemo": "nemo", "lightning": "lightning", "voir": "milabench",
    "hf-trainer": "transformers", "torchtitan": "torchtitan", "mindspore": "mindspore", "maxtext": "maxtext",
}  # fmt: skip
"""Which framework a dialect's facts show, more specific ones first."""


@dataclass(frozen=True, slots=True)
class Topology:
    """What is known of a job's shape; None where the logs do not say."""

    world_size: int | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    tp: int | None = None
    pp: int | None = None
    dp: int | None = None
    ep: int | None = None
    cp: int | None = None
    framework: str | None = None
    job_id: str | None = None
    hosts: tuple[str, ...] = ()
    """Host names in the launcher's order, where a host list stands in the log."""

    @property
    def sizes(self) -> dict[str, int]:
        """The parallel groups whose sizes are known."""
        named = {name: getattr(self, name) for name in ("tp", "pp", "dp", "ep", "cp")}
        return {name: size for name, size in named.items() if size}


def read_topology(
    facts: Sequence[Fact], given: Mapping[str, int] | None = None, framework: str | None = None
) -> Topology:
    """The shape that most facts agree on; `given` (an option or a file) wins over the log."""
    votes = _votes(facts)
    sizes = {name: _winner(votes.get(name, Counter())) for name in SIZES}
    sizes["world_size"] = _world_size(votes.get("world_size", Counter()), sizes) or _largest_group(facts)
    hosts = _hosts(facts)
    if not sizes["nodes"] and hosts:
        sizes["nodes"] = len(hosts)
    sizes.update({name: size for name, size in (given or {}).items() if name in SIZES})
    sizes = _completed(sizes)
    job = next((fact[name] for fact in facts for name in ("job", "submitted") if fact.get(name)), None)
    return Topology(**sizes, framework=framework or _framework(facts), job_id=job, hosts=hosts)


def with_streams(topology: Topology, streams: Sequence[Stream]) -> Topology:
    """The topology with what identified streams add where no line states it: all ranks seen, all of them placed."""
    node_of = {stream.rank: stream.node for stream in streams if stream.rank is not None and stream.node}
    ranks = {stream.rank for stream in streams if stream.rank is not None}
    world = topology.world_size
    if world is None and len(ranks) > 1 and ranks == set(range(len(ranks))):
        world = len(ranks)
    nodes = topology.nodes
    if nodes is None and world and len(node_of) == world:
        nodes = len(set(node_of.values()))
    return replace(topology, world_size=world, nodes=nodes)


_SPELLINGS = {
    "world_size": "world_size", "env_world_size": "world_size", "nnodes": "nodes", "nproc": "ranks_per_node",
    "tasks_per_node": "tasks_per_node", "tasks_each": "tasks_per_node", "ntasks": "ntasks",
    "tp": "tp", "pp": "pp", "dp": "dp", "ep": "ep", "cp": "cp",
}  # fmt: skip


def _votes(facts: Sequence[Fact]) -> dict[str, Counter[int]]:
    votes: dict[str, Counter[int]] = {}
    for fact in facts:
        for group, size in _SPELLINGS.items():
            text = fact.get(group, "")
            if number := whole(text, LARGEST):
                votes.setdefault(size, Counter())[number] += 1
        for name, number in _mesh(fact):
            votes.setdefault(name, Counter())[number] += 1
    return votes


def _mesh(fact: Fact) -> list[tuple[str, int]]:
    """Sizes of a device mesh; replicated and sharded data parallelism multiply."""
    try:
        names, numbers = ast.literal_eval(fact["mesh_names"]), ast.literal_eval(fact["mesh_sizes"])
        pairs = [(_MESH[name], int(number)) for name, number in zip(names, numbers, strict=True) if name in _MESH]
    except (KeyError, ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return []
    return [(name, prod(n for each, n in pairs if each == name)) for name in dict.fromkeys(name for name, _ in pairs)]


def _winner(votes: Counter[int]) -> int | None:
    """The number stated most often, the larger one where two are."""
    return max(votes, key=lambda number: (votes[number], number)) if votes else None


def _world_size(votes: Counter[int], sizes: Mapping[str, int | None]) -> int | None:
    """The number stated most often; one that the nodes and their ranks multiply to wins."""
    expected = (sizes.get("nodes") or 0) * (sizes.get("ranks_per_node") or 0)
    return expected if expected in votes else _winner(votes)


def _largest_group(facts: Sequence[Fact]) -> int | None:
    """The size of the largest communicator, which spans the job unless only parts of it were logged."""
    sizes = [whole(fact.get("comm_size"), LARGEST) for fact in facts]
    return max((size for size in sizes if size and size > 1), default=None)


def _completed(sizes: dict[str, int | None]) -> dict[str, int | None]:
    """Fill in what follows from the rest."""
    world, nodes, each = sizes.get("world_size"), sizes.get("nodes"), sizes.get("ranks_per_node")
    if world is None and nodes and each:
        world = nodes * each
    if nodes is None and world and each and world % each == 0:
        nodes = world // each
    if each is None and world and nodes and world % nodes == 0:
        each = world // nodes
    return {**{name: sizes.get(name) for name in SIZES}, "world_size": world, "nodes": nodes, "ranks_per_node": each}


def task_counts(facts: Sequence[Fact]) -> tuple[int | None, int | None]:
    """(tasks in all, tasks on each node) of the labelled srun step, where the log states them."""
    votes = _votes(facts)
    return _winner(votes.get("ntasks", Counter())), _winner(votes.get("tasks_per_node", Counter()))


def _hosts(facts: Sequence[Fact]) -> tuple[str, ...]:
    """The longest host list that stands in the log."""
    lists = [expand_hosts(fact["nodelist"]) for fact in facts if fact.get("nodelist")]
    lists += [tuple(host for _, host in named_nodes(fact)) for fact in facts if fact.get("nodes_json")]
    return max(lists, key=len, default=())


def named_nodes(fact: Fact) -> list[tuple[str, str]]:
    """(the launcher's name for a node, its host name) of a JSON list of nodes."""
    try:
        entries = json.loads(fact.get("nodes_json", "[]"))
    except (ValueError, RecursionError):
        return []
    entries = [entry for entry in entries if isinstance(entry, dict)]
    return [(str(e.get("name")), str(e.get("hostname") or e.get("name"))) for e in entries if e.get("name")]


def _framework(facts: Sequence[Fact]) -> str | None:
    seen = {fact.get("dialect") for fact in facts}
    return next((name for dialect, name in _FRAMEWORKS.items() if dialect in seen), None)


def read_topology_file(path: Path) -> dict[str, int]:
    """Sizes from a YAML or JSON file, for jobs whose logs do not state them.

    Raises:
        UsageError: the file cannot be read or holds something else than sizes.
    """
    hint = f"Write lines such as `world_size: 64`; known sizes: {', '.join(SIZES)}."
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no YAML or JSON"
        raise UsageError(f"{path}: {reason}", hint=hint) from error
    if not isinstance(raw, dict):
        raise UsageError(f"{path}: holds no sizes", hint=hint)
    wrong = [str(name) for name, size in raw.items() if name not in SIZES or not isinstance(size, int)]
    if wrong:
        raise UsageError(f"{path}: not sizes of a job: {', '.join(wrong)}", hint=hint)
    return dict(raw)
