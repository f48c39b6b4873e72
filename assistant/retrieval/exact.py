"""What fits beyond likeness: a code that a document is listed under, a signature that fires, a template seen before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assistant.faults.matcher import Matcher
from assistant.faults.models import FaultRole, Specificity
from assistant.retrieval.models import Query
from assistant.retrieval.store import Store

LINES = 400
"""Lines of a pasted text that are matched."""
LINE = 4_096
"""Characters of each."""
SIGNATURE = 2.0
"""What the entry of a firing signature counts against a code, which counts 1; documents about it count less."""
GENERIC = 0.25
"""What is left of that for an entry that fires on any error of its kind."""
TEMPLATE = 1.5
"""What a failure counts whose templates are all the same."""


@dataclass(slots=True)
class Exact:
    """Documents with a score and the reasons for it."""

    scores: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, tuple[str, ...]] = field(default_factory=dict)
    strength: dict[str, float] = field(default_factory=dict)
    """0 to 1: how much the best reason proves by itself."""

    @property
    def decisive(self) -> bool:
        """Whether something was found that is more than an error in general."""
        return any(strength > GENERIC for strength in self.strength.values())

    def add(self, key: str, score: float, reason: str, strength: float = 1.0) -> None:
        """One more reason for a document."""
        self.scores[key] = self.scores.get(key, 0.0) + score
        self.strength[key] = max(strength, self.strength.get(key, 0.0))
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
            share = faults[fault] * (SIGNATURE if key == f"fault:{fault}" else worth)
            found.add(key, share, f"signature {fault}", GENERIC if _generic(fault, matcher) else 1.0)
    _add_templates(found, store, query)
    return found


def fired(query: Query, matcher: Matcher | None) -> dict[str, float]:
    """Fault entries that the query names or its lines match, each with how much it counts: the first most."""
    ids = dict.fromkeys(query.faults)
    if matcher is not None:
        ids |= dict.fromkeys(_matched(query.text, matcher))
    worth = {fault: 1.0 / (1 + 0.25 * place) for place, fault in enumerate(ids)}
    return {fault: value * (GENERIC if _generic(fault, matcher) else 1.0) for fault, value in worth.items()}


def _generic(fault: str, matcher: Matcher | None) -> bool:
    entry = matcher.library.get(fault) if matcher else None
    return entry is not None and entry.specificity is Specificity.GENERIC


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
