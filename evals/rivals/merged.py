"""One log made of a job's many files, for tools that read a single interleaved file.

Lines of all files in the order of their times, as a console that collected all ranks would show them; each line of a
rank carries `RANK: ` in front, which is how `srun -l` marks them and how such tools find a rank. A line without a time,
or with an earlier one, keeps its place behind the line before it in its file. A file without any time goes first, but
one that holds a rank's errors goes where the rank's error report, or its last line elsewhere, stands in time, before
the launcher's account.
Workers' error reports (JSON) are left out: nobody's console shows them, and the launcher repeats them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from assistant.intake.models import WriterKind
from evals.rivals.lines import JobLog, Line

_LABELS = re.compile(r"^(?:\[(?:[a-z]*?rank|default)\d+\]:\s?|\d+: )+", re.IGNORECASE)
_QUIET = re.compile(r"out(?:put)?\b|stdout", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line of the merged log comes from."""

    source: str
    line: int
    node: str | None
    rank: int | None


@dataclass(slots=True)
class _Gathered:
    """All lines with their sort keys. Text is kept packed: a large job has millions of lines."""

    keys: list[tuple[float, int, int]] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


def merge(log: JobLog, file: Path) -> list[Place]:
    """Writes the merged log and returns where each of its lines comes from, first line first."""
    gathered = _gather(log)
    order = sorted(range(len(gathered.keys)), key=gathered.keys.__getitem__)
    with file.open("wb") as out:
        out.writelines(gathered.texts[index] for index in order)
    return [gathered.places[index] for index in order]


def _gather(log: JobLog) -> _Gathered:
    gathered = _Gathered()
    ends = _ends(log)
    source, latest = "", -inf
    for number, line in enumerate(line for line in log.lines() if not line.stamped):
        launcher = line.writer.kind is WriterKind.LAUNCHER
        latest = max(_time(line, ends), latest if line.source == source else -inf)
        source = line.source
        gathered.keys.append((latest, int(launcher), number))
        gathered.texts.append(_labelled(line).encode("utf-8", "replace") + b"\n")
        gathered.places.append(Place(line.source, line.number, line.writer.node, line.writer.rank))
    return gathered


def _ends(log: JobLog) -> dict[int, float]:
    """When each rank wrote its error report, or else its last timed line."""
    reports: dict[int, float] = {}
    last: dict[int, float] = {}
    for line in log.lines():
        if line.writer.rank is not None and line.own_time and line.time is not None:
            (reports if line.stamped else last)[line.writer.rank] = line.time
    return {**last, **reports}


def _time(line: Line, ends: dict[int, float]) -> float:
    if line.time is not None:
        return line.time
    if line.writer.rank is None or _QUIET.search(line.source.rpartition("/")[2]):
        return -inf
    return ends.get(line.writer.rank, -inf)


def _labelled(line: Line) -> str:
    """The line with its rank in front, in place of labels that say it in another way."""
    if line.writer.rank is None or line.writer.kind is WriterKind.LAUNCHER:
        return line.text
    return f"{line.writer.rank}: {_LABELS.sub('', line.text)}"
