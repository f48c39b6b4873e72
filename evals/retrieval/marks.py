"""How good the answers to questions were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.retrieval.models import Answer
from evals.retrieval.questions import Question

SEEN = 5
"""Places of a list that a person looks at."""
DEPTH = 10
"""Places that are asked for; an answer further down counts as not found."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One question with the places at which its answers stood."""

    question: Question
    fits: bool
    found: tuple[str, ...]
    """Ids of documents, best first; empty where the search says that nothing fits."""
    places: tuple[int, ...]
    """From 1, of each document that answers."""

    @property
    def first(self) -> int | None:
        """Place of the first document that answers."""
        return min(self.places, default=None)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one engine over some questions; None where there is nothing to count."""

    answerable: int
    recall_at_5: float | None
    """Share of questions with an answer among the first five."""
    mrr: float | None
    """Mean of 1 / place of the first answer; 0 where it is not among the first ten."""
    all_at_5: float | None
    """Mean share of all listed answers, at the most five, that stand among the first five."""
    unanswerable: int
    recognised: float | None
    """Share of questions without an answer of which the search says that nothing fits."""


def mark(question: Question, answer: Answer) -> Mark:
    """One question marked. A document counts once, at its best place; folded twins stand where they are shown."""
    wanted, best = frozenset(question.answers), dict[str, int]()
    for place, hit in enumerate(answer.hits, start=1):
        for document in (hit.passage.document, *hit.folded):
            if document in wanted:
                best.setdefault(document, place)
    found = tuple(f"{hit.passage.kind}:{hit.passage.document}" for hit in answer.hits)
    return Mark(question, answer.fits, found, tuple(sorted(best.values())))


def figures(marks: Sequence[Mark]) -> Figures:
    """The sums over some marks."""
    asked = [one for one in marks if one.question.answers]
    beside = [one for one in marks if not one.question.answers]
    return Figures(
        answerable=len(asked),
        recall_at_5=_mean(asked, lambda one: float(one.first is not None and one.first <= SEEN)),
        mrr=_mean(asked, lambda one: 1 / one.first if one.first else 0.0),
        all_at_5=_mean(asked, lambda one: _seen(one) / min(SEEN, len(one.question.answers))),
        unanswerable=len(beside),
        recognised=_mean(beside, lambda one: float(not one.fits)),
    )


def _seen(one: Mark) -> int:
    return sum(place <= SEEN for place in one.places)


def _mean(marks: Sequence[Mark], value: Callable[[Mark], float]) -> float | None:
    return round(sum(value(one) for one in marks) / len(marks), 4) if marks else None
