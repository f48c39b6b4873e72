"""Silence and lag as signs of a place: of a rank its own, of a node those of its ranks."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import median, median_high

import numpy as np
import numpy.typing as npt

from assistant.patterns.levels import Level
from assistant.patterns.models import RankProgress
from assistant.patterns.wording import duration

ONE_SIGN, BOTH_SIGNS = 0.75, 0.9
"""Weight of a place that is silent or behind, and of one that is both, if it is the only one."""
COMPANY = 0.7
"""Share of that weight which is lost as all places share the sign."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Straggler:
    """A place that fell silent or behind."""

    place: int
    weight: float
    reasons: tuple[str, ...]


def stragglers(level: Level, progress: tuple[RankProgress, ...]) -> list[Straggler]:
    """The places that fell silent or behind, in their order."""
    by_place = _by_place(level, progress)
    late = {place: [r for r in ranks if r.silent or r.lagging] for place, ranks in by_place.items()}
    late = {place: ranks for place, ranks in late.items() if ranks}
    company = 1 - COMPANY * math.log(max(len(late), 1)) / math.log(max(len(level.places), 2))
    return [
        Straggler(place, round(_weight(ranks, len(by_place[place])) * company, 4), _reasons(ranks, progress))
        for place, ranks in sorted(late.items())
    ]


def gap_columns(level: Level, progress: tuple[RankProgress, ...]) -> Numbers:
    """Two columns, one row a place: whether it is silent, and whether it is behind (the worst of its ranks)."""
    columns = np.zeros((len(level.places), 2))
    for place, ranks in _by_place(level, progress).items():
        columns[place] = [any(rank.silent for rank in ranks), any(rank.lagging for rank in ranks)]
    return columns


def _by_place(level: Level, progress: tuple[RankProgress, ...]) -> dict[int, list[RankProgress]]:
    grouped: dict[int, list[RankProgress]] = defaultdict(list)
    for rank in progress:
        place = level.of_stream.get(rank.stream)
        if place is not None:
            grouped[place].append(rank)
    return grouped


def _weight(late: list[RankProgress], ranks: int) -> float:
    both = any(rank.silent for rank in late) and any(rank.lagging for rank in late)
    return (BOTH_SIGNS if both else ONE_SIGN) * (0.6 + 0.4 * len(late) / ranks)


def _reasons(late: list[RankProgress], progress: tuple[RankProgress, ...]) -> tuple[str, ...]:
    reasons = []
    if any(rank.silent for rank in late):
        reasons.append(_silence(late, progress))
    behind = [rank.last_iteration for rank in late if rank.lagging and rank.last_iteration is not None]
    if behind:
        peers = [rank.last_iteration for rank in progress if not rank.lagging and rank.last_iteration is not None]
        reasons.append(f"its last iteration is {min(behind)}, that of its peers {median_high(peers or behind)}")
    return tuple(reasons) or ("fell behind its peers",)


def _silence(late: list[RankProgress], progress: tuple[RankProgress, ...]) -> str:
    own = [rank.last_time for rank in late if rank.silent and rank.last_time is not None]
    peers = [rank.last_time for rank in progress if not rank.silent and rank.last_time is not None]
    if own and peers:
        return f"wrote nothing more {duration(median(peers) - max(own))} before its peers stopped"
    return "wrote nothing more long before its peers stopped"
