"""How far a share can be trusted.

Wilson, E. B. (1927), "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22, 209-212: the
interval that stays inside [0, 1] and holds for small n. It takes jobs as independent, which jobs of one kind of fault
are not; so beside it stands a bootstrap over kinds (Cameron, Gelbach and Miller 2008, "Bootstrap-Based Improvements for
Inference with Clustered Errors"): kinds are drawn with replacement, each with all of its jobs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
DRAWS = 2_000
SEED = 20261129

Interval = tuple[float, float]
Floats = NDArray[np.float64]


def wilson(right: int, n: int, z: float = Z95) -> Interval:
    """The 95 % interval of a share of `right` in `n`; everything where n is 0."""
    if n == 0:
        return 0.0, 1.0
    share, z2 = right / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * float(np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)))
    low = 0.0 if right == 0 else middle - half
    return low, 1.0 if right == n else middle + half


def by_cluster(
    rows: Sequence[Sequence[float]], clusters: Sequence[Hashable], figure: Callable[[Floats], Floats]
) -> Interval | None:
    """The 95 % bootstrap interval over clusters of a figure made of sums; None with fewer than two clusters.

    Args:
        rows: for each job the amounts that are summed, as (right, 1) or (tp, fp, fn).
        clusters: for each job the kind of fault.
        figure: from sums, one line a draw, to the figure of each draw; NaN where it is not defined.
    """
    sums: dict[Hashable, Floats] = defaultdict(lambda: np.zeros(len(rows[0])))
    for row, cluster in zip(rows, clusters, strict=True):
        sums[cluster] = sums[cluster] + np.asarray(row, dtype=np.float64)
    if len(sums) < 2:
        return None
    table = np.stack([sums[cluster] for cluster in sorted(sums, key=str)])
    drawn = np.random.default_rng(SEED).integers(len(table), size=(DRAWS, len(table)))
    figures = figure(table[drawn].sum(axis=1))
    figures = figures[~np.isnan(figures)]
    if not len(figures):
        return None
    low, high = np.percentile(figures, [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its size and both intervals."""

    right: int
    n: int
    clusters: Interval | None = None

    @property
    def value(self) -> float | None:
        """None where nothing was asked."""
        return self.right / self.n if self.n else None

    @property
    def wilson(self) -> Interval:
        """95 %, jobs taken as independent."""
        return wilson(self.right, self.n)


def share(marks: Sequence[bool], clusters: Sequence[Hashable]) -> Share:
    """The share of right marks, with the bootstrap over clusters."""
    interval = by_cluster([(mark, 1) for mark in marks], clusters, ratio) if marks else None
    return Share(sum(marks), len(marks), interval)


def ratio(sums: Floats) -> Floats:
    """First column by second."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1], dtype=np.float64)
