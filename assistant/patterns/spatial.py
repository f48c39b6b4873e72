"""The second comparison of L4: nodes with nodes and ranks with ranks. Who stands out among its peers?

Four kinds of signs are weighed together, because a culprit may show by any of them: events that hardly anyone else
writes, events that everyone else writes, silence or lag, and numbers of lines. Volume weighs least: victims write more
than the culprit, which may have fallen silent. What all places do alike points at none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.events.models import Scan
from assistant.patterns.levels import Level, levels
from assistant.patterns.likeness import FAILURE_LIKE, failure_likeness
from assistant.patterns.models import PatternResult, PlaceScore, RankProgress
from assistant.patterns.rarities import Rarities, rarities
from assistant.patterns.stragglers import Straggler, gap_columns, stragglers
from assistant.patterns.volumes import Driver, Volumes, volumes
from assistant.patterns.wording import plural, quoted

NAME = "spatial"
LEAST = 0.05
"""Scores below this are noise."""
MOST_WEAK, STRONG = 32, 0.3
"""Of the places of a level that do not stand out strongly, only the first are returned (L4 recommends 8)."""
SECOND = 0.2
"""What the second sign of a kind adds to the first."""
LATER = 0.9
"""Factor for failure-like rare events of places that were not the first to write one."""
REASONS = 5

Numbers = npt.NDArray[np.float64]


@dataclass
class _Signs:
    """The signs of one place: weights by kind, reasons and templates with their weights."""

    weights: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    reasons: list[tuple[float, str]] = field(default_factory=list)
    templates: list[tuple[float, int]] = field(default_factory=list)

    def add(self, kind: str, weight: float, reason: str, template: int | None = None) -> None:
        self.weights[kind].append(weight)
        self.reasons.append((weight, reason))
        if template is not None:
            self.templates.append((weight, template))

    def score(self) -> float:
        """Kinds corroborate each other; several signs of one kind hardly do."""
        doubt = 1.0
        for weights in self.weights.values():
            first, second = [*sorted(weights, reverse=True), 0.0][:2]
            doubt *= 1 - min(0.97, first + SECOND * second * (1 - first))
        return 1 - doubt


def compare(
    scan: Scan,
    *,
    cross: PatternResult | None = None,
    protected: frozenset[int] = frozenset(),
    harmless: frozenset[int] = frozenset(),
    progress: tuple[RankProgress, ...] = (),
    stages: Mapping[int, int] | None = None,
) -> PatternResult:
    """Scores nodes and ranks; all that stand out, the most telling first.

    Args:
        cross: the comparison with healthy runs; what it dropped is left out here.
        protected: templates that carry a fatal signature.
        harmless: templates that the library knows to be benign.
        progress: how far each rank came.
        stages: pipeline stage of each rank; by default as the job states it.
    """
    dropped = cross.dropped - protected if cross is not None else frozenset()
    found = levels(scan, dropped, stages)
    if not found:
        return PatternResult(NAME, False, "fewer than two nodes or ranks can be told apart")
    likeness = failure_likeness(scan, protected, cross, harmless)
    places: list[PlaceScore] = []
    forests = []
    for level in found:
        scored, grown = _level(level, scan, likeness, progress)
        places += scored
        forests += [level.noun] if grown else []
    ordered = tuple(sorted(places, key=_order))
    return PatternResult(NAME, True, _note(found, ordered, forests), places=ordered)


def _order(place: PlaceScore) -> tuple[float, bool, str, int]:
    return -place.score, place.rank is None, place.node or "", -1 if place.rank is None else place.rank


def _level(
    level: Level, scan: Scan, likeness: Numbers, progress: tuple[RankProgress, ...]
) -> tuple[list[PlaceScore], bool]:
    late = stragglers(level, progress)
    counted = volumes(level, likeness, gap_columns(level, progress))
    signs: dict[int, _Signs] = defaultdict(_Signs)
    _add_rarities(signs, rarities(level, likeness), level, scan, likeness)
    _add_stragglers(signs, late)
    _add_volumes(signs, counted, scan)
    scored = [_place(level.places[at], signs[at]) for at in sorted(signs)]
    ordered = sorted((place for place in scored if place.score >= LEAST), key=_order)
    return [place for at, place in enumerate(ordered) if at < MOST_WEAK or place.score >= STRONG], counted.grown


def _add_rarities(signs: dict[int, _Signs], found: Rarities, level: Level, scan: Scan, likeness: Numbers) -> None:
    total = len(level.places)
    first = _first_writer(found.few, level, scan, likeness)
    for row in found.few.iter_rows(named=True):
        place, template, holders = row["place"], row["template"], row["holders"]
        failing = row["likeness"] >= FAILURE_LIKE
        weight = row["weight"] * (LATER if failing and first is not None and place != first else 1.0)
        where = "only here" if holders == 1 else f"on {holders}"
        text = quoted(scan.templates[template].text)
        reason = f"{where} of {plural(total, level.noun)}: {text} ({plural(row['count'], 'line')})"
        signs[place].add("few", weight, reason, template)
    for place, template, holders, weight in found.lacking.iter_rows():
        text = quoted(scan.templates[template].text)
        reason = f"lacks {text}, which {holders} of {plural(total, level.noun)} wrote"
        signs[place].add("lacking", weight, reason, template)


def _first_writer(few: pl.DataFrame, level: Level, scan: Scan, likeness: Numbers) -> int | None:
    """The place that wrote a rare failure-like event first, where times tell; None where they do not."""
    wanted = set(few.filter(pl.col("likeness") >= FAILURE_LIKE)["template"].to_list())
    times: dict[int, float] = {}
    for indicator in scan.indicators:
        record = indicator.record
        place = level.of_stream.get(record.stream)
        if place is not None and record.template in wanted and record.time is not None:
            times[place] = min(record.time, times.get(place, record.time))
    return min(times, key=lambda place: (times[place], place)) if times else None


def _add_stragglers(signs: dict[int, _Signs], late: Iterable[Straggler]) -> None:
    for straggler in late:
        for reason in straggler.reasons[:-1]:
            signs[straggler.place].reasons.append((straggler.weight, reason))
        signs[straggler.place].add("late", straggler.weight, straggler.reasons[-1])


def _add_volumes(signs: dict[int, _Signs], counted: Volumes, scan: Scan) -> None:
    for place, drivers in counted.drivers.items():
        weight = max(float(counted.single[place]), float(counted.forest[place]))
        for driver in drivers:
            signs[place].add("volume", weight, _volume(driver, scan), driver.template)
        if not drivers:
            signs[place].add("volume", weight, "its numbers of lines, taken together, are unlike those of its peers")


def _volume(driver: Driver, scan: Scan) -> str:
    usual = "hardly any" if driver.usual < 0.5 else f"about {driver.usual:,.0f}"
    return f"{plural(driver.count, 'line')} of {quoted(scan.templates[driver.template].text)}, its peers {usual}"


def _place(key: tuple[str | None, int | None], signs: _Signs) -> PlaceScore:
    reasons = [reason for _, reason in sorted(signs.reasons, key=lambda pair: -pair[0])]
    templates = [template for _, template in sorted(signs.templates, key=lambda pair: (-pair[0], pair[1]))]
    return PlaceScore(
        node=key[0],
        rank=key[1],
        score=round(signs.score(), 3),
        reasons=tuple(dict.fromkeys(reasons))[:REASONS],
        templates=tuple(dict.fromkeys(templates))[: 2 * REASONS],
    )


def _note(found: list[Level], places: tuple[PlaceScore, ...], forests: list[str]) -> str:
    compared = " and ".join(plural(len(level.places), level.noun) for level in found)
    strong = sum(place.score >= STRONG for place in places)
    outcome = (
        f"{strong} stand{'s' if strong == 1 else ''} out" if strong else "none stands out" if places else "all alike"
    )
    forest = f"; forest over {' and '.join(f'{noun}s' for noun in forests)}" if forests else ""
    return f"compared {compared}: {outcome}{forest}"
