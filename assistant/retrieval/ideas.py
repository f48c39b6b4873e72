"""Ideas: one thing said in several words, as the rows of synonyms in `knowledge/retrieval.yaml` list them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from assistant.retrieval.stems import stem

LONGEST = 4
"""Words of the longest phrase, those that say nothing not counted."""
_PREFIX = "idea_"
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Ideas:
    """All rows of synonyms. Unchanging, so safe in threads."""

    rows: Mapping[tuple[str, ...], int]
    """The stems of each phrase, and the row it stands in."""
    names: tuple[str, ...]
    """The first phrase of each row."""
    silent: frozenset[str]
    """Words that say nothing."""

    def terms(self, stems: Sequence[str]) -> list[str]:
        """What the ideas within a text are indexed as, beside its words."""
        return [f"{_PREFIX}{row}" for _, _, row in self._within(stems)]

    def of(self, words: Iterable[str]) -> dict[str, str]:
        """Stems that stand for an idea by themselves: stem -> what the idea is indexed as."""
        return {word: f"{_PREFIX}{self.rows[word,]}" for word in words if (word,) in self.rows}

    def reworded(self, text: str) -> str:
        """The text in the words of this knowledge, for what compares by meaning."""
        words = [match for match in _WORD.finditer(text) if match[0].lower() not in self.silent]
        parts, at = list[str](), 0
        for start, end, row in self._within([stem(match[0].lower()) for match in words]):
            parts += (text[at : words[start].start()], self.names[row])
            at = words[end - 1].end()
        return "".join((*parts, text[at:]))

    def _within(self, stems: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """Start, end and row of each phrase, the longest first, none within another."""
        start = 0
        while start < len(stems):
            ends = range(min(start + LONGEST, len(stems)), start, -1)
            end = next((end for end in ends if tuple(stems[start:end]) in self.rows), None)
            if end is not None:
                yield start, end, self.rows[tuple(stems[start:end])]
            start = end or start + 1


def is_idea(term: str) -> bool:
    """Whether an indexed word stands for an idea."""
    return term.startswith(_PREFIX)


@cache
def ideas_of(synonyms: tuple[tuple[str, ...], ...], silent: frozenset[str]) -> Ideas:
    """The rows by stems; of a phrase in two rows the first counts."""
    rows: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(synonyms):
        for phrase in row:
            rows.setdefault(_stems(phrase, silent), number)
    rows.pop((), None)
    return Ideas(rows, tuple(row[0] for row in synonyms), silent)


def _stems(phrase: str, silent: frozenset[str]) -> tuple[str, ...]:
    return tuple(stem(word) for word in _WORD.findall(phrase.lower()) if word not in silent)
