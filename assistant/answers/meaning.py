"""A second opinion where the words of a question leave it open: what it means, by a model of texts as vectors.

Without such a model the words decide alone. Reading all sayings takes such a model seconds: their vectors come with the
knowledge (`sayings.npz`), and only those of sayings that were added since are computed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from assistant.answers.learning import arrays, digest, packed, unpacked, write
from assistant.answers.likeness import Example, Likeness, Numbers, learned_with
from assistant.errors import RootrankError
from assistant.paths import locate

SHIPPED = "sayings.npz"
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
    vectors = vectors_of([natural(one.text) for one in examples], meaning)
    worded, shares = learned_with(examples, same(vectors @ vectors.T))
    if path is not None:
        write(path, packed(worded, vectors=vectors, shares=shares))
    return Opinion(worded, vectors, shares)


def vectors_of(texts: Sequence[str], meaning: Meaning, folders: Sequence[Path] | None = None) -> Numbers:
    """The vectors of the texts: those that come with the knowledge, the others from the model."""
    known: dict[str, Numbers] = {}
    for folder in locate("knowledge") if folders is None else folders:
        known |= _shipped(arrays(folder / SHIPPED), meaning.id)
    missing = [text for text in dict.fromkeys(texts) if key(text) not in known]
    fresh = meaning.documents(missing) if missing else ()
    known |= {key(text): row for text, row in zip(missing, fresh, strict=True)}
    return np.asarray(np.stack([known[key(text)] for text in texts]), np.float32)


def shipped(texts: Sequence[str], meaning: Meaning) -> bytes:
    """The vectors of the texts as a file that comes with the knowledge, in one byte a number."""
    distinct = sorted(set(texts), key=key)
    vectors = np.asarray(meaning.documents(distinct), np.float32)
    rows = np.round(vectors / np.abs(vectors).max(axis=1, keepdims=True) * 127).astype(np.int8)
    names = np.frombuffer("\n".join(map(key, distinct)).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, model=np.frombuffer(meaning.id.encode(), np.uint8), names=names, rows=rows)
    return file.getvalue()


def key(text: str) -> str:
    """The name under which the vector of a text is kept."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _shipped(kept: dict[str, Any] | None, model: str) -> dict[str, Numbers]:
    """Vectors by name; none where the file is none, or of another model."""
    with contextlib.suppress(KeyError, ValueError, TypeError, AttributeError):
        if kept is not None and kept["model"].tobytes().decode() == model and kept["rows"].ndim == 2:
            rows = kept["rows"].astype(np.float32)
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
            return dict(zip(kept["names"].tobytes().decode().split("\n"), rows, strict=True))
    return {}


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
