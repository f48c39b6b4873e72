"""Which lines look like errors, and when and where each was written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evals.rivals.lines import Line

_LEVEL = re.compile(r"\b(DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b|^(?:\[\w+\]:\s*)*([IWEF])\d{4} ")
_BAD_LEVELS = frozenset({"ERROR", "CRITICAL", "FATAL", "E", "F"})
_WORDS = re.compile(
    r"\w*(?:Error|Exception)\b|\bTraceback \(most recent|\bFatal\b|\berror:|\bfailed\b|\bFAILED\b"
    r"|\bSegmentation fault|\bcore dumped|\bKilled\b|\bAborted\b|\bterminate called"
)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One error-like line."""

    source: str
    line: int
    time: float | None
    node: str | None
    rank: int | None


def looks_like_error(text: str) -> bool:
    """By its level where the line states one, by error words otherwise."""
    level = _LEVEL.search(text[:120])
    if level:
        return (level[1] or level[2]) in _BAD_LEVELS
    return _WORDS.search(text) is not None


def sightings(lines: Iterable[Line]) -> list[Sighting]:
    """All error-like lines in the order they were read.

    A traceback has no time of its own. It gets the time written before it in its file; failing that, when the rank's
    own error report was written; failing that, the last time that the rank wrote anywhere.
    """
    found: list[Sighting] = []
    reports: dict[int, float] = {}
    last: dict[int, float] = {}
    for line in lines:
        rank = line.writer.rank
        if rank is not None and line.own_time and line.time is not None:
            table = reports if line.stamped else last
            table[rank] = min(line.time, reports.get(rank, line.time)) if line.stamped else line.time
        if looks_like_error(line.text):
            found.append(Sighting(line.source, line.number, line.time, line.writer.node, rank))
    return [_timed(sighting, {**last, **reports}) for sighting in found]


def _timed(sighting: Sighting, times: dict[int, float]) -> Sighting:
    if sighting.time is not None or sighting.rank is None:
        return sighting
    return replace(sighting, time=times.get(sighting.rank))
