"""L4's cross-job filter and spatial comparison as the paper prints them (FSE Companion 2025, sections 4.2 and 4.3).

Events that are frequent in healthy runs are dropped; a place is the vector of raw counts of what is left; an Isolation
Forest scores the places; those above the threshold are recommended, eight at most. The paper gives no parameters, so
scikit-learn's defaults hold (100 trees of at most 256 places, threshold 0) and "frequent" is "in half of the healthy
runs". Ranks and nodes are compared each among themselves: on a single node there is nothing to compare nodes with.
Templates are Rootrank's own, since the paper's parser (Drain) is underneath. The temporal comparison is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TypeVar

import numpy as np

from assistant.events.models import Scan
from evals.prediction import Context, Flag, Prediction, Suspect
from evals.rivals.lines import JobLog, open_job
from evals.rivals.local import answer

Place = TypeVar("Place", bound=Hashable)
Vectors = dict[Place, Counter[int]]
MOST = 8
SEED = 20250326


@dataclass(frozen=True, slots=True)
class Forest:
    """Isolation Forest over event counts."""

    name: str = "isolation-forest"
    version: str = f"scikit-learn {version_of('scikit-learn')}"
    fingerprint: str = f"isolation-forest/1/{version_of('scikit-learn')}"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The answer for one job. Reading the healthy runs counts into the seconds."""
        return answer(job, lambda log: _compared(log, _frequent(baselines)))


def _frequent(baselines: tuple[Path, ...]) -> frozenset[str]:
    """Ids of the templates that at least half of the healthy runs wrote."""
    seen = Counter(template for run in baselines for template in _written(open_job(run).reading.scan))
    return frozenset(template for template, runs in seen.items() if 2 * runs >= len(baselines))


def _written(scan: Scan) -> set[str]:
    return {scan.templates[index].id for index in scan.counts["template"].to_list()}


def _compared(log: JobLog, frequent: frozenset[str]) -> Prediction:
    scan = log.reading.scan
    kept = {index for index, template in enumerate(scan.templates) if template.id not in frequent}
    ranks, nodes = _vectors(scan, kept)
    rank_scores, node_scores = _scores(ranks), _scores(nodes)
    return Prediction(
        ranks=tuple(_order(rank_scores)),
        nodes=tuple(_order(node_scores)),
        blamed=_recommended(rank_scores, node_scores),
        events=_events(scan, kept),
    )


def _vectors(scan: Scan, kept: set[int]) -> tuple[Vectors[int], Vectors[str]]:
    """Counts of the kept events by rank and by node; a place that wrote none of them is all zeros."""
    ranks: Vectors[int] = {s.rank: Counter() for s in scan.streams if s.rank is not None}
    nodes: Vectors[str] = {s.node: Counter() for s in scan.streams if s.node is not None}
    for template, stream, count in scan.counts.select("template", "stream", "count").iter_rows():
        if template not in kept:
            continue
        writer = scan.streams[stream]
        if writer.rank is not None:
            ranks[writer.rank][template] += count
        if writer.node is not None:
            nodes[writer.node][template] += count
    return ranks, nodes


def _scores(vectors: Mapping[Place, Counter[int]]) -> dict[Place, float]:
    """Anomaly of each place: above zero is beyond the forest's own threshold. One place alone cannot be compared."""
    from sklearn.ensemble import IsolationForest

    places = sorted(vectors, key=str)
    columns = sorted({event for counts in vectors.values() for event in counts})
    if len(places) < 2 or not columns:
        return {}
    table = np.asarray([[vectors[place][event] for event in columns] for place in places], dtype=np.float64)
    forest = IsolationForest(random_state=SEED).fit(table)
    return dict(zip(places, (-forest.decision_function(table)).tolist(), strict=True))


def _order(scores: Mapping[Place, float]) -> list[Place]:
    return sorted(scores, key=lambda place: (-scores[place], str(place)))


def _recommended(ranks: Mapping[int, float], nodes: Mapping[str, float]) -> tuple[Suspect, ...]:
    """Places above the threshold: ranks where there are any, else nodes."""
    found = [Suspect(rank=rank) for rank in _order(ranks) if ranks[rank] > 0]
    found = found or [Suspect(node=node) for node in _order(nodes) if nodes[node] > 0]
    return tuple(found[:MOST])


def _events(scan: Scan, kept: set[int]) -> frozenset[Flag]:
    """First and last place of each kept event in each stream."""
    rows = scan.counts.select("template", "first_source", "first_line", "last_source", "last_line").iter_rows()
    places: Iterable[tuple[int, int]] = (
        place for template, a, b, c, d in rows if template in kept for place in ((a, b), (c, d))
    )
    return frozenset(Flag(scan.sources[source].name, line) for source, line in places)
