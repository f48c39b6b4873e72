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
LONGEST = 16_384
"""Characters of a line that are searched: a whole configuration fits in."""
VERSION = "version"
_PAIR = re.compile(
    r"(?i)(?<![\w.-])(?:--)?(?P<name>[a-z][\w.-]{0,79})['\"]?\s{0,2}[=:]\s{0,2}['\"]?(?P<value>[\w.+<-]{1,40})"
)
_SETTING = re.compile(
    r"(?i)(?:^|[_.-])(?:batch|seq|length|hidden|layers?|heads?|vocab|lr|rate|precision|dtype|accumulation|steps|size|dim|"
    r"width|depth|workers|tp|pp|dp|cp|ep|parallel|degree|chunks?|window)(?=$|[_.-])"
)
"""A part of a setting's name that makes it one."""
_VERSION = re.compile(
    r"(?i)\b(?P<name>torch|pytorch|cuda|cudnn|nccl|rccl|driver|python|transformers|accelerate|deepspeed|megatron|apex|"
    r"flash[_-]attn|triton|numpy|cann|rocm|[a-z][\w-]{2,30}[ _-]version|version)(?: version)?\s{0,2}[=: ]\s{0,2}v?"
    r"(?P<value>\d+(?:\.\d+)+[\w.+-]{0,20}|<)"
)
_PER_PLACE = re.compile(r"(?i)(?:^|[_.-])per[_.-](?:gpu|npu|device|node|rank|worker|core)(?=$|[_.-])")
"""What is the same in every place although the name speaks of places."""
_PLACE_BOUND = re.compile(
    r"(?i)(?<![a-z])(?:ranks?|shards?|samples?|tokens?|free|used|memory|mem|time|seed|pid|port|local|world|nodes?|gpus?|"
    r"devices?|host|stage|dataset|files?|bytes|cache|disk|queue|heap)(?![a-z])|^data[_.-](?:size|length|steps)$"
)
"""Names of values that differ from place to place in any healthy job."""
_VAGUE = frozenset(("size", "length", "rate", "steps", "width", "depth", "dim", "window", "chunk", "chunks"))
"""Words that alone may count anything: files, data, lines."""


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
    found = {name: signal for (_, name), lines in said.items() if (signal := _odd(name, lines, scan)) is not None}
    return tuple(found[name] for name in sorted(found))


def values(line: str) -> Iterator[tuple[str, str]]:
    """Settings and versions that a line states, as (name, value); the value of a template's slot is `<`."""
    text = line[:LONGEST]
    for found in _VERSION.finditer(text):
        yield f"{found['name'].lower().removesuffix(VERSION).rstrip(' _-')} {VERSION}".lstrip(), found["value"]
    for found in _PAIR.finditer(text):
        if _is_setting(name := found["name"].lower()):
            yield name, found["value"]


def _is_setting(name: str) -> bool:
    told = name not in _VAGUE and _SETTING.search(name) is not None
    return told and not _PLACE_BOUND.search(_PER_PLACE.sub("", name))


def _has_slot(template: str) -> bool:
    return any("<" in value for _, value in values(template))


def _read_lines(scan: Scan) -> Iterator[tuple[int, Stream, SignalPlace]]:
    streams = {stream.id: stream for stream in scan.streams if stream.rank is not None or stream.node is not None}
    wanted = [number for number, template in enumerate(scan.templates) if _has_slot(template.text)]
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


def _odd(name: str, lines: list[_Said], scan: Scan) -> Signal | None:
    """The one place that says something else than all others, which agree."""
    by_node = all(said.stream.node is not None for said in lines)
    told: Mapping[str | int, set[str]] = defaultdict(set)
    for said in lines:
        told[_key(said, by_node)].add(said.value)
    if len(told) < max(FEWEST, _places(scan, by_node) / 2) or any(len(found) != 1 for found in told.values()):
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


def _places(scan: Scan, by_node: bool) -> int:
    """Nodes (or ranks) that wrote anything: a setting is compared where at least half of them state it."""
    return len({stream.node if by_node else stream.rank for stream in scan.streams if stream.rank is not None} - {None})


def _key(said: _Said, by_node: bool) -> str | int:
    place = said.stream.node if by_node else said.stream.rank
    return place if place is not None else ""
