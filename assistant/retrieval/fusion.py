"""Puts ranked lists together: reciprocal ranks, weights of incidents, near-duplicates folded."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime

from assistant.retrieval.models import Query
from assistant.retrieval.store import Facts

FRESH_DAYS = 180.0
"""After so many days the bonus for being recent has fallen to its half."""
RECENT = 0.04
CONFIRMED = 0.08
UNVERIFIED = -0.03
"""How much a document gains or loses by age, by a person's word, by facts that nobody checked."""
SAME = 0.03
"""What a document gains for each of stage, framework and vendor that it shares with the job."""
ALIKE = 0.8
"""Share of common words above which two passages say the same."""

_WORD = re.compile(r"\w+")


def reciprocal(ranks: Mapping[str, int], weight: float, constant: float) -> dict[str, float]:
    """What a ranked list adds to each of its members, the first nearly its whole weight; ranks count from 1."""
    return {key: weight * constant / (constant + rank) for key, rank in ranks.items()}


def relative(scores: Mapping[str, float], weight: float, floor: float = 0.0) -> dict[str, float]:
    """What a list of scores adds: the best its whole weight, one as low as the floor nothing."""
    span = max(scores.values(), default=0.0) - floor
    return {key: weight * (score - floor) / span if span > 0 else weight for key, score in scores.items()}


def scaled(values: Mapping[str, float], by: Mapping[str, float]) -> dict[str, float]:
    """Each value as strong as it is said to be."""
    return {key: value * by[key] for key, value in values.items()}


def ranked(scores: Mapping[str, float]) -> dict[str, int]:
    """Ranks by falling score; equal scores share the better rank."""
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    ranks: dict[str, int] = {}
    for place, key in enumerate(ordered, start=1):
        before = ordered[place - 2] if place > 1 else key
        ranks[key] = ranks[before] if place > 1 and math.isclose(scores[before], scores[key]) else place
    return ranks


def fused(lists: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The sum of what all lists add."""
    total: dict[str, float] = {}
    for one in lists:
        for key, value in one.items():
            total[key] = total.get(key, 0.0) + value
    return total


def weight(facts: Facts, query: Query, today: date) -> float:
    """By how much a document counts more or less than its text alone; only incidents gain by age and confirmation."""
    shared = ((facts.stage, query.stage), (facts.framework, query.framework), (facts.vendor, query.vendor))
    bonus = sum(SAME for one, other in shared if one and one.lower() == other.lower())
    bonus += UNVERIFIED if facts.checked == "unverified" and not facts.confirmed else 0.0
    if facts.kind != "incident":
        return 1.0 + bonus
    bonus += CONFIRMED if facts.confirmed else 0.0
    age = age_in_days(facts.date, today)
    return 1.0 + bonus + (RECENT * 0.5 ** (age / FRESH_DAYS) if age is not None else 0.0)


def age_in_days(day: str, today: date) -> float | None:
    """Days between a year, month, day or instant and today; None where there is none."""
    padded = {4: f"{day}-12-31", 7: f"{day}-28"}.get(len(day), day[:10])
    try:
        return max(0.0, float((today - date.fromisoformat(padded)).days))
    except ValueError:
        return None


def day_of(today: str) -> date:
    """A given day, else the current one (UTC)."""
    return date.fromisoformat(today[:10]) if today else datetime.now(UTC).date()


def bag(text: str) -> frozenset[str]:
    """The words of a text, for `alike`."""
    return frozenset(_WORD.findall(text.lower()))


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts say nearly the same."""
    both = len(one | other)
    return both > 0 and len(one & other) / both >= ALIKE
