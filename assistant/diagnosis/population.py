"""The ranks and nodes of a job, gathered from its streams and its topology."""

from __future__ import annotations

from collections.abc import Iterable

from assistant.diagnosis.models import Place, Population
from assistant.events.models import Scan
from assistant.faults.subjects import Subject
from assistant.intake.models import Stream
from assistant.intake.topology import Topology
from assistant.signals.exits import tasks_are_ranks
from assistant.signals.models import Signal


def population(scan: Scan, topology: Topology, signals: Iterable[Signal] = ()) -> Population:
    """Who took part. Launchers know the nodes of ranks whose own lines name none."""
    ranks = {stream.rank for stream in scan.streams if stream.rank is not None}
    nodes = {stream.node for stream in scan.streams if stream.node is not None}
    node_of = {stream.rank: stream.node for stream in scan.streams if stream.rank is not None and stream.node}
    for signal in signals:
        if signal.rank is not None and signal.node is not None:
            node_of.setdefault(signal.rank, signal.node)
    world = topology.world_size
    if world is not None and ranks and max(ranks) >= world:
        world = max(ranks) + 1
    return Population(frozenset(ranks), frozenset(nodes), node_of, world, tasks_are_ranks(scan))


def writer_place(stream: Stream) -> Place:
    """Where a stream's lines come from."""
    return Place(stream.node, stream.rank, stream.device)


def subject_place(subject: Subject, writer: Stream, streams: tuple[Stream, ...], people: Population) -> Place:
    """Whom a record is about, in global ranks: named ranks as they are, local ranks and tasks through their stream.

    A peer that is named by an address which belongs to no known node is somebody unknown, not the writer.
    """
    if subject.peer and subject.node is None and subject.rank is None:
        return Place(subject.peer if subject.peer in people.nodes else None)
    node = subject.node or (writer.node if writer.node else None)
    rank = subject.rank
    if rank is None and subject.task is not None:
        rank = _of_task(subject.task, streams, people)
    if rank is None and subject.local_rank is not None:
        rank = _of_local(subject.local_rank, node, writer, streams)
    if rank is None and subject.node is None:
        rank = writer.rank
    if rank is not None and subject.node is None:
        node = people.node_of.get(rank, node)
    return Place(node, rank, subject.device or (writer.device if rank == writer.rank else None))


def _of_task(task: int, streams: tuple[Stream, ...], people: Population) -> int | None:
    if people.tasks_are_ranks and task in people.ranks:
        return task
    ranks = {s.rank for s in streams if f"task={task}" in s.key.split(";") and s.rank is not None}
    return ranks.pop() if len(ranks) == 1 else None


def _of_local(local: int, node: str | None, writer: Stream, streams: tuple[Stream, ...]) -> int | None:
    here = {s.rank for s in streams if s.local_rank == local and s.rank is not None and s.node == node}
    if not here:
        same = {s.rank for s in streams if s.local_rank == local and s.rank is not None and s.group == writer.group}
        here = same
    return here.pop() if len(here) == 1 else None
