"""Who wrote each stream: node, rank, local rank and device, and how that is known.

Sources of truth, best first: a rank that the label or the path names, a rank that the stream's own start-up lines
state, communicator set-up, the launcher's table, the task number where tasks are ranks. A local rank becomes a rank
only through its own launcher's lines or in a job of one node. Nothing is guessed from a number inside a message; what
cannot be known stays None, and `how` says why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from assistant.intake.claims import Claim, integer, make_claims
from assistant.intake.crowds import Crowds, crowds, share_folders
from assistant.intake.launchers import Fact, Maps, process_of, read_maps
from assistant.intake.models import Source, Stream, WriterKind
from assistant.intake.origins import origins
from assistant.intake.places import place
from assistant.intake.topology import Topology, read_topology, task_counts
from assistant.intake.workers import rank_workers


def resolve(
    streams: Sequence[Stream],
    sources: Sequence[Source],
    facts: Sequence[Fact],
    *,
    topology: Topology | None = None,
) -> tuple[Stream, ...]:
    """The streams with node, rank, local_rank, device, kind, attempt and how filled in; order and ids stay.

    Args:
        facts: FACT marks: named groups, and `stream` (id), `source`, `line`, `dialect`.
        topology: the job's shape, read from the facts where not given.
    """
    shape = topology or read_topology(facts)
    maps = read_maps(facts, shape, {stream.id: stream.key for stream in streams})
    claims = make_claims(streams, sources, facts)
    for step in (_from_labels, _from_paths):
        for claim in claims:
            step(claim)
    crowded = crowds(claims)
    for claim in claims:
        _from_own_lines(claim, crowded)
    share_folders(claims)
    for claim in claims:
        _from_process(claim, maps)
    _share_processes(claims)
    rank_workers(claims, maps, shape)
    _from_tasks(claims, facts, shape)
    _from_indexes(claims, shape)
    place(claims, maps, shape, facts)
    labelled = frozenset(claim.stream.group for claim in claims if _OUTER_PARTS & claim.parts.keys())
    apart = any(claim.rank is not None or claim.local is not None for claim in claims)
    return tuple(_finished(claim, _kind(claim, claim.stream.group in labelled, apart)) for claim in claims)


def one_process(source: Source) -> bool:
    """Whether a source's path says that a single process wrote it."""
    return origins([source])[source.id].names_one_process


def _from_labels(claim: Claim) -> None:
    parts = claim.parts
    label = "the label on its lines"
    claim.take("rank", integer(parts.get("rank")), label)
    claim.take("local", integer(parts.get("local")), label)
    claim.take("node", parts.get("node") or parts.get("pod"), label)
    claim.task = integer(parts.get("task"))
    for name in ("nccl", "ray"):
        host, slash, _ = parts.get(name, "").partition("/")
        claim.process = claim.process or parts.get(name)
        claim.take("node", host if slash else None, "the process label on its lines")


def _from_paths(claim: Claim) -> None:
    origin = claim.origin
    path = "the path"
    if not _names_other_writer(claim):
        claim.take("rank", origin.rank, path)
        claim.take("local", origin.local_rank, path)
        claim.take("device", origin.device, path)
        claim.task = claim.task if claim.task is not None else origin.task
        if origin.pid:
            claim.process = claim.process or f"{origin.node or ''}/{origin.pid}"
    if not claim.parts.get("nccl"):
        claim.take("node", origin.node, path)


def _names_other_writer(claim: Claim) -> bool:
    """The line's label names a process of its own inside a file that many wrote."""
    return bool(claim.parts) and not claim.origin.names_one_process


_RANK_GROUPS = ("rank", "own_rank", "index")
_HOST_GROUPS = ("env_host", "host", "ssh_host", "node")
_HOST_DIALECTS = frozenset({"topology", "voir", "mlperf"})


def _single(facts: Iterable[Fact], groups: Sequence[str], skip: Callable[[Fact], bool]) -> tuple[set[str], Fact | None]:
    """Distinct values of some groups over facts, and a fact that has one."""
    found: dict[str, Fact] = {}
    for fact in facts:
        for group in groups:
            if fact.get(group) and not skip(fact):
                found.setdefault(fact[group], fact)
    return set(found), next(iter(found.values()), None)


def _about_others(fact: Fact) -> bool:
    """Lines in which a launcher speaks of its workers, or a line names another place than its writer's."""
    return fact.get("dialect") in ("torchrun", "slurm") or (bool(fact.get("node")) and bool(fact.get("rank")))


def _from_own_lines(claim: Claim, crowded: Crowds) -> None:
    for name, groups in (("rank", _RANK_GROUPS), ("local", ("local_rank",)), ("device", ("device",))):
        values, fact = _single(claim.facts, groups, _about_others)
        many = len(values) > 1 or (bool(values) and not claim.parts and crowded.holds(claim, values))
        if many and name in ("rank", "local"):
            claim.mixed = claim.mixed or (claim.rank is None and claim.local is None)
        elif fact and not claim.mixed:
            text = next(iter(values))
            value = text if name == "device" else integer(text)
            claim.take(name, value, f"its own start-up, line {fact.get('line')}")
    if claim.rank is None and not claim.parts and not claim.origin.names_one_process and len(claim.facts) > 1:
        claim.mixed = claim.mixed or len({process_of(f, "") for f in claim.facts if f.get("pid") and f.get("node")}) > 1
    if claim.mixed:
        return
    values, fact = _single(claim.facts, _HOST_GROUPS, lambda f: f.get("dialect") not in _HOST_DIALECTS)
    if fact and len(values) == 1 and (claim.parts or claim.origin.names_one_process or "ssh_host" in fact):
        claim.take("node", next(iter(values)), f"its own line {fact.get('line')}")


def _from_process(claim: Claim, maps: Maps) -> None:
    """A stream's process: its label, its path, or the only one its lines name; then what is known of that process."""
    named = {process for fact in claim.facts if fact.get("pid") and (process := process_of(fact, claim.stream.key))}
    single = bool(claim.parts) or claim.origin.names_one_process
    if claim.process is None and len(named) == 1 and not claim.mixed and single:
        claim.process = next(iter(named))
        claim.take("node", claim.process.partition("/")[0] or None, "its NCCL lines")
    if claim.process and not claim.mixed:
        rank = maps.rank_of_process.get(claim.process)
        if rank:
            claim.take("rank", rank[0], rank[1])
        claim.take("device", maps.device_of_process.get(claim.process), "communicator set-up")
    ranks = {fact["comm_rank"] for fact in claim.facts if fact.get("comm_rank") and fact.get("dialect") == "ascend"}
    if len(ranks) == 1 and claim.origin.pid:
        claim.take("rank", integer(next(iter(ranks))), "its HCCL lines")


def _share_processes(claims: Sequence[Claim]) -> None:
    """Files of one process (`plog-<pid>_...` in several folders) share what any of them knows."""
    groups: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.process and claim.origin.pid:
            groups[claim.process].append(claim)
    for process, members in groups.items():
        for name in ("rank", "device", "local"):
            known = {getattr(claim, name) for claim in members} - {None}
            if len(known) == 1:
                for claim in members:
                    claim.take(name, next(iter(known)), f"other files of process {process.rpartition('/')[2]}")


def _from_tasks(claims: Sequence[Claim], facts: Sequence[Fact], shape: Topology) -> None:
    """Tasks are ranks unless each runs a launcher of its own."""
    tasked = [claim for claim in claims if claim.task is not None]
    if not tasked:
        return
    verdict = _meaning_of_tasks(tasked, facts, shape)
    for claim in tasked:
        if verdict:
            claim.take("rank", claim.task, f"its task number: {verdict}")
        elif claim.rank is None:
            claim.how.append("no rank: each task is a launcher, and no line maps its workers")


def _meaning_of_tasks(tasked: Sequence[Claim], facts: Sequence[Fact], shape: Topology) -> str | None:
    """Why tasks are ranks; None where each task is a node's launcher."""
    known = [(c.task, c.rank) for c in tasked if c.rank is not None]
    if any(task == rank and task for task, rank in known) and all(task == rank for task, rank in known):
        return "other tasks' ranks equal theirs"
    tasks = {claim.task for claim in tasked}
    stated, each = task_counts(facts)
    count = stated or max(t for t in tasks if t is not None) + 1
    inner = any(claim.local is not None or "rank" in claim.parts or "nccl" in claim.parts for claim in tasked)
    if (shape.world_size or 0) == count and count > 1:
        return f"as many tasks as ranks ({count})"
    if any(task != rank for task, rank in known) or inner:
        return None
    if shape.world_size and shape.world_size > count and shape.nodes == count:
        return None
    if each and each > 1:
        return f"{each} tasks a node"
    if each == 1 and (shape.ranks_per_node or 0) > 1:
        return None
    return "srun started one process a rank, as far as the lines show"


def _from_indexes(claims: Sequence[Claim], shape: Topology) -> None:
    """Files named by a bare number are ranks where there are as many of them as ranks."""
    indexed = [claim for claim in claims if claim.origin.index is not None and claim.rank is None]
    numbers = {claim.origin.index for claim in indexed}
    if shape.world_size and numbers == set(range(shape.world_size)):
        for claim in indexed:
            claim.take("rank", claim.origin.index, "the file's number, one file a rank")
    else:
        for claim in indexed:
            claim.how.append("no rank: the file's number is not known to be one")


def _finished(claim: Claim, kind: WriterKind) -> Stream:
    if claim.rank is None and claim.local is not None and not any(note.startswith("no rank") for note in claim.how):
        claim.how.append("no rank: its local rank is known, but no line of its launcher says which rank that is")
    if kind is WriterKind.LAUNCHER and not claim.parts:
        claim.how.append("unlabelled lines beside its workers' are the launcher's or the job script's")
    return replace(
        claim.stream,
        kind=kind,
        node=claim.node,
        rank=claim.rank,
        local_rank=claim.local,
        device=claim.device,
        attempt=claim.origin.attempt if claim.origin.attempt is not None else claim.stream.attempt,
        how="; ".join(claim.how) or "nothing names its writer",
    )


_OUTER_PARTS = frozenset({"task", "local", "node", "pod", "rank"})


def _kind(claim: Claim, beside_labels: bool, workers_apart: bool) -> WriterKind:
    """What wrote a stream.

    Args:
        beside_labels: other lines of its source carry their worker's label, so that unlabelled ones are not workers'.
        workers_apart: the job's workers have streams of their own, so that launcher lines are the launcher's alone.
    """
    if claim.rank is not None or claim.local is not None:
        return WriterKind.RANK
    if claim.origin.kind and claim.origin.kind is not WriterKind.RANK:
        return claim.origin.kind
    if claim.task is not None or (beside_labels and not claim.parts and not claim.mixed):
        return WriterKind.LAUNCHER
    launcher_lines = {fact.get("dialect") for fact in claim.facts} & {"torchrun", "slurm", "deepspeed"}
    if launcher_lines and workers_apart and not claim.mixed:
        return WriterKind.LAUNCHER
    return WriterKind.NODE if claim.node and not claim.mixed else WriterKind.MIXED
