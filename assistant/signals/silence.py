"""Error files, and the ranks that left none although others did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assistant.signals.consoles import ORIGIN, Remains, cited
from assistant.signals.models import Signal, SignalKind
from assistant.signals.whereabouts import RankFolder, order, rank_folder

FEW = 0.25
"""Ranks of which nothing at all is there are named while they are at most this share of the job."""


def reported(found: Remains) -> Iterator[Signal]:
    """What each error file says."""
    for file in found.files:
        folder, report = rank_folder(file.source.name), file.report
        rank = found.where.folders.get(folder) if folder else None
        yield Signal(
            ORIGIN,
            SignalKind.ERROR_FILE,
            node=found.where.node(file.source, "", rank),
            rank=rank,
            local_rank=folder.local_rank if folder else None,
            time=None if report.time is None else found.on_scan_clock(report.time + found.zone),
            exitcode=report.exitcode,
            value=report.message,
            evidence=(cited(file.place),),
            attempt=folder.attempt if folder else 0,
        )


@dataclass(frozen=True, slots=True)
class _Missing:
    """A worker without an error file."""

    rank: int | None
    local_rank: int | None = None
    node: str | None = None


def unreported(found: Remains) -> Iterator[Signal]:
    """Ranks without an error file in attempts in which others have one: by folder, by block, or by the world size."""
    having: dict[int, set[RankFolder]] = {}
    for file in found.files:
        if folder := rank_folder(file.source.name):
            having.setdefault(folder.attempt, set()).add(folder)
    for attempt, folders in sorted(having.items()):
        missing = _by_folder(attempt, folders, found)
        known = {found.where.folders[folder] for folder in folders} | {one.rank for one in missing}
        missing += _by_block(attempt, known, found)
        known |= {one.rank for one in missing}
        missing += _by_world_size(known, found)
        for one in missing:
            yield replace(_signal(one, attempt, found), value=f"{len(folders)} others left one")


def _by_folder(attempt: int, having: set[RankFolder], found: Remains) -> list[_Missing]:
    return [
        _Missing(found.where.folders[folder], folder.local_rank, found.where.node_of_folder(folder))
        for folder in sorted(found.where.folders, key=order)
        if folder.attempt == attempt and folder not in having
    ]


def _by_block(attempt: int, known: set[int | None], found: Remains) -> list[_Missing]:
    """Workers of a block that have neither an error file nor a folder among the sources."""
    return [
        _Missing(rank, entry.local_rank)
        for (rank, number), entry in sorted(found.by_worker.items(), key=lambda item: item[0])
        if number == attempt and rank not in known and entry.error_file is None
    ]


def _by_world_size(known: set[int | None], found: Remains) -> list[_Missing]:
    world = found.where.world_size
    if world is None or None in known:
        return []
    absent = sorted(set(range(world)) - known)
    return [_Missing(rank) for rank in absent] if len(absent) <= max(1, int(world * FEW)) else []


def _signal(one: _Missing, attempt: int, found: Remains) -> Signal:
    entry = None if one.rank is None else found.by_worker.get((one.rank, attempt))
    node = None if one.rank is None else found.where.nodes.get(one.rank)
    return Signal(
        ORIGIN,
        SignalKind.NO_ERROR_FILE,
        node=node or one.node,
        rank=one.rank,
        local_rank=one.local_rank,
        pid=entry.pid if entry else None,
        evidence=(cited(entry.place),) if entry else (),
        attempt=attempt,
    )
