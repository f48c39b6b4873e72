"""Settings that one node states otherwise than all others: batch sizes, shapes, versions, as programs print them.

Masks hide such values from every comparison of templates, so the first lines of each rank are read again where the
same template stands on most ranks. Only words that name a setting or a version count: sizes of shards, free memory and
times differ between healthy nodes too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from assistant.events.models import Scan
from assistant.intake.excerpt import read_places
from assistant.intake.models import Stream
from assistant.signals.models import Signal, SignalKind, SignalPlace

FEWEST = 3
"""Nodes (or ranks, where no node is known) among which one can stand alone."""
SELDOM = 3
"""Lines of a template that a rank writes at most: settings are printed once."""
MOST_TEMPLATES, MOST_PLACES = 60, 20_000
VERSION = "version"
_SLOT = re.compile(r"(?:[=:]|\bversion\b|\bv|\b(?:torch|cuda|nccl|python|driver)\b)\s*['\"]?<", re.IGNORECASE)
_SETTING = re.compile(
    r"(?i)(?<![\w.-])(?P<name>(?:[a-z0-9]+[_.-])*(?:batch|seq|length|hidden|layers?|heads?|vocab|lr|rate|precision|dtype|"
    r"accumulation|steps|size|dim|width|depth|workers|tp|pp|dp|cp|ep|parallel|degree|chunks?|window|rank_size)"
    r"(?:[_.-][a-z0-9]+)*)\s{0,2}[=:]\s{0,2}['\"]?(?P<value>[\w.+-]{1,40})"
)
_VERSION = re.compile(
    r"(?i)\b(?P<name>torch|pytorch|cuda|cudnn|nccl|rccl|driver|python|transformers|accelerate|deepspeed|megatron|apex|"
    r"flash[_-]attn|triton|numpy|cann|rocm|[a-z][\w-]{2,30}[ _-]version|version)(?: version)?\s{0,2}[=: ]\s{0,2}v?"
    r"(?P<value>\d+(?:\.\d+)+[\w.+-]{0,20})"
)
_PLACE_BOUND = re.compile(
    r"(?i)rank|shard|sample|token|free|used|memory|time|seed|pid|port|local|world|node|gpu|device"
)
"""Names of values that differ from place to place in any healthy job."""


@dataclass(frozen=True, slots=True)
class _Said:
    stream: Stream
    place: SignalPlace
    value: str


def read(scan: Scan) -> tuple[Signal, ...]:
    """One signal for each setting in which a single node (or rank) stands alone, in order of name."""
    said: dict[tuple[int, str], list[_Said]] = defaultdict(list)
    for template, stream, place in _read_lines(scan):
        for name, value in values(place.text):
            said[template, name].append(_Said(stream, place, value))
    found = {name: signal for (_, name), lines in said.items() if (signal := _odd(name, lines)) is not None}
    return tuple(found[name] for name in sorted(found))


def values(line: str) -> Iterator[tuple[str, str]]:
    """Settings and versions that a line states, as (name, value)."""
    for found in _VERSION.finditer(line):
        yield f"{found['name'].lower()} {VERSION}", found["value"]
    for found in _SETTING.finditer(line):
        if not _PLACE_BOUND.search(found["name"]):
            yield found["name"].lower(), found["value"]


def _read_lines(scan: Scan) -> Iterator[tuple[int, Stream, SignalPlace]]:
    streams = {stream.id: stream for stream in scan.streams if stream.rank is not None or stream.node is not None}
    wanted = [number for number, template in enumerate(scan.templates) if _SLOT.search(template.text)]
    rows = scan.counts.filter(
        pl.col("template").is_in(wanted) & pl.col("stream").is_in(list(streams)) & (pl.col("count") <= SELDOM)
    )
    spread = (
        rows.group_by("template").agg(pl.len()).filter(pl.col("len") >= FEWEST).sort("template").head(MOST_TEMPLATES)
    )
    rows = (
        rows.filter(pl.col("template").is_in(spread["template"].to_list())).sort("template", "stream").head(MOST_PLACES)
    )
    columns = ("template", "stream", "first_source", "first_line", "first_offset")
    lines = list(rows.select(columns).iter_rows())
    texts = read_places((scan.sources[source], offset) for _, _, source, _, offset in lines)
    for template, stream, source, line, offset in lines:
        if (text := texts.get((source, offset))) is not None:
            yield template, streams[stream], SignalPlace(source, line, offset, text)


def _odd(name: str, lines: list[_Said]) -> Signal | None:
    """The one place that says something else than all others, which agree."""
    by_node = all(said.stream.node is not None for said in lines)
    told: Mapping[str | int, set[str]] = defaultdict(set)
    for said in lines:
        told[_key(said, by_node)].add(said.value)
    if len(told) < FEWEST or any(len(found) != 1 for found in told.values()):
        return None
    counted = Counter(next(iter(found)) for found in told.values())
    if len(counted) != 2 or min(counted.values()) != 1:
        return None
    usual, odd = (value for value, _ in counted.most_common())
    said = next(said for said in lines if said.value == odd)
    others = f"{len(told) - 1} other {'nodes' if by_node else 'ranks'}"
    ranks = {one.stream.rank for one in lines if _key(one, by_node) == _key(said, by_node)}
    return Signal(
        origin="settings",
        kind=SignalKind.SETTING,
        node=said.stream.node,
        rank=ranks.pop() if len(ranks) == 1 else None,
        value=f"{name}={odd}, where {others} have {usual}",
        evidence=(said.place,),
    )


def _key(said: _Said, by_node: bool) -> str | int:
    place = said.stream.node if by_node else said.stream.rank
    return place if place is not None else ""
