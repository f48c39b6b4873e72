"""What one side writes and the other does not: a job against healthy runs, a node or rank against its peers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from assistant.baselines.models import Baseline
from assistant.baselines.statistics import describe
from assistant.events.models import Scan
from assistant.patterns.cross_job import NOTABLE_RATIO, USUAL, ratio_of, rows_of
from assistant.patterns.wording import plural


@dataclass(frozen=True, slots=True)
class Difference:
    """A template that two sides write differently often."""

    text: str
    here: float
    there: float
    """Lines of this side and of the other, counted alike."""
    source: str = ""
    """Source of its first line here; empty where this side has none."""
    line: int = 0
    note: str = ""

    @property
    def times(self) -> float:
        """How many times the other side's rate this one is; infinite where that is none."""
        return self.here / self.there if self.there else math.inf


@dataclass(frozen=True, slots=True)
class Contrast:
    """The differences of two sides, the most telling first."""

    only_here: tuple[Difference, ...] = ()
    only_there: tuple[Difference, ...] = ()
    changed: tuple[Difference, ...] = ()


def with_healthy(scan: Scan, baseline: Baseline, first: Collection[str] = ()) -> Contrast:
    """The job against healthy runs: counts here, and what was to be expected of a healthy job of its size and length.

    Args:
        scan: of the job.
        baseline: of healthy runs like it.
        first: ids of templates that come first, such as those of failure events.
    """
    absent, known = rows_of(scan, baseline)
    run, runs, told = describe(scan), len(baseline.runs), _told(scan, range(len(scan.streams)))
    only_here = [_difference(scan, template, told[template][0], 0.0, told) for template in absent]
    only_there = [
        Difference(stats.text, 0.0, stats.count / runs, note=f"in {stats.runs} of {plural(runs, 'healthy run')}")
        for key, stats in sorted(baseline.templates.items())
        if key not in known and stats.runs >= USUAL * runs
    ]
    changed = []
    for key, row in sorted(known.items()):
        low, ratio, high = ratio_of(row, run, baseline.templates[key], baseline)
        if low >= NOTABLE_RATIO or high <= 1 / NOTABLE_RATIO:
            changed.append(_difference(scan, row.templates[0], row.count, max(0.0, (row.count + 1) / ratio - 1), told))
    order = {one.text: one.id in first for one in scan.templates}
    only_here.sort(key=lambda one: (not order.get(one.text), one.here, one.text))
    only_there.sort(key=lambda one: (-one.there, one.text))
    return Contrast(tuple(only_here), tuple(only_there), tuple(sorted(changed, key=_odd)))


def with_peers(scan: Scan, own: Collection[int], peers: Collection[int]) -> Contrast:
    """Some streams against others, in lines per stream."""
    here, there = _told(scan, own), _told(scan, peers)
    mine, theirs = _rates(here, len(own)), _rates(there, len(peers))

    def one(template: int, told: Mapping[int, tuple[int, int, int]]) -> Difference:
        return _difference(scan, template, mine.get(template, 0.0), theirs.get(template, 0.0), told)

    only_here = sorted((one(key, here) for key in set(mine) - set(theirs)), key=lambda d: (-d.here, d.text))
    only_there = sorted((one(key, there) for key in set(theirs) - set(mine)), key=lambda d: (-d.there, d.text))
    both = [one(key, here) for key in sorted(set(mine) & set(theirs))]
    changed = [each for each in both if max(each.here, each.there) >= NOTABLE_RATIO * min(each.here, each.there)]
    return Contrast(tuple(only_here), tuple(only_there), tuple(sorted(changed, key=_odd)))


def _told(scan: Scan, streams: Iterable[int]) -> dict[int, tuple[int, int, int]]:
    """For each template that some streams wrote: lines, and source and number of the first."""
    own = scan.counts.filter(pl.col("stream").is_in(list(streams))).sort("first_source", "first_line")
    grouped = own.group_by("template").agg(pl.col("count").sum(), pl.col("first_source", "first_line").first())
    return {
        int(template): (int(count), int(source), int(line))
        for template, count, source, line in grouped.sort("template").iter_rows()
    }


def _rates(told: Mapping[int, tuple[int, int, int]], streams: int) -> dict[int, float]:
    return {template: count / max(1, streams) for template, (count, _, _) in told.items()}


def _difference(
    scan: Scan, template: int, here: float, there: float, told: Mapping[int, tuple[int, int, int]]
) -> Difference:
    _, source, line = told[template]
    return Difference(scan.templates[template].text, here, there, scan.sources[source].name, line)


def _odd(one: Difference) -> tuple[float, str]:
    return -abs(math.log((one.here + 1e-9) / (one.there + 1e-9))), one.text
