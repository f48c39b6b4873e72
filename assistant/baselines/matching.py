"""Find one run's templates among those of others, where more samples made more of the words variable.

Drain turns a word into a wildcard once it has seen two values of it, so that the same message has one template after a
short trial run and another after a long one. Two templates are the same message when they have as many words, every
word is equal, or a wildcard on either side, or two values that both look like parameters; and when enough constant
words remain to tell the message by. A word of failure must stand in both: no wildcard swallows it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

ANY = "<*>"
ENOUGH = 0.4
"""Share of the words that must be equal."""
MOST_WORDS = 120
"""Longer templates are compared by their first words only."""
MOST_PAIRS = 2_000_000
"""Pairs of one length that are compared at once; above that, only those with the same first word."""

_FAILURE = re.compile(
    r"(?i)(error|fail|fatal|abort|exception|timed?.?out|timeout|killed|refused|denied|invalid|missing|corrupt"
    r"|panic|\bnan\b|\binf\b|lost|unreachable|overflow|cannot|can't|unable|crash|exceed|broken|dead|\bbad\b)"
)
_VARIABLE = re.compile(r"[0-9/\\<>]")
_WORD = re.compile(r"[A-Za-z]{2}")

Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


def words(text: str) -> list[str]:
    """The words by which templates are compared."""
    return text.split()[:MOST_WORDS]


def has_failure_word(text: str) -> bool:
    """Whether a text holds a word of failure."""
    return _FAILURE.search(text) is not None


def more_general(text: str, other: str) -> bool:
    """Whether the first of two templates of one message has more wildcards."""
    return words(text).count(ANY) > words(other).count(ANY)


@dataclass(slots=True)
class _Vocabulary:
    codes: dict[str, int]
    variable: list[bool]
    failure: list[bool]
    telling: list[bool]

    @classmethod
    def empty(cls) -> _Vocabulary:
        return cls({ANY: 0}, [True], [False], [False])

    def encode(self, tokens: Iterable[str]) -> list[int]:
        return [self.codes[token] if token in self.codes else self._learn(token) for token in tokens]

    def _learn(self, token: str) -> int:
        self.codes[token] = len(self.codes)
        failing = _FAILURE.search(token) is not None
        self.variable.append(not failing and _VARIABLE.search(token) is not None)
        self.failure.append(failing)
        self.telling.append(_WORD.search(token) is not None)
        return self.codes[token]


class Index:
    """Templates by id, alias and likeness."""

    def __init__(self, texts: dict[str, str], aliases: dict[str, str]) -> None:
        self._ids = {**aliases, **{key: key for key in texts}}
        self._by_length: dict[int, list[tuple[str, list[str]]]] = defaultdict(list)
        for key in sorted(texts):
            tokens = words(texts[key])
            self._by_length[len(tokens)].append((key, tokens))

    def match(self, templates: Sequence[tuple[str, str]]) -> list[str | None]:
        """For each (id, text) the id of the held template that is the same message, or None. Deterministic."""
        found: list[str | None] = [self._ids.get(key) for key, _ in templates]
        open_by_length: dict[int, list[tuple[int, list[str]]]] = defaultdict(list)
        for at, (_, text) in enumerate(templates):
            if found[at] is None:
                tokens = words(text)
                open_by_length[len(tokens)].append((at, tokens))
        for length, group in open_by_length.items():
            if length and length in self._by_length:
                for at, key in _alike(group, self._by_length[length]):
                    found[at] = key
        return found


def _alike(group: list[tuple[int, list[str]]], held: list[tuple[str, list[str]]]) -> Iterable[tuple[int, str]]:
    if len(group) * len(held) <= MOST_PAIRS:
        yield from _compare(group, held)
        return
    by_first: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for key, tokens in held:
        by_first[tokens[0]].append((key, tokens))
    groups: dict[str, list[tuple[int, list[str]]]] = defaultdict(list)
    for at, tokens in group:
        groups[tokens[0]].append((at, tokens))
    for first, members in groups.items():
        rows = by_first.get(first, [])[: max(1, MOST_PAIRS // len(members))]
        yield from _compare(members, rows)


def _compare(group: list[tuple[int, list[str]]], held: list[tuple[str, list[str]]]) -> Iterable[tuple[int, str]]:
    if not held:
        return
    vocabulary = _Vocabulary.empty()
    ours = np.array([vocabulary.encode(tokens) for _, tokens in group], dtype=np.int32)
    theirs = np.array([vocabulary.encode(tokens) for _, tokens in held], dtype=np.int32)
    rows, columns, shares = _pairs(ours, theirs, _Tables(vocabulary))
    order = np.lexsort((columns, -shares, rows))
    _, firsts = np.unique(rows[order], return_index=True)
    for at in order[firsts]:
        yield group[rows[at]][0], held[columns[at]][0]


class _Tables:
    """The vocabulary as arrays over codes."""

    def __init__(self, vocabulary: _Vocabulary) -> None:
        self.variable = np.array(vocabulary.variable)
        self.failure = np.array(vocabulary.failure)
        self.telling = np.array(vocabulary.telling)

    def fit(self, left: Codes, right: Codes) -> Flags:
        """Where two words may stand for each other."""
        wild = ((left == 0) & ~self.failure[right]) | ((right == 0) & ~self.failure[left])
        fits: Flags = (left == right) | wild | (self.variable[left] & self.variable[right])
        return fits


def _pairs(ours: Codes, theirs: Codes, tables: _Tables) -> tuple[Codes, Codes, npt.NDArray[np.float64]]:
    """Rows, columns and shares of equal words of the pairs that are one message."""
    rows, columns = np.nonzero(tables.fit(ours[:, 0, None], theirs[None, :, 0]))
    equal = np.zeros(len(rows), dtype=np.int32)
    told = np.zeros(len(rows), dtype=np.bool_)
    for at in range(ours.shape[1]):
        left, right = ours[rows, at], theirs[columns, at]
        same = left == right
        equal += same
        told |= same & tables.telling[left]
        keep = tables.fit(left, right)
        rows, columns, equal, told = rows[keep], columns[keep], equal[keep], told[keep]
    share = equal / ours.shape[1]
    keep = told & (share >= ENOUGH)
    return rows[keep].astype(np.int32), columns[keep].astype(np.int32), share[keep]
