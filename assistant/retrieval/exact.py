"""What fits beyond likeness: a code that a document is listed under, a signature that fires, a template seen before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assistant.faults.matcher import Matcher
from assistant.faults.models import FaultRole
from assistant.retrieval.models import Query
from assistant.retrieval.store import Store

LINES = 400
"""Lines of a pasted text that are matched."""
LINE = 4_096
"""Characters of each."""
SIGNATURE = 1.2
"""What a firing signature counts against a code, which counts 1."""
TEMPLATE = 1.5
"""What a failure counts whose templates are all the same."""


@dataclass(slots=True)
class Exact:
    """Documents with a score and the reasons for it."""

    scores: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def decisive(self) -> bool:
        """Whether anything was found at all."""
        return bool(self.scores)

    def add(self, key: str, score: float, reason: str) -> None:
        """One more reason for a document."""
        self.scores[key] = self.scores.get(key, 0.0) + score
        self.reasons[key] = (*self.reasons.get(key, ()), reason)


def exact_hits(store: Store, query: Query, codes: Mapping[str, str], matcher: Matcher | None) -> Exact:
    """Everything that the codes, the fired signatures and the templates of a query lead to."""
    found = Exact()
    for key, rarity in store.by_codes(codes, query.filters).items():
        for code, worth in rarity.items():
            found.add(key, worth, f"code {codes[code]}")
    faults = fired(query, matcher)
    for key, rarity in store.by_faults(faults, query.filters).items():
        for fault, worth in rarity.items():
            own = key == f"fault:{fault}"
            found.add(key, SIGNATURE * faults[fault] * (1.0 if own else worth), f"signature {fault}")
    _add_templates(found, store, query)
    return found


def fired(query: Query, matcher: Matcher | None) -> dict[str, float]:
    """Fault entries that the query names or its lines match, each with how much it counts: the first most."""
    ids = dict.fromkeys(query.faults)
    if matcher is not None:
        ids |= dict.fromkeys(_matched(query.text, matcher))
    return {fault: 1.0 / (1 + 0.25 * place) for place, fault in enumerate(ids)}


def _matched(text: str, matcher: Matcher) -> list[str]:
    """Ids of matching entries, roots before consequences; look-alikes that are no failure count only alone."""
    lines = [line[:LINE] for line in text.splitlines()[:LINES] if line.strip()]
    whole = "\n".join(lines)
    ids = dict.fromkeys(fault for record in dict.fromkeys((whole, *lines)) for fault in matcher.match(record))
    order = list(FaultRole)
    return sorted(ids, key=lambda fault: order.index(matcher.library[fault].role))


def _add_templates(found: Exact, store: Store, query: Query) -> None:
    wanted = frozenset(query.templates)
    if not wanted:
        return
    for key, templates in store.by_templates(query.filters).items():
        if common := wanted & templates:
            share = len(common) / len(templates)
            found.add(key, TEMPLATE * share, f"template {len(common)} of {len(templates)}")
