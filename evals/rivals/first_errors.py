"""Error_time and Error_count, the baselines that the L4 paper (FSE Companion 2025, section 5) names nodes with.

Error_time suspects the place whose first error is the earliest, Error_count the place with the most errors. The paper
says no more than that; what an error is, and how an untimed line gets its time, stands in `sightings`. Both rank places
and never say "nobody", so that they fill no column of blame, and they name neither cause nor stage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TypeVar

from evals.prediction import Context, Prediction
from evals.rivals.lines import JobLog
from evals.rivals.local import answer
from evals.rivals.sightings import Sighting, sightings

Place = TypeVar("Place", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ErrorTime:
    """Places by the time of their first error, earliest first."""

    name: str = "error-time"
    version: str = "as in L4"
    fingerprint: str = "error-time/1"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The answer for one job; healthy runs are not used."""
        return answer(job, _by_time)


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """Places by how many errors they wrote, most first."""

    name: str = "error-count"
    version: str = "as in L4"
    fingerprint: str = "error-count/1"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The answer for one job; healthy runs are not used."""
        return answer(job, _by_count)


def _by_time(log: JobLog) -> Prediction:
    found = sightings(log.lines())
    return Prediction(ranks=_earliest_first(_of_ranks(found)), nodes=_earliest_first(_of_nodes(found)))


def _by_count(log: JobLog) -> Prediction:
    found = sightings(log.lines())
    return Prediction(ranks=_most_first(_of_ranks(found)), nodes=_most_first(_of_nodes(found)))


def _of_ranks(found: list[Sighting]) -> list[tuple[int, float]]:
    return [(sighting.rank, _time(sighting)) for sighting in found if sighting.rank is not None]


def _of_nodes(found: list[Sighting]) -> list[tuple[str, float]]:
    return [(sighting.node, _time(sighting)) for sighting in found if sighting.node is not None]


def _time(sighting: Sighting) -> float:
    """Untimed lines come last, in the order they were read."""
    return inf if sighting.time is None else sighting.time


def _earliest_first(places: Iterable[tuple[Place, float]]) -> tuple[Place, ...]:
    first: dict[Place, float] = {}
    for place, time in places:
        first[place] = min(time, first.get(place, inf))
    return tuple(sorted(first, key=lambda place: first[place]))


def _most_first(places: Iterable[tuple[Place, float]]) -> tuple[Place, ...]:
    return tuple(place for place, _ in Counter(place for place, _ in places).most_common())
