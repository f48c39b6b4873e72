"""A second opinion where the words of a question leave it open: what it means, by a model of texts as vectors.

Without such a model the words decide alone. The vectors of the sayings are kept in a file, as reading them all takes
seconds.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from assistant.answers.learning import arrays, digest, packed, unpacked, write
from assistant.answers.likeness import Example, Likeness, Numbers, learned_with
from assistant.errors import RootrankError

PLACES: Mapping[str, str] = {
    "<rank>": "rank 3", "<node>": "node n03", "<code>": "SIGKILL", "<cause>": "the network", "<evidence>": "line E1",
    "<word>": "communicator", "<quote>": '"connection closed"', "<file>": "rank-3.log", "<iteration>": "iteration 5",
}  # fmt: skip
"""What is read in place of a placeholder: models know no placeholders."""


class Meaning(Protocol):
    """Turns texts into vectors of length 1. Raises RootrankError where it cannot."""

    @property
    def id(self) -> str:
        """Which model it is."""
        ...

    def documents(self, texts: Sequence[str]) -> Numbers:
        """One row a text."""
        ...

    def query(self, text: str) -> Numbers:
        """The vector of one text."""
        ...


@dataclass(frozen=True, slots=True)
class Opinion:
    """What was learned from the wording and the meaning of the sayings together."""

    worded: Likeness
    vectors: Numbers
    shares: Numbers

    def scores(self, words: Sequence[str], vector: Numbers) -> Numbers:
        """How much a question is like each intent, around 0 to 1."""
        return np.asarray(self.worded.scores(words) + same(self.vectors @ vector) @ self.shares, np.float32)


@dataclass(slots=True)
class SecondOpinion:
    """Opens its model when it is first asked, and is silent from then on where there is none."""

    open: Callable[[], Meaning | None]
    examples: tuple[Example, ...]
    cache: Path | None = None
    _meaning: Meaning | None = None
    _opinion: Opinion | None = None
    _silent: bool = field(default=False)

    def scores(self, words: Sequence[str], text: str) -> tuple[tuple[str, ...], Numbers] | None:
        """The intents and how much a text with placeholders is like each; None where no model can be asked."""
        if self._silent:
            return None
        with contextlib.suppress(RootrankError):
            self._meaning = self._meaning or self.open()
            if self._meaning is not None:
                self._opinion = self._opinion or opinion_of(self.examples, self._meaning, self.cache)
                vector = self._meaning.query(natural(text)[:500])
                return self._opinion.worded.intents, self._opinion.scores(words, vector)
        self._silent = True
        return None


def opinion_of(examples: tuple[Example, ...], meaning: Meaning, cache: Path | None) -> Opinion:
    """What is learned with this model, from the file in `cache` where it is there."""
    name = hashlib.blake2b(f"{meaning.id} {digest(examples)}".encode(), digest_size=8).hexdigest()
    path = None if cache is None else cache / f"meanings-{name}.npz"
    kept = None if path is None else _read(path, len(examples))
    if kept is not None:
        return kept
    vectors = np.asarray(meaning.documents([natural(one.text) for one in examples]), np.float32)
    worded, shares = learned_with(examples, same(vectors @ vectors.T))
    if path is not None:
        write(path, packed(worded, vectors=vectors, shares=shares))
    return Opinion(worded, vectors, shares)


def same(cosines: Numbers) -> Numbers:
    """From the cosine of two texts, how much they mean the same."""
    return np.asarray(np.maximum(cosines, 0) ** 2, np.float32)


def natural(text: str) -> str:
    """A text with placeholders as a person might say it."""
    for place, said in PLACES.items():
        text = text.replace(place, said)
    return text


def _read(path: Path, examples: int) -> Opinion | None:
    kept = arrays(path)
    worded = unpacked(kept)
    if kept is None or worded is None or "vectors" not in kept or "shares" not in kept:
        return None
    vectors, shares = kept["vectors"], kept["shares"]
    fits = vectors.ndim == 2 and len(vectors) == examples and shares.shape == (examples, len(worded.intents))
    return Opinion(worded, vectors, shares) if fits else None
