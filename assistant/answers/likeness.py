"""Which intent a question is most like: one weight for each feature and intent, learned from the sayings.

Ridge regression, solved exactly: no chance, no steps, the same sayings give the same weights.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from assistant.answers.features import WEIGHTS, Features, features

VERSION = 1
"""Counts up when something else would be learned from the same sayings."""
RIDGE = 0.3
"""How little one saying is trusted alone; between 0.1 and 1 it hardly matters."""

Numbers = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Example:
    """A saying with the intent that it stands for; "" for questions about something else."""

    intent: str
    words: tuple[str, ...]
    text: str = field(default="", compare=False)
    """As it is said."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What was learned."""

    intents: tuple[str, ...]
    known: frozenset[str]
    """Words that the sayings of some intent hold."""
    places: dict[tuple[str, str], int]
    """Row of each feature."""
    rarity: Numbers
    weights: Numbers
    """A row for each feature, a column for each intent."""
    rarest: float

    def scores(self, words: Sequence[str]) -> Numbers:
        """How much a question is like each intent, around 0 to 1."""
        found = weighed(features(list(words), self.known.__contains__), self.places, self.rarity, self.rarest)
        rows = list(found)
        return np.asarray(np.array(list(found.values()), np.float32) @ self.weights[rows], np.float32)

    def strange(self, words: Iterable[str]) -> int:
        """How many of the words no saying holds."""
        return sum(not word.startswith("<") and word not in self.known for word in words)


@dataclass(frozen=True, slots=True)
class _Table:
    """The examples in numbers."""

    known: frozenset[str]
    places: dict[tuple[str, str], int]
    rarity: Numbers
    rarest: float
    rows: Any
    """A sparse matrix: a row for each example, of length 1, a column for each feature."""


def learned(examples: Sequence[Example]) -> Likeness:
    """Weights from sayings."""
    return learned_with(examples, None)[0]


def learned_with(examples: Sequence[Example], meant: Numbers | None) -> tuple[Likeness, Numbers]:
    """The same, and what each saying contributes to each intent.

    Args:
        meant: how much the sayings mean the same, 0 to 1; it then counts as much as how they are worded.
    """
    table = _table(examples)
    intents, wanted = targets(examples)
    worded = np.asarray((table.rows @ table.rows.T).toarray(), np.float32)
    share = 1.0 if meant is None else 0.5
    together = worded if meant is None else np.asarray((worded + meant) / 2, np.float32)
    shares = share * ridge(together, wanted)
    weights = np.asarray(table.rows.T @ shares, np.float32)
    return Likeness(intents, table.known, table.places, table.rarity, weights, table.rarest), shares


def targets(examples: Sequence[Example]) -> tuple[tuple[str, ...], Numbers]:
    """The intents, and a row for each example: 1 for its own, 0 for all others."""
    intents = tuple(sorted({example.intent for example in examples}))
    wanted = np.zeros((len(examples), len(intents)), np.float32)
    wanted[range(len(examples)), [intents.index(example.intent) for example in examples]] = 1
    return intents, wanted


def alike(examples: Sequence[Example]) -> Numbers:
    """How much the sayings are worded like each other, 0 to 1."""
    rows = _table(examples).rows
    return np.asarray((rows @ rows.T).toarray(), np.float32)


def _table(examples: Sequence[Example]) -> _Table:
    bags, said = _bags(examples)
    seen = Counter(term for bag in bags for term in bag)
    places = {term: at for at, term in enumerate(sorted(seen))}
    rarity = np.array([_rarity(len(bags), seen[term]) for term in places], np.float32)
    rarest = _rarity(len(bags), 0)
    rows = _matrix([weighed(bag, places, rarity, rarest) for bag in bags], len(places))
    return _Table(frozenset(said), places, rarity, rarest, rows)


def _bags(examples: Sequence[Example]) -> tuple[list[Features], Counter[str]]:
    """The features of each, and the words. A word that only one saying holds is strange to all others: it is learned
    as strange."""
    said = Counter(word for example in examples if example.intent for word in set(example.words))
    alone = {word for word, count in said.items() if count == 1}
    common, all_ = frozenset(said) - alone, frozenset(said)
    return [features(list(one.words), (common if one.intent else all_).__contains__) for one in examples], said


def ridge(alike: Numbers, wanted: Numbers) -> Numbers:
    """What each saying contributes to each intent, from how much the sayings are like each other."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):  # On a busy machine several threads take a multiple of the time.
        return np.asarray(np.linalg.solve(alike + RIDGE * np.eye(len(alike), dtype=np.float32), wanted), np.float32)


def weighed(found: Features, places: dict[tuple[str, str], int], rarity: Numbers, rarest: float) -> dict[int, float]:
    """Features by row, rare ones heavier, each kind of the same length."""
    parts: dict[str, list[tuple[int | None, float]]] = {kind: [] for kind in WEIGHTS}
    for term, count in found.items():
        at = places.get(term)
        parts[term[0]].append((at, count * (rarest if at is None else float(rarity[at]))))
    whole = sum(WEIGHTS.values())
    weights: dict[int, float] = {}
    for kind, terms in parts.items():
        size = math.sqrt(sum(weight * weight for _, weight in terms)) or 1.0
        share = math.sqrt(WEIGHTS[kind] / whole) / size
        weights |= {at: weight * share for at, weight in terms if at is not None}
    return weights


def _rarity(texts: int, holding: int) -> float:
    return math.log((1 + texts) / (1 + holding)) + 1


def _matrix(rows: Sequence[dict[int, float]], width: int) -> Any:  # noqa: ANN401 - the library is imported when needed
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    starts = np.cumsum([0, *map(len, rows)])
    columns = [at for row in rows for at in row]
    values = np.array([value for row in rows for value in row.values()], np.float32)
    return csr_matrix((values, columns, starts), shape=(len(rows), width))
