"""How far the clocks of sources are apart, from events that they share: an iteration, a barrier, a set-up.

Ranks that train together pass the same iteration at nearly the same time, so the median distance of a source from the
others over many shared events is its clock's lead, not its slowness: a slow rank delays all.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace

LEAST_SHARED = 3
"""Shared events below which a source's clock is left alone."""
NOISE = 1.0
"""Seconds of difference that logging alone explains."""
HALF_HOUR = 1800.0


@dataclass(frozen=True, slots=True)
class Skew:
    """Seconds by which each source's clock runs ahead; sources that agree are absent."""

    ahead: dict[int, float] = field(default_factory=dict)
    note: str = ""

    def corrected(self, source: int, time: float | None) -> float | None:
        """A source's time on the common clock."""
        return None if time is None else time - self.ahead.get(source, 0.0)


def estimate_skew(events: Mapping[int, Iterable[tuple[Hashable, float]]]) -> Skew:
    """Compare the first time each source saw each shared event.

    Args:
        events: by source id, pairs of (what happened, UTC epoch seconds); what happened must be equal across sources.
    """
    first = {source: _first_times(pairs) for source, pairs in events.items()}
    common = _common_times(first)
    distances = {s: [t - common[key] for key, t in seen.items() if key in common] for s, seen in first.items()}
    ahead = {source: lead for source, own in sorted(distances.items()) if (lead := _lead(own))}
    return Skew(ahead, _describe(ahead))


def of_nodes(skew: Skew, node_of: Mapping[int, str | None], told: Container[int]) -> Skew:
    """The skew with those sources added that tell no time shared with others, but lie on a node whose clock is known.

    Args:
        node_of: each source's node by its path, None where that names none.
        told: sources with events of their own.
    """
    leads: dict[str, list[float]] = defaultdict(list)
    for source in sorted(skew.ahead):
        if node := node_of.get(source):
            leads[node].append(skew.ahead[source])
    agreed = {node: own[0] for node, own in leads.items() if max(own) - min(own) <= 2 * NOISE}
    quiet = sorted(source for source in node_of if source not in told)
    added = {source: agreed[node] for source in quiet if (node := node_of[source]) in agreed and node}
    return replace(skew, ahead=skew.ahead | added)


def _first_times(pairs: Iterable[tuple[Hashable, float]]) -> dict[Hashable, float]:
    seen: dict[Hashable, float] = {}
    for key, time in pairs:
        seen[key] = min(time, seen.get(key, time))
    return seen


def _common_times(first: Mapping[int, Mapping[Hashable, float]]) -> dict[Hashable, float]:
    """The median time of each event that at least two sources saw; of two, the earlier source's id decides."""
    times: dict[Hashable, list[float]] = defaultdict(list)
    for source in sorted(first):
        for key, time in first[source].items():
            times[key].append(time)
    return {k: own[0] if len(own) == 2 else statistics.median(own) for k, own in times.items() if len(own) > 1}


def _lead(distances: list[float]) -> float:
    """The median distance, or 0 where it is within the noise of its own scatter."""
    if len(distances) < LEAST_SHARED:
        return 0.0
    middle = statistics.median(distances)
    scatter = statistics.median(abs(distance - middle) for distance in distances)
    return middle if abs(middle) > max(NOISE, 3 * 1.4826 * scatter) else 0.0


def _describe(ahead: Mapping[int, float]) -> str:
    if not ahead:
        return ""
    widest = max(ahead.values(), key=abs)
    zone = abs(widest) >= HALF_HOUR - 60 and abs(widest - round(widest / HALF_HOUR) * HALF_HOUR) < 60
    kind = "time zones" if zone else "clocks"
    those = "1 source differ" if len(ahead) == 1 else f"{len(ahead)} sources differ"
    return f"{kind} of {those}, by up to {abs(widest):.1f} s; corrected"
