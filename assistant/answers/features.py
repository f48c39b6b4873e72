"""What a question is compared by: its words, their order, and parts of them, so that slips matter little."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

OTHER = "<other>"
"""Stands for a word that no saying holds: one more of them makes it likelier that something else is asked."""
WEIGHTS = {"word": 1.0, "pair": 1.0, "skip": 1.0, "part": 1.0, "first": 0.5}
"""Kinds of features and how much each counts."""
REACH = 3
"""How many words further the second of a skipping pair may stand."""
PARTS = (3, 4, 5)
"""Letters of the parts of words."""
LONGEST = 60
"""Words of a question that are looked at."""
_VOWEL = re.compile(r"[aeiouy]")
_TOKEN = re.compile(r"<[a-z]+>|[a-z0-9][a-z0-9'-]*")

Features = dict[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Words:
    """How words are read."""

    same: Mapping[str, str]
    """Words that are read as another, or as several."""
    fillers: frozenset[str]
    """Words that tell nothing."""

    def of(self, text: str) -> list[str]:
        """The words of a text as they are compared."""
        read = [part for word in _TOKEN.findall(text.lower()) for part in self.same.get(word, word).split()]
        return [stem(word[:24]) for word in read if word not in self.fillers][:LONGEST]


def stem(word: str) -> str:
    """A word without its ending, so that `node` and `nodes`, `stop` and `stopped` are the same."""
    if word.startswith("<") or len(word) < 4:
        return word
    if word.endswith("ies"):
        word = f"{word[:-3]}y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
    return word.removesuffix("e") if len(word) >= 4 else word


def features(words: list[str], known: Callable[[str], bool]) -> Features:
    """The features of a text. `known` says whether the sayings hold a word."""
    read = [word if word.startswith("<") or known(word) else OTHER for word in words]
    counted: Features = Counter(("word", word) for word in words)
    counted |= {("word", OTHER): read.count(OTHER)} if OTHER in read else {}
    counted.update(_counted("pair", (f"{one} {two}" for one, two in pairwise(["^", *read, "$"]))))
    counted.update(_counted("skip", _skipping(words)))
    counted.update(_counted("part", (part for word in words for part in _parts(word))))
    counted.update({("first", word): 1 for word in words[:1]})
    return counted


def _counted(kind: str, names: Iterable[str]) -> Features:
    return Counter((kind, name) for name in names)


def _skipping(words: list[str]) -> list[str]:
    return [f"{one} {two}" for at, one in enumerate(words) for two in words[at + 1 : at + 1 + REACH]]


def _parts(word: str) -> list[str]:
    if word.startswith("<"):
        return []
    whole = f" {word} "
    return [whole[at : at + size] for size in PARTS for at in range(len(whole) - size + 1)]
