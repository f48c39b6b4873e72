"""Makes the index that a search uses: takes the cached one where it still fits, else builds it anew."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from assistant.errors import KnowledgeError, RootrankError, StoreBusy
from assistant.incidents.models import Incident
from assistant.retrieval import chunks, corpus, store, words
from assistant.retrieval.cache import STORE, VECTORS, Build, Cache, Pointer, reported
from assistant.retrieval.chunks import Chunk, chunks_of, name_of
from assistant.retrieval.codes import CodeReader
from assistant.retrieval.corpus import Corpus
from assistant.retrieval.embedders import NONE, Embedder
from assistant.retrieval.store import Store
from assistant.retrieval.tuning import Tuning
from assistant.retrieval.vectors import Chroma, Server, Vectors, VectorStore, drop, on_server, open_folder

SCHEMA = 2
"""Counts up when the tables change."""
Progress = Callable[[int, int], None]
"""Passages embedded, and how many there are."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an index is made of."""

    tuning: Tuning
    embedder: Embedder | None = None
    server: Server | None = None
    folders: Sequence[Path] | None = None
    """Knowledge folders; None for those of the installation and the user."""
    team: Callable[[], Iterable[Incident]] = tuple
    """A team's confirmed incidents."""
    team_files: Callable[[], Iterable[Path]] = tuple
    """The files they are kept in, to see cheaply whether they have changed."""
    progress: Progress | None = None

    @property
    def embedder_id(self) -> str:
        """`none` where there are no vectors."""
        return self.embedder.id if self.embedder else NONE

    @property
    def profile(self) -> str:
        """Names the pointer file."""
        place = self.server.url if self.server and self.embedder else ""
        shown = re.sub(r"[^a-z0-9]+", "-", self.embedder_id.lower())[:32].strip("-")
        return f"{shown}-{hashlib.sha256(f'{self.embedder_id} {place}'.encode()).hexdigest()[:8]}"

    def recipe(self) -> str:
        """What else than the content decides how an index looks."""
        versions = f"{SCHEMA}.{chunks.VERSION}.{words.VERSION}"
        return f"{versions} {self.embedder_id} {self.tuning.model_dump_json(exclude={'fusion', 'thresholds'})}"

    def stamp(self) -> str:
        """Of all files that are read, and the recipe."""
        return _hash(corpus.stamp(self.folders, self.team_files()), self.recipe())

    def gather(self) -> Corpus:
        """All documents."""
        return corpus.gather(self.folders, self.team())


@dataclass(slots=True)
class Index:
    """An open index: passages and words always, vectors where there are some."""

    build: Build
    problems: tuple[str, ...] = ()
    """Knowledge files that could not be read, one line each."""
    stale: str = ""
    """Why an older index is used, where one is."""

    @property
    def store(self) -> Store:
        """Passages, words, codes."""
        return self.build.store

    def vectors(self, wanted: Wanted) -> VectorStore:
        """The vectors of this index, in Chroma.

        Raises:
            ModelMissing: chromadb is not installed.
            VectorServerError: the server is away, or the folder is damaged.
        """
        if wanted.server is not None:
            return on_server(wanted.server, self.store.meta()["collection"], self._fill)
        folder = self.build.folder
        if folder is None:
            raise StoreBusy("there is no data folder to keep vectors in", hint="set storage.data_dir")
        return open_folder(folder / VECTORS)

    def _fill(self, target: VectorStore) -> None:
        rows = [np.frombuffer(vector or b"", dtype=np.float32) for _, vector in self.store.vectors()]
        if rows:
            target.add(np.stack(rows), labels_of(self.store))

    def close(self) -> None:
        """Lets files go."""
        self.build.close()


def open_index(cache: Cache, wanted: Wanted) -> Index:
    """The cached index where nothing has changed, else a new one.

    Raises:
        NewerStore, StoreBusy, StoreError: the cache cannot be used.
        ModelMissing, ModelChanged, EmbeddingError: the vectors cannot be made.
    """
    stamp = wanted.stamp()
    pointer = cache.pointer(wanted.profile)
    if pointer and pointer.stamp == stamp and (build := cache.open(pointer)):
        return _opened(build)
    try:
        with cache.writing():
            return _renewed(cache, wanted)
    except StoreBusy as busy:
        if build := cache.open(pointer):
            return _opened(build, busy.message)
        raise


def rebuild(cache: Cache, wanted: Wanted) -> Index:
    """A new index, whatever is cached; vectors are made anew too."""
    with cache.writing():
        return _built(cache, wanted, wanted.stamp(), wanted.gather(), None)


def in_memory(wanted: Wanted) -> Index:
    """An index of words alone, for where the cache cannot be used."""
    gathered = wanted.gather()
    base = store.write(None, _chunks(gathered, wanted), CodeReader(wanted.tuning), _meta(wanted, gathered))
    return _opened(Build(Store(base)))


def labels_of(read: Store) -> list[dict[str, str]]:
    """What each row can be filtered by in a vector store."""
    sql = (
        "SELECT documents.kind, documents.layer, documents.vendor, documents.framework FROM passages"
        " JOIN documents ON documents.key = passages.document ORDER BY passages.row"
    )
    names = ("kind", "layer", "vendor", "framework")
    return [dict(zip(names, row, strict=True)) for row in read.base.execute(sql)]


def _renewed(cache: Cache, wanted: Wanted) -> Index:
    """Under the lock: another process may have built the very index meanwhile, or only times have changed."""
    stamp, gathered = wanted.stamp(), wanted.gather()
    pointer = cache.pointer(wanted.profile)
    old = cache.open(pointer)
    if pointer and old and pointer.fingerprint == _fingerprint(wanted, gathered):
        if pointer.stamp != stamp:
            cache.switch(wanted.profile, Pointer(pointer.build, pointer.fingerprint, stamp))
        return _opened(old)
    try:
        return _built(cache, wanted, stamp, gathered, old.store if old else None)
    finally:
        if old:
            old.close()
            with contextlib.suppress(RootrankError):
                cache.sweep()


def _built(cache: Cache, wanted: Wanted, stamp: str, gathered: Corpus, old: Store | None) -> Index:
    cut = _chunks(gathered, wanted)
    with cache.fresh() as folder:
        with reported(cache.root):
            base = store.write(folder / STORE, cut, CodeReader(wanted.tuning), _meta(wanted, gathered))
        try:
            _vectorise(base, folder, wanted, cut, old)
        finally:
            base.close()
        cache.switch(wanted.profile, Pointer(folder.name, _fingerprint(wanted, gathered), stamp))
        with reported(cache.root):
            build = Build.open(folder)
    if old:
        _forget(wanted, old, build.store)
    cache.sweep()
    return _opened(build)


def _vectorise(base: sqlite3.Connection, folder: Path, wanted: Wanted, cut: Sequence[Chunk], old: Store | None) -> None:
    if wanted.embedder is None or not cut:
        return
    vectors = _embedded(wanted.embedder, cut, old, wanted.progress)
    with reported(folder):
        store.put_vectors(base, vectors)
    if wanted.server is None:
        target: Chroma = open_folder(folder / VECTORS)
        target.add(vectors, labels_of(Store(base)))
        target.close()


def _embedded(embedder: Embedder, cut: Sequence[Chunk], old: Store | None, progress: Progress | None) -> Vectors:
    """The vectors of all passages; those whose text has not changed come from the index before."""
    known = [_remembered(old, chunk) for chunk in cut]
    missing = [place for place, vector in enumerate(known) if not vector]
    made: dict[int, Vectors] = {}
    for start in range(0, len(missing), 64):
        part = missing[start : start + 64]
        made.update(zip(part, embedder.documents([cut[place].spoken for place in part]), strict=True))
        if progress:
            progress(len(made), len(missing))
    kept = (made.get(place, np.frombuffer(vector or b"", np.float32)) for place, vector in enumerate(known))
    return np.stack(list(kept))


def _remembered(old: Store | None, chunk: Chunk) -> bytes | None:
    """The vector of a passage in the index before, which may be of another shape or damaged."""
    with contextlib.suppress(sqlite3.Error):
        return old.vector_of(store.text_hash(chunk)) if old else None
    return None


def _forget(wanted: Wanted, old: Store, new: Store) -> None:
    """Removes the former collection from a server, if it was made by this very store and is not the new one."""
    before, after = old.meta().get("collection", ""), new.meta()["collection"]
    if wanted.server and wanted.embedder and before and before != after:
        drop(wanted.server, before)


def _chunks(gathered: Corpus, wanted: Wanted) -> list[Chunk]:
    """All passages; where there is an embedder, also one of each title alone, after them."""
    cut = [chunk for document in gathered.documents for chunk in chunks_of(document)]
    return [*cut, *map(name_of, gathered.documents)] if wanted.embedder else cut


def _meta(wanted: Wanted, gathered: Corpus) -> dict[str, str]:
    shared = _hash(gathered.digest(placed=False), wanted.recipe())
    problems = [f"{problem.message} ({problem.hint})" for problem in gathered.problems]
    return {
        "collection": f"rootrank-{shared[:24]}",
        "embedder": wanted.embedder_id,
        "problems": orjson.dumps(problems).decode(),
    }


def _fingerprint(wanted: Wanted, gathered: Corpus) -> str:
    problems: list[KnowledgeError] = list(gathered.problems)
    return _hash(gathered.digest(placed=True), wanted.recipe(), *(problem.message for problem in problems))


def _opened(build: Build, stale: str = "") -> Index:
    return Index(build, tuple(orjson.loads(build.store.meta().get("problems", "[]"))), stale)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
