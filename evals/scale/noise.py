"""Harmless lines that healthy runs write now and then, put into ordinary ranks at the rate of the healthy runs.

A line counts as occasional where, digits apart, fewer than half of the healthy ranks wrote it and the job's own ranks
did not. It takes the time of the line that it is put in front of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from evals.scale.original import Original, whole_lines
from evals.scale.stamps import CALENDAR

MOST = 50
"""Kinds of occasional lines that are used."""
_TIME = re.compile(CALENDAR)
_DIGITS = re.compile(r"\d+")
_RANK = re.compile(r"(\b[Rr]ank\W{1,3})\d+")


@dataclass(frozen=True, slots=True)
class Noise:
    """Occasional lines and how many of them a rank writes on average."""

    lines: tuple[tuple[str, float], ...] = ()

    def among(self, lines: list[str], rank: int, draw: Random) -> list[str]:
        """The lines with some noise between two timed ones."""
        for text, rate in self.lines:
            if draw.random() < rate:
                lines = _put(lines, text, rank, draw)
        return lines


def _put(lines: list[str], text: str, rank: int, draw: Random) -> list[str]:
    """One line more, between two lines that have a time; none where there is no such place."""
    places = [at for at in range(1, len(lines)) if _TIME.search(lines[at - 1][:60]) and _TIME.search(lines[at][:60])]
    if not places:
        return lines
    at = draw.choice(places)
    time = _TIME.search(lines[at])
    own = _RANK.sub(lambda found: f"{found[1]}{rank}", text)
    return [*lines[:at], _TIME.sub(time.group() if time else "", own, count=1), *lines[at:]]


def learn(twins: Iterable[Original], job: Original) -> Noise:
    """The occasional lines of healthy runs."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    ranks = 0
    for twin in twins:
        for lines in _by_rank(twin):
            ranks += 1
            kinds = {_DIGITS.sub("0", line): line for line in lines if _loose(line, twin)}
            counts.update(kinds.keys())
            examples.update(kinds)
    usual = {_DIGITS.sub("0", line) for lines in _by_rank(job) for line in lines}
    rare = sorted(kind for kind, count in counts.items() if 2 * count < ranks and kind not in usual)
    return Noise(tuple((examples[kind], counts[kind] / ranks) for kind in rare[:MOST]))


def _loose(line: str, job: Original) -> bool:
    """Whether a line can stand in another rank's log: it has a time and names no host."""
    return _TIME.search(line[:60]) is not None and not any(node.name in line for node in job.nodes)


def _by_rank(job: Original) -> Iterable[list[str]]:
    """The lines of each rank's own files."""
    for node in job.nodes:
        for files in node.ranks.values():
            lines = [line for file in files for line in whole_lines(file.text)]
            if lines:
                yield lines
