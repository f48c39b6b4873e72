"""How many lines each place writes of each event, compared with its peers.

Counts are compared with the median of the place's role. Each is judged by itself, as a logarithm, by a robust z-score;
where there are enough places, all are judged together by an Isolation Forest as in L4, which sees what is moderately
raised in many events at once. The forest samples all places, since trees over 256 of thousands of them hardly ever see
the one that is different. It is given square roots, on which scale chance spreads small and large counts alike. Weights
by inverse frequency would be lost on it, because a tree cuts each column between its own extremes: rare events are
listed by `rarities` instead.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.patterns.levels import Level
from assistant.patterns.likeness import FAILURE_LIKE
from assistant.patterns.progress import MAD_TO_SD
from assistant.patterns.rarities import PEERS

FOREST_PLACES = 16
"""Places from which on a forest is grown."""
TREES = 200
MOST_COLUMNS = 256
"""Events that are compared, those that vary most first."""
MOST_CELLS = 1 << 24
"""Cells of the matrix of places and events, which bounds its memory."""
NOTABLE_Z, EXTREME_Z = 6.0, 18.0
Z_TOP = 0.45
"""What a robust z-score weighs: nothing up to the first, `Z_TOP` from the second on."""
NOTABLE_FOREST, EXTREME_FOREST = 2.0, 8.0
FOREST_TOP = 0.45
"""The same for the forest's scores, in robust standard deviations of all places' scores."""
LEAST_WEIGHT = 0.1
"""A forest that could weigh no more than this for any place is not grown."""
LEAST_SPREAD = 0.15
"""Scale below which differences of logarithmic counts never matter."""
DRIVERS = 3

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Driver:
    """An event of which a place writes far more or fewer lines than its peers."""

    template: int
    count: int
    usual: float
    z: float


@dataclass(frozen=True, slots=True)
class Volumes:
    """Weight of each place's counts by themselves and by the forest, and the events that drive them."""

    single: Numbers
    forest: Numbers
    drivers: dict[int, list[Driver]] = field(default_factory=dict)
    grown: bool = False
    """A forest was grown."""


def volumes(level: Level, likeness: Numbers, gaps: Numbers) -> Volumes:
    """Compares counts within one level.

    Args:
        gaps: further columns for the forest, one row a place: how far each is silent or behind.
    """
    templates, counts = _matrix(level, likeness)
    places = len(level.places)
    nothing = np.zeros(places)
    apart, scale, usual = _centred(np.log1p(counts), level, likeness[templates])
    z = apart / scale
    height = np.clip((np.abs(z) - NOTABLE_Z) / (EXTREME_Z - NOTABLE_Z), 0, 1) * (0.5 + 0.5 * likeness[templates])
    single = Z_TOP * height.max(axis=1, initial=0.0) if places >= PEERS else nothing
    forest, weight = nothing, _apartness(np.hstack([z, NOTABLE_Z * gaps]))
    grown = places >= FOREST_PLACES and bool(weight.max(initial=0.0) * FOREST_TOP >= LEAST_WEIGHT)
    if grown:
        roots = _centred(np.sqrt(counts), level, likeness[templates])[0]
        forest = _forest(np.hstack([roots, gaps])) * weight
    drivers = _drivers(single + forest, z, templates, counts, usual)
    return Volumes(single, forest, drivers, grown)


def _matrix(level: Level, likeness: Numbers) -> tuple[npt.NDArray[np.int32], Numbers]:
    """The events that vary over places, and their counts: places by events."""
    places = len(level.places)
    logs = pl.col("count").cast(pl.Float64).log1p()
    varying = (
        level.table.group_by("template")
        .agg(logs.sum().alias("sum"), (logs**2).sum().alias("squares"), pl.len().alias("holders"))
        .with_columns((pl.col("squares") / places - (pl.col("sum") / places) ** 2).alias("variance"))
        .filter(pl.col("variance") > 1e-9)
        .with_columns((pl.col("variance") * (1 + (places / pl.col("holders")).log()) ** 2).alias("order"))
        .sort(["order", "template"], descending=[True, False])
    )
    kept = varying["template"].to_numpy()
    kept = np.sort(kept[likeness[kept] > 0][: max(1, min(MOST_COLUMNS, MOST_CELLS // places))])
    own = level.table.filter(pl.col("template").is_in(kept.tolist()))
    counts = np.zeros((places, len(kept)))
    counts[own["place"].to_numpy(), np.searchsorted(kept, own["template"].to_numpy())] = own["count"].to_numpy()
    return kept, counts


def _centred(logs: Numbers, level: Level, likeness: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Differences to the median of the role, their scale, and that median; zero where there is no peer.

    A place with a role of its own is compared with all others, and only by failure-like events.
    """
    roles = np.array(level.roles)
    apart, usual = np.zeros_like(logs), np.zeros_like(logs)
    scale = np.ones_like(logs)
    of_all = _usual(logs)
    for role, size in sorted(level.role_sizes.items()):
        own = roles == role
        middle, spread = _usual(logs[own]) if PEERS <= size < len(roles) else of_all
        off = logs[own] - middle
        apart[own] = off if size >= PEERS else np.where(likeness >= FAILURE_LIKE, off, 0.0)
        usual[own], scale[own] = middle, spread
    return apart, scale, usual


def _usual(logs: Numbers) -> tuple[Numbers, Numbers]:
    """The median, and the robust spread, but no less than chance gives counts of that size."""
    middle = np.median(logs, axis=0)
    spread = MAD_TO_SD * np.median(np.abs(logs - middle), axis=0)
    return middle, np.maximum(spread, np.maximum(np.exp(-middle / 2), LEAST_SPREAD))


def _forest(matrix: Numbers) -> Numbers:
    from sklearn.ensemble import IsolationForest

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forest = IsolationForest(n_estimators=TREES, max_samples=len(matrix), random_state=0)
        scores = -forest.fit(matrix.astype(np.float32)).score_samples(matrix.astype(np.float32))
    middle = np.median(scores)
    spread = max(MAD_TO_SD * float(np.median(np.abs(scores - middle))), 0.005)
    height = ((scores - middle) / spread - NOTABLE_FOREST) / (EXTREME_FOREST - NOTABLE_FOREST)
    return np.asarray(FOREST_TOP * np.clip(height, 0, 1), dtype=np.float64)


def _apartness(z: Numbers) -> Numbers:
    """0 to 1: how far each place lies from the median in all, beyond what most places do.

    A forest calls the one place different that differs from all others by a single line; this tells how much it does.
    """
    squares = (z**2).sum(axis=1)
    excess = np.sqrt(np.maximum(squares - np.median(squares), 0))
    return np.asarray(np.clip((excess - 1) / (NOTABLE_Z - 1), 0, 1), dtype=np.float64)


def _drivers(
    score: Numbers, z: Numbers, templates: npt.NDArray[np.int32], counts: Numbers, usual: Numbers
) -> dict[int, list[Driver]]:
    found = {}
    for place in np.flatnonzero(score > 0):
        order = np.argsort(-np.abs(z[place]), kind="stable")[:DRIVERS]
        found[int(place)] = [
            Driver(int(templates[c]), int(counts[place, c]), float(np.expm1(usual[place, c])), float(z[place, c]))
            for c in order
            if abs(z[place, c]) >= NOTABLE_Z / 2
        ]
    return found
