"""Whether anything fits: what speaks for it, and whether that is enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assistant.retrieval.ideas import is_idea
from assistant.retrieval.store import Store
from assistant.retrieval.tuning import Threshold

LOOKED_AT = 10
"""Passages of each engine among which the one is sought that holds most of the query's words."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for there being an answer."""

    decisive: bool
    """A code, a signature or a template was recognised."""
    near: float
    """Likeness of the nearest passage."""
    share: float
    """Share of the query's words, by rarity, that the best passage holds."""
    unknown: float
    """Share of the query's words that no passage holds."""
    strange: tuple[str, ...]
    """Codes in the query that nothing is known of."""
    nearest: int | None
    """Row of the nearest passage; None where no engine found any."""

    def score(self, threshold: Threshold) -> float:
        """The signs together, to be compared with `threshold.least`."""
        against = threshold.unknown * self.unknown + (threshold.strange if self.strange else 0.0)
        return threshold.meaning * self.near + threshold.words * self.share - against

    def enough(self, threshold: Threshold) -> bool:
        """Whether something fits."""
        return self.decisive or (self.nearest is not None and self.score(threshold) >= threshold.least)

    def told(self, store: Store) -> str:
        """That nothing fits, and how near the nearest comes."""
        unknown = f"nothing is known of {', '.join(self.strange)}; " if self.strange else ""
        if self.nearest is None:
            return f"{unknown}nothing holds any of these words"
        document = store.passage(self.nearest).document
        likeness = f"{self.share:.0%} of the words, likeness {self.near:.2f}"
        return f"{unknown}nothing fits; nearest is {document} ({likeness})"


def share_unknown(wanted: Sequence[str], rarity: Mapping[str, float]) -> float:
    """Share of a query's words that no passage holds; numbers and codes of that kind do not count."""
    words = {word for word in wanted if not is_idea(word)}
    return sum(word.isalpha() for word in words - rarity.keys()) / len(words) if words else 0.0
