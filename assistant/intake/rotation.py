"""Rotated sets: which files are older parts of which log, told by names alone and only where names leave no doubt.

Known shapes: `x.log.1`, `x.log.2.gz` (logrotate, Python), `x.log-20261129.gz` (dateext), `x.log.2026-11-29` (Python, by
time), `x.log.20261129-173646` (Kubernetes), `x.1.log` (log4j, spdlog), `x.2026-11-29_17-36-46.log` (loguru).
A number may also be a rank: numbered files form a set only beside the file they were rotated from, or when packed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_PACKED = re.compile(r"\.(gz|bz2|xz|zst|zstd)$", re.I)
_CLOCK = r"\d{2}(?:[-:]?\d{2}(?:[-:]?\d{2}(?:[._]\d+)?)?)?"
_DATE = rf"(?:20\d{{6}}(?:[-_T]?\d{{2,6}}|-\d{{10}})?|20\d{{2}}-\d{{2}}-\d{{2}}(?:[T_-]{_CLOCK})?)"
_DATED_END = re.compile(rf"(?P<base>.+)[-.](?P<date>{_DATE})$")
_DATED_MIDDLE = re.compile(rf"(?P<stem>.+?)[-._](?P<date>{_DATE})(?P<ext>\.[A-Za-z]+)$")
_NUMBERED_END = re.compile(r"(?P<base>.+)\.(?P<number>\d{1,4})$")
_NUMBERED_MIDDLE = re.compile(r"(?P<stem>.+)\.(?P<number>[1-9]\d{0,2})(?P<ext>\.[A-Za-z]+)$")
_LOG_NAME = re.compile(
    r"(^|[/!])(messages|syslog|kern|secure|dmesg|daemon)$|\.(log|out|err|txt|jsonl?|stdout|stderr)$", re.I
)
_WRITER = re.compile(
    r"(rank|worker|node|gpu|npu|card|host|proc|process|task|local|global|device|pod|shard|part|stdout|stderr|std|out|err)"
    r"[-_]?\d*$",
    re.I,
)
"""Stems after which a number names a writer, not an age."""


@dataclass(frozen=True, slots=True)
class Part:
    """A place in a rotated set."""

    group: str
    part: int
    """0 is the oldest."""


@dataclass(frozen=True, slots=True, order=True)
class _Age:
    """Sorts oldest first: dated parts by date, then numbered ones from the highest number, the live file last."""

    kind: int
    date: str
    number: int


_LIVE = _Age(2, "", 0)


def rotated(names: Iterable[str]) -> Mapping[str, Part]:
    """The place of every name; a name that belongs to no set is the only part of a group of its own name."""
    names = sorted(names)
    present = {_PACKED.sub("", name): name for name in reversed(names)}
    groups: dict[str, list[tuple[_Age, str]]] = {}
    for name in names:
        base, age = _place(name, present)
        groups.setdefault(base, []).append((age, name))
    places: dict[str, Part] = {}
    for base, members in groups.items():
        if _doubtful(base, members):
            places |= {name: Part(name, 0) for _, name in members}
        elif len(members) == 1:
            places[members[0][1]] = Part(members[0][1], 0)
        else:
            places |= {name: Part(base, index) for index, (_, name) in enumerate(sorted(members))}
    return places


def _place(name: str, present: Mapping[str, str]) -> tuple[str, _Age]:
    """Base name and age of one file; the name itself and _LIVE where it looks like no rotated part."""
    plain = _PACKED.sub("", name)
    if (match := _DATED_END.match(plain)) and (match["base"] in present or _LOG_NAME.search(match["base"])):
        return match["base"], _Age(0, _digits(match["date"]), 0)
    if match := _NUMBERED_END.match(plain):
        return match["base"], _Age(1, "", -int(match["number"]))
    if (match := _DATED_MIDDLE.match(plain)) and match["stem"] + match["ext"] in present:
        return match["stem"] + match["ext"], _Age(0, _digits(match["date"]), 0)
    if (match := _NUMBERED_MIDDLE.match(plain)) and _numbered_middle(match, present):
        return match["stem"] + match["ext"], _Age(1, "", -int(match["number"]))
    return name if name != plain and plain in present and present[plain] != name else plain, _LIVE


def _numbered_middle(match: re.Match[str], present: Mapping[str, str]) -> bool:
    """`x.3.log` is a rotated part if `x.log`, `x.1.log` and `x.2.log` are there too, and `x` does not name a writer."""
    stem, ext = match["stem"], match["ext"]
    needed = [stem + ext, *(f"{stem}.{number}{ext}" for number in range(1, int(match["number"])))]
    return not _WRITER.search(stem) and f"{stem}.0{ext}" not in present and all(name in present for name in needed)


def _doubtful(base: str, members: list[tuple[_Age, str]]) -> bool:
    """Numbers may be ranks: without the live file only a packed part of a log, counted from 1, makes them ages."""
    numbers = [-age.number for age, _ in members if age.kind == 1]
    if not numbers or any(age == _LIVE for age, _ in members):
        return False
    packed = any(_PACKED.search(name) for _, name in members)
    return not (packed and min(numbers) > 0 and _LOG_NAME.search(base) and not _WRITER.search(base))


def _digits(date: str) -> str:
    return re.sub(r"\D", "", date)
