"""Answers queries: exact codes and signatures first, words and meaning after them, or that nothing fits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistant.errors import RootrankError
from assistant.faults.matcher import Matcher
from assistant.retrieval import fusion
from assistant.retrieval.codes import CodeReader
from assistant.retrieval.embedders import NONE, Embedder, unit
from assistant.retrieval.exact import Exact, exact_hits
from assistant.retrieval.ideas import ideas_of
from assistant.retrieval.index import Index, Wanted
from assistant.retrieval.models import Answer, Hit, Query
from assistant.retrieval.signs import LOOKED_AT, Signs, share_unknown
from assistant.retrieval.store import Store
from assistant.retrieval.tuning import Threshold
from assistant.retrieval.vectors import Vectors, VectorStore
from assistant.retrieval.versions import admits
from assistant.retrieval.words import terms

CANDIDATES = 60
"""Passages that hold most of the words."""
NEAREST = 100
"""Passages that are nearest by meaning; a document has one for its title too."""
SPOKEN = 2_000
"""Characters of a query that an embedder is given."""
Rerank = Callable[[str, list[str]], list[float]]
"""Scores of texts for a query, higher is better."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One engine's documents: the best passage of each, and the engine's score for it."""

    rows: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """What each engine found for a query, and what was looked for."""

    codes: Mapping[str, str]
    terms: Sequence[str]
    rarity: Mapping[str, float]
    exact: Exact
    words: Ranked
    meaning: Ranked
    missing: tuple[str, ...] = ()


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
        found = self.found(query)
        signs, said = self.signs(found), (*self.missing, *found.missing)
        hits = self._hits(query, self._total(query, found), found)
        if not signs.enough(self.threshold(found)):
            why = signs.told(self.index.store)
            return Answer(query=query.text, fits=False, nearest=hits, note=why, missing=said)
        return Answer(query=query.text, fits=bool(hits), hits=hits, missing=said, note="" if hits else _FILTERED)

    def found(self, query: Query) -> Found:
        """What each engine finds; one of weight 0 is not asked."""
        assert self._codes is not None
        store, rules = self.index.store, self.wanted.tuning.fusion
        codes = self._codes.read(query.text, self._known)
        exact = exact_hits(store, query, codes, self.matcher) if rules.exact else Exact()
        wanted = terms(query.text, self._codes)
        rarity = store.rarity(wanted)
        by_words = store.by_words(rarity, query.filters, CANDIDATES) if rules.words else []
        words = _best(store, [(one.row, one.score) for one in by_words])
        meaning, missing = self._meaning(query)
        return Found(codes, wanted, rarity, exact, words, meaning, missing)

    def signs(self, found: Found) -> Signs:
        """What speaks for there being an answer at all."""
        store, rules = self.index.store, self.wanted.tuning
        ideas = ideas_of(rules.synonyms, rules.stopwords).of(found.terms)
        rows = (*_first(found.meaning), *_first(found.words))
        return Signs(
            decisive=found.exact.decisive,
            near=max(found.meaning.scores.values(), default=0.0),
            share=store.share(rows, found.terms, found.rarity, ideas),
            unknown=share_unknown(found.terms, found.rarity),
            strange=tuple(found.codes[code] for code in store.strange(found.codes)),
            nearest=rows[0] if rows else None,
        )

    def threshold(self, found: Found) -> Threshold:
        """What the signs have to reach: that of the embedder, where it took part."""
        return self.wanted.tuning.threshold(self.wanted.embedder_id if found.meaning.rows else NONE)

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
            near = self._vectors.nearest(self._asked(embedder, query.text[:SPOKEN]), query.filters, NEAREST)
        except RootrankError as error:
            return Ranked(), (f"{error.message} ({error.hint})",)
        return _best(self.index.store, [(one.row, one.likeness) for one in near]), ()

    def _asked(self, embedder: Embedder, text: str) -> Vectors:
        """A text as it stands together with the text in the words of the knowledge."""
        rules, vector = self.wanted.tuning, embedder.query(text)
        said = ideas_of(rules.synonyms, rules.stopwords).reworded(text)
        return vector if said == text else unit(vector + embedder.query(said))

    def _total(self, query: Query, found: Found) -> dict[str, float]:
        """The engines' lists put together: document -> score."""
        rules, lowest = self.wanted.tuning.fusion, min(found.meaning.scores.values(), default=0.0)
        by_rank = fusion.reciprocal(fusion.ranked(found.exact.scores), rules.exact, rules.constant)
        lists = (
            fusion.scaled(by_rank, found.exact.strength),
            fusion.relative(found.words.scores, rules.words),
            fusion.relative(found.meaning.scores, rules.meaning, lowest),
        )
        return _weighed(self.index.store, fusion.fused(lists), query)

    def _hits(self, query: Query, total: Mapping[str, float], found: Found) -> tuple[Hit, ...]:
        store, exact = self.index.store, found.exact
        by_words, by_meaning = fusion.ranked(found.words.scores), found.meaning.scores
        hits: list[Hit] = []
        bags: list[frozenset[str]] = []
        for key in sorted(total, key=lambda key: (-total[key], key)):
            row = _shown(store, key, found.words, found.meaning)
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


def _first(ranked: Ranked) -> list[int]:
    return list(ranked.rows.values())[:LOOKED_AT]


def _weighed(store: Store, total: Mapping[str, float], query: Query) -> dict[str, float]:
    facts, today = store.facts(total), fusion.day_of(query.today)
    return {key: value * fusion.weight(facts[key], query, today) for key, value in total.items()}


def _shown(store: Store, key: str, words: Ranked, meaning: Ranked) -> int:
    """The passage of a document that says why it was found."""
    return meaning.rows.get(key) or words.rows.get(key) or store.rows_of(key)[0]
