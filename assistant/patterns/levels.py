"""What is compared with each other: nodes with nodes, ranks with ranks, each within its role."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from assistant.events.models import Scan
from assistant.intake.models import Stream, WriterKind
from assistant.patterns.progress import last_attempt

Key = tuple[str | None, int | None]

_NO_PLACE = frozenset({WriterKind.SCHEDULER})


@dataclass(frozen=True, slots=True)
class Level:
    """All nodes, or all ranks, with what each wrote.

    table: place i32, template i32, count i64, iterations i32, stream i32 (the first of the place's).
    """

    noun: str
    """`node` or `rank`."""
    places: tuple[Key, ...]
    roles: tuple[str, ...]
    """Role of each place: `master` (rank 0), `last` (the last rank), `stage 3` of a pipeline, or `worker`."""
    table: pl.DataFrame
    of_stream: Mapping[int, int]

    @property
    def role_sizes(self) -> Counter[str]:
        """How many places have each role."""
        return Counter(self.roles)


def levels(scan: Scan, dropped: frozenset[int], stages: Mapping[int, int] | None) -> list[Level]:
    """The nodes where there are several, and the ranks where there are several.

    Args:
        dropped: templates that are left out.
        stages: pipeline stage of each rank, where known.
    """
    attempt = last_attempt(scan)
    streams = [s for s in scan.streams if s.kind not in _NO_PLACE and (s.rank is None or s.attempt == attempt)]
    stages = stages if stages is not None else stages_from_facts(scan)
    ranks = _grouped((s, (s.node, s.rank)) for s in streams if s.rank is not None)
    nodes = _grouped((s, (s.node, None)) for s in streams if s.node is not None)
    found = [_level("node", nodes, scan, dropped, stages), _level("rank", _one_node_each(ranks), scan, dropped, stages)]
    return [level for level in found if len(level.places) > 1]


def stages_from_facts(scan: Scan) -> dict[int, int]:
    """Pipeline stages by the sizes that the job states; ranks run through the stages in equal blocks.

    That is the order of Megatron-LM and DeepSpeed: the pipeline is the outermost dimension.
    """
    world, depth = _largest(scan, "world_size"), _largest(scan, "pp")
    if depth < 2 or world % depth:
        return {}
    return {rank: rank * depth // world for rank in range(world)}


def _largest(scan: Scan, name: str) -> int:
    texts = [str(fact.get(name) or "") for fact in scan.facts]
    return max([int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 7], default=0)


def _grouped(streams: Iterable[tuple[Stream, Key]]) -> dict[Key, list[Stream]]:
    groups: dict[Key, list[Stream]] = defaultdict(list)
    for stream, key in streams:
        groups[key].append(stream)
    return groups


def _one_node_each(ranks: dict[Key, list[Stream]]) -> dict[Key, list[Stream]]:
    """Streams of a rank that name no node join those of the same rank that do."""
    homes = {rank: node for node, rank in sorted(ranks, key=_order, reverse=True) if node is not None}
    joined: dict[Key, list[Stream]] = defaultdict(list)
    for (_, rank), streams in ranks.items():
        joined[homes.get(rank), rank].extend(streams)
    return joined


def _order(key: Key) -> tuple[str, int]:
    return key[0] or "", -1 if key[1] is None else key[1]


def _level(
    noun: str, groups: dict[Key, list[Stream]], scan: Scan, dropped: frozenset[int], stages: Mapping[int, int]
) -> Level:
    places = tuple(sorted(groups, key=_order))
    of_stream = {stream.id: at for at, key in enumerate(places) for stream in groups[key]}
    roles = _roles([groups[key] for key in places], stages)
    return Level(noun, places, roles, _table(scan.counts, of_stream, dropped), of_stream)


def _table(counts: pl.DataFrame, of_stream: Mapping[int, int], dropped: frozenset[int]) -> pl.DataFrame:
    where = np.full(max([*of_stream, -1]) + 2, -1, dtype=np.int32)
    where[list(of_stream)] = list(of_stream.values())
    placed = counts.with_columns(pl.Series("place", where[counts["stream"].to_numpy().clip(-1, len(where) - 1)]))
    kept = placed.filter((pl.col("place") >= 0) & ~pl.col("template").is_in(sorted(dropped)))
    names = ["place", "template", "count", "iterations", "stream"]
    # Where each place has one stream, there is nothing to add up.
    if len(set(of_stream.values())) < len(of_stream):
        kept = kept.group_by("place", "template").agg(
            pl.col("count").sum(), pl.col("iterations").max(), pl.col("stream").min()
        )
    return kept.select(names).sort("place", "template")


def _roles(groups: list[list[Stream]], stages: Mapping[int, int]) -> tuple[str, ...]:
    ranks = [sorted({s.rank for s in group if s.rank is not None}) for group in groups]
    last = max((group[-1] for group in ranks if group), default=0)
    return tuple(_role(group, last, stages, len(groups)) for group in ranks)


def _role(ranks: list[int], last: int, stages: Mapping[int, int], places: int) -> str:
    if not ranks:
        return "worker"
    if ranks[0] == 0:
        return "master"
    if ranks[-1] == last and places > 3:
        return "last"
    own = sorted({stages[rank] for rank in ranks if rank in stages})
    return f"stage {'+'.join(map(str, own))}" if own else "worker"
