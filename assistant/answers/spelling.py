"""Mends slips of the typing hand in a question, against the words that are known, and spaces that were left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"(?<![\w./:<@-])[a-z][a-z']{2,39}(?![\w./:>@-])")
RUN = 8
"""From so many letters on, a word may be several that were typed without spaces."""
SHORT, LONG = 5, 9
"""Up to so many letters only a swap, a lost or a doubled letter is a slip; from so many on two slips are."""


class Spelling:
    """Known words by first letter."""

    def __init__(self, words: Iterable[str]) -> None:
        self._known = frozenset(words)
        by_letter: defaultdict[str, list[str]] = defaultdict(list)
        for word in sorted(self._known):
            by_letter[word[:1]].append(word)
        self._by_letter: Mapping[str, list[str]] = by_letter

    def mended(self, text: str) -> str:
        """The text with each unknown lower-case word replaced by the one it most likely was meant to be."""
        return _WORD.sub(lambda found: self._meant(found[0]), text)

    def _meant(self, word: str) -> str:
        if word in self._known or word.rstrip("s") in self._known:
            return word
        if len(word) >= RUN and (apart := self._apart(word)):
            return apart
        near = [known for known in self._by_letter.get(word[0], ()) if _near(word, known)]
        return min(near, key=lambda known: (distance(word, known), known), default=word)

    def _apart(self, run: str) -> str:
        """The fewest known words that a run of letters consists of, with spaces; "" where it does not."""
        best: list[tuple[str, ...] | None] = [(), *[None] * len(run)]
        for end in range(1, len(run) + 1):
            for start in range(max(0, end - 16), end):
                before, word = best[start], run[start:end]
                fits = before is not None and word in self._known and (len(word) > 1 or word in "ai")
                if fits and before is not None and (best[end] is None or len(before) + 1 < len(best[end] or ())):
                    best[end] = (*before, word)
        return " ".join(best[-1] or ())


def _near(word: str, known: str) -> bool:
    if abs(len(word) - len(known)) > 2 or len(known) < 3:
        return False
    if sorted(word) == sorted(known):
        return distance(word, known) == 1
    if len(word) < SHORT - 1 or (len(word) <= SHORT and len(word) == len(known)):
        return False
    return distance(word, known) <= (2 if min(len(word), len(known)) >= LONG else 1)


def distance(one: str, other: str) -> int:
    """Letters to insert, delete, replace or swap with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        above, row, before_last = row, [i], before
        for j, wanted in enumerate(other, start=1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        before = above
    return row[-1]
