"""An OpenAI-compatible `/embeddings` endpoint as an embedder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from assistant.errors import EmbeddingError, ModelMissing
from assistant.privacy.redactor import Redactor
from assistant.privacy.rules import CompiledRule, load_rules
from assistant.retrieval.embedders import unit
from assistant.retrieval.vectors import Vectors

if TYPE_CHECKING:
    from assistant.config import Retrieval

BATCH = 64
"""Texts in one request."""
LONGEST = 8_000
"""Characters of a text that are sent."""
_HINT = "correct retrieval.endpoint and retrieval.model, or set retrieval.embedder to none"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Texts are sent to `url`/embeddings; a key is read from the environment when it is needed, and never stored."""

    url: str
    model: str
    key_variable: str = ""
    seconds: float = 30.0
    proxy: str = ""

    @property
    def id(self) -> str:
        """Address and model."""
        return f"endpoint/{self.url}#{self.model}"

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text that is to be found."""
        parts = [self._asked(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)

    def query(self, text: str) -> Vectors:
        """The vector of a text that is looked for."""
        return np.asarray(self._asked([text])[0], dtype=np.float32)

    def _asked(self, texts: Sequence[str]) -> Vectors:
        import httpx

        # Pseudonyms of one request only: a text must have the same vector whenever it is asked for.
        sent = {"model": self.model, "input": [masked(text)[:LONGEST] or " " for text in texts]}
        try:
            address = f"{self.url.rstrip('/')}/embeddings"
            with httpx.Client(proxy=self.proxy or None, timeout=self.seconds) as client:
                answer = client.post(address, json=sent, headers=self._headers())
            answer.raise_for_status()
            return _vectors(answer.json(), len(texts))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise EmbeddingError(f"{self.url}: no embeddings: {reason}", hint=_HINT) from None

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self.key_variable, "") if self.key_variable else ""
        return {"Authorization": f"Bearer {key}"} if key else {}


def masked(text: str) -> str:
    """What is sent of a text: secrets, e-mail, user names, addresses and full host names masked."""
    return Redactor(_rules()).redact(text)


@lru_cache(maxsize=1)
def _rules() -> tuple[CompiledRule, ...]:
    return load_rules()


def endpoint_of(settings: Retrieval) -> Endpoint:
    """The endpoint that the settings name."""
    if not settings.endpoint or not settings.model:
        raise ModelMissing("the embedder `endpoint` needs retrieval.endpoint and retrieval.model", hint=_HINT)
    return Endpoint(
        settings.endpoint, settings.model, settings.endpoint_key_env, settings.timeout_seconds, settings.proxy
    )


def _vectors(answer: Any, wanted: int) -> Vectors:  # noqa: ANN401 - any JSON
    rows = sorted(answer["data"], key=lambda row: int(row["index"]))
    vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != wanted or not np.isfinite(vectors).all():
        raise ValueError(f"{wanted} vectors were asked for, the answer has the shape {vectors.shape}")
    return unit(vectors)
