"""Answers queries: exact codes and signatures first, words and meaning after them, or that nothing fits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistant.errors import RootrankError
from assistant.faults.matcher import Matcher
from assistant.retrieval import fusion
from assistant.retrieval.codes import CodeReader
from assistant.retrieval.embedders import Embedder
from assistant.retrieval.exact import Exact, exact_hits
from assistant.retrieval.index import Index, Wanted
from assistant.retrieval.models import Answer, Hit, Query
from assistant.retrieval.store import Store
from assistant.retrieval.vectors import VectorStore
from assistant.retrieval.versions import admits
from assistant.retrieval.words import terms

CANDIDATES = 60
"""Passages that each engine hands over."""
SPOKEN = 2_000
"""Characters of a query that an embedder is given."""
Rerank = Callable[[str, list[str]], list[float]]
"""Scores of texts for a query, higher is better."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One engine's documents: the best passage of each, and the engine's score for it."""

    rows: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Searcher:
    """An open index with everything a query needs. Safe in threads."""

    index: Index
    wanted: Wanted
    matcher: Matcher | None = None
    """The fault library's; without it, log lines are not recognised by their signatures."""
    rerank: Rerank | None = None
    missing: tuple[str, ...] = ()
    """Parts that are not there, each with its remedy."""
    _codes: CodeReader | None = None
    _known: Mapping[str, str] = field(default_factory=dict)
    _vectors: VectorStore | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._codes = CodeReader(self.wanted.tuning)
        self._known = self.index.store.known_codes()

    def search(self, query: Query) -> Answer:
        """What fits a query, best first. Never fails for want of a model or a server: it says what was missing."""
        assert self._codes is not None
        store, rules = self.index.store, self.wanted.tuning.fusion
        codes = self._codes.read(query.text, self._known)
        exact = exact_hits(store, query, codes, self.matcher) if rules.exact else Exact()
        wanted = terms(query.text, self._codes)
        rarity = store.rarity(wanted)
        by_words = store.by_words(rarity, query.filters, CANDIDATES) if rules.words else []
        words = _best(store, [(found.row, found.score) for found in by_words])
        meaning, missing = self._meaning(query)
        lists = (
            fusion.scaled(fusion.reciprocal(fusion.ranked(exact.scores), rules.exact, rules.constant), exact.strength),
            fusion.reciprocal(fusion.ranked(words.scores), rules.words, rules.constant),
            fusion.reciprocal(fusion.ranked(meaning.scores), rules.meaning, rules.constant),
        )
        total = _weighed(store, fusion.fused(lists), query)
        why = self._doubt(codes, wanted, rarity, exact, words, meaning)
        said = (*self.missing, *missing)
        hits = self._hits(query, total, exact, words, meaning)
        if why:
            return Answer(query=query.text, fits=False, nearest=hits, note=why, missing=said)
        return Answer(query=query.text, fits=bool(hits), hits=hits, missing=said, note="" if hits else _FILTERED)

    def close(self) -> None:
        """Lets files and connections go."""
        if self._vectors is not None:
            self._vectors.close()
        self.index.close()

    def _meaning(self, query: Query) -> tuple[Ranked, tuple[str, ...]]:
        """The nearest documents by meaning; nothing and the reason where they cannot be had."""
        embedder: Embedder | None = self.wanted.embedder
        if embedder is None or not query.text.strip() or not self.wanted.tuning.fusion.meaning:
            return Ranked(), ()
        try:
            with self._lock:
                self._vectors = self._vectors or self.index.vectors(self.wanted)
            near = self._vectors.nearest(embedder.query(query.text[:SPOKEN]), query.filters, CANDIDATES)
        except RootrankError as error:
            return Ranked(), (f"{error.message} ({error.hint})",)
        return _best(self.index.store, [(one.row, one.likeness) for one in near]), ()

    def _doubt(
        self,
        codes: Mapping[str, str],
        wanted: list[str],
        rarity: Mapping[str, float],
        exact: Exact,
        words: Ranked,
        meaning: Ranked,
    ) -> str:
        """Why nothing fits; empty where something does."""
        if exact.decisive:
            return ""
        threshold = self.wanted.tuning.threshold(self.wanted.embedder_id if meaning.rows else "none")
        store = self.index.store
        share = store.share([*_first(words, 10), *_first(meaning, 10)], wanted, rarity)
        near = max(meaning.scores.values(), default=0.0)
        strange = store.strange(codes)
        score = threshold.meaning * near + threshold.words * share - (threshold.strange if strange else 0.0)
        if score >= threshold.least and (words.rows or meaning.rows):
            return ""
        return self._told([codes[code] for code in strange], share, near, _first(meaning, 1) or _first(words, 1))

    def _told(self, strange: list[str], share: float, near: float, nearest: list[int]) -> str:
        """That nothing fits, and how near the nearest comes."""
        unknown = f"nothing is known of {', '.join(strange)}; " if strange else ""
        if not nearest:
            return f"{unknown}nothing holds any of these words"
        passage = self.index.store.passage(nearest[0])
        return f"{unknown}nothing fits; nearest is {passage.document} ({share:.0%} of the words, likeness {near:.2f})"

    def _hits(
        self, query: Query, total: Mapping[str, float], exact: Exact, words: Ranked, meaning: Ranked
    ) -> tuple[Hit, ...]:
        store = self.index.store
        by_words, by_meaning = fusion.ranked(words.scores), meaning.scores
        hits: list[Hit] = []
        bags: list[frozenset[str]] = []
        for key in sorted(total, key=lambda key: (-total[key], key)):
            row = _shown(store, key, words, meaning)
            passage = store.passage(row)
            if not admits(passage.versions, query.filters.version):
                continue
            reasons = (
                *exact.reasons.get(key, ()),
                *((f"words #{by_words[key]}",) if key in by_words else ()),
                *((f"meaning {by_meaning[key]:.2f}",) if key in by_meaning else ()),
            )
            bag = fusion.bag(f"{passage.title} {passage.text}")
            twin = next((place for place, other in enumerate(bags) if fusion.alike(bag, other)), None)
            if twin is not None:
                hits[twin] = hits[twin].model_copy(update={"folded": (*hits[twin].folded, passage.document)})
                continue
            if len(hits) == max(query.limit, self._reranked()):
                break
            hits.append(Hit(passage=passage, score=round(total[key], 6), reasons=reasons))
            bags.append(bag)
        return self._ordered(query, hits)[: query.limit]

    def _reranked(self) -> int:
        return 20 if self.rerank else 0

    def _ordered(self, query: Query, hits: list[Hit]) -> tuple[Hit, ...]:
        """With a cross-encoder, its order within those found by code and within the others."""
        if self.rerank is None or not hits:
            return tuple(hits)
        scores = self.rerank(query.text[:SPOKEN], [f"{hit.passage.title}\n{hit.passage.text}" for hit in hits])
        exact = [any(reason.startswith(("code", "signature", "template")) for reason in hit.reasons) for hit in hits]
        order = sorted(range(len(hits)), key=lambda place: (not exact[place], -scores[place], place))
        return tuple(hits[place] for place in order)


_FILTERED = "nothing that fits passes the filters"


def cross_encoder(folder: Path) -> Rerank:
    """A cross-encoder of sentence-transformers from a local folder."""
    import sentence_transformers

    model: Any = sentence_transformers.CrossEncoder(str(folder), device="cpu", local_files_only=True)
    return lambda query, texts: [float(score) for score in model.predict([(query, text) for text in texts])]


def _best(store: Store, found: list[tuple[int, float]]) -> Ranked:
    """The best passage of each document; `found` comes best first."""
    rows: dict[str, int] = {}
    scores: dict[str, float] = {}
    for row, score in found:
        key = store.document_of(row)
        rows.setdefault(key, row)
        scores.setdefault(key, score)
    return Ranked(rows, scores)


def _first(ranked: Ranked, number: int) -> list[int]:
    return list(ranked.rows.values())[:number]


def _weighed(store: Store, total: Mapping[str, float], query: Query) -> dict[str, float]:
    facts, today = store.facts(total), fusion.day_of(query.today)
    return {key: value * fusion.weight(facts[key], query, today) for key, value in total.items()}


def _shown(store: Store, key: str, words: Ranked, meaning: Ranked) -> int:
    """The passage of a document that says why it was found."""
    return meaning.rows.get(key) or words.rows.get(key) or store.rows_of(key)[0]
