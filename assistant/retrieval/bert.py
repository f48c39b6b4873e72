"""all-MiniLM-L6-v2 for single questions, in plain numpy: torch alone takes seconds to start, this takes milliseconds.

For many texts the model in `transformers.py` is the better one; both give the same vectors.
"""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assistant.errors import ModelMissing
from assistant.retrieval.embedders import unit
from assistant.retrieval.transformers import PUBLISHED, WEIGHTS, package_folder, verify
from assistant.retrieval.vectors import Vectors

if TYPE_CHECKING:
    from assistant.config import Retrieval

LONGEST = 128
"""Tokens of a text that are read."""
BATCH = 64
_NEEDED = ("tokenizers", "safetensors")
_SMALL = 1e-12


@dataclass(slots=True)
class Bert:
    """The model in a folder, loaded when it is first used. Safe in threads.

    Raises ModelMissing where it cannot be loaded, ModelChanged where its weights are not those that were published.
    """

    folder: Path
    id: str = f"minilm/{PUBLISHED[:12]}"
    _weights: dict[str, Vectors] = field(default_factory=dict, repr=False)
    _tokenizer: Any = None
    _heads: int = 12
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text, of length 1."""
        with self._lock:
            self._load()
            encoded = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with threadpool_limits(1):  # Several threads wait for each other longer than such small products take.
            return self._batches(encoded)

    def _batches(self, encoded: Sequence[Sequence[int]]) -> Vectors:
        """Texts of like length together, so that little is padded."""
        vectors = np.zeros((len(encoded), self._weights["embeddings.word_embeddings.weight"].shape[1]), np.float32)
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            vectors[some] = self._forward([encoded[at] for at in some])
        return vectors

    def query(self, text: str) -> Vectors:
        """The vector of one text."""
        return np.asarray(self.documents([text])[0], np.float32)

    def _load(self) -> None:
        if self._weights:
            return
        verify(self.folder, PUBLISHED)
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        try:
            self._heads = int(json.loads((self.folder / "config.json").read_bytes())["num_attention_heads"])
            self._tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(LONGEST)
            self._weights = load_file(self.folder / WEIGHTS)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelMissing(f"the model in {self.folder} cannot be read: {error}", hint="install it again") from None

    def _forward(self, batch: Sequence[Sequence[int]]) -> Vectors:
        """Mean of the last layer over the tokens of each text."""
        width = max(map(len, batch))
        ids = np.array([[*one, *[0] * (width - len(one))] for one in batch])
        held = np.array([[1.0] * len(one) + [0.0] * (width - len(one)) for one in batch], np.float32)
        state = self._embedded(ids)
        barred = ((held - 1) * 1e9)[:, None, None, :]
        layers = sum(name.endswith("attention.self.query.weight") for name in self._weights)
        for number in range(layers):
            state = _layer(self._weights, f"encoder.layer.{number}.", self._heads, state, barred)
        summed = (state * held[:, :, None]).sum(axis=1)
        return unit(np.asarray(summed / np.maximum(held.sum(axis=1, keepdims=True), 1), np.float32))

    def _embedded(self, ids: Vectors) -> Vectors:
        weights = self._weights
        places = weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kinds = weights["embeddings.token_type_embeddings.weight"][0]
        return _normed(
            weights, "embeddings.LayerNorm", weights["embeddings.word_embeddings.weight"][ids] + places + kinds
        )


def _layer(weights: Mapping[str, Vectors], name: str, heads: int, state: Vectors, barred: Vectors) -> Vectors:
    """One layer of a transformer that reads both ways: attention, then two dense steps, each added and normed."""
    query, key, value = (
        _split(_dense(weights, f"{name}attention.self.{part}", state), heads) for part in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(np.float32(query.shape[-1])) + barred
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    joined = (shares @ value).swapaxes(1, 2).reshape(state.shape)
    seen = _dense(weights, f"{name}attention.output.dense", joined)
    state = _normed(weights, f"{name}attention.output.LayerNorm", state + seen)
    wide = _gelu(_dense(weights, f"{name}intermediate.dense", state))
    return _normed(weights, f"{name}output.LayerNorm", state + _dense(weights, f"{name}output.dense", wide))


def _dense(weights: Mapping[str, Vectors], name: str, state: Vectors) -> Vectors:
    return np.asarray(state @ weights[f"{name}.weight"].T + weights[f"{name}.bias"], np.float32)


def _split(state: Vectors, heads: int) -> Vectors:
    texts, tokens, width = state.shape
    return state.reshape(texts, tokens, heads, width // heads).swapaxes(1, 2)


def _normed(weights: Mapping[str, Vectors], name: str, state: Vectors) -> Vectors:
    state = state - state.mean(axis=-1, keepdims=True)
    spread = np.sqrt((state * state).mean(axis=-1, keepdims=True) + _SMALL)
    return np.asarray(state / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"], np.float32)


def _gelu(state: Vectors) -> Vectors:
    from scipy.special import erf  # type: ignore[import-untyped]

    return np.asarray(state * 0.5 * (1 + erf(state / np.sqrt(np.float32(2)))), np.float32)


def light(settings: Retrieval) -> Bert | None:
    """The packaged model without torch, where the settings want it and what it needs is installed."""
    if settings.embedder not in ("auto", "minilm"):
        return None
    folder = package_folder()
    if folder is None or any(importlib.util.find_spec(name) is None for name in _NEEDED):
        return None
    return Bert(folder)
