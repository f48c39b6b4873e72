"""Passages, their words and codes in one SQLite file, written once and then only read.

FTS5 rather than a BM25 library: it comes with Python, so that the search works where no extra is installed; it opens in
milliseconds without reading the index into memory; and filters, codes and passages lie in the same file.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from assistant.retrieval.chunks import Chunk
from assistant.retrieval.codes import CodeReader, is_telling
from assistant.retrieval.documents import Document
from assistant.retrieval.ideas import is_idea
from assistant.retrieval.models import Filters, Passage
from assistant.retrieval.vectors import Vectors
from assistant.retrieval.words import code_term, terms

TERMS = 48
"""Words of a query that are looked for, the rarest first."""
COMMON = 0.25
"""Share of all passages above which a word tells nothing, as long as there are rarer ones."""
TITLE, BODY = 2.5, 1.0
"""How a word in the title counts against one in the text."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (
  key TEXT PRIMARY KEY, id TEXT, kind TEXT, layer TEXT, vendor TEXT, framework TEXT, date TEXT, confirmed INTEGER,
  origin TEXT, checked TEXT, templates TEXT, stage TEXT
);
CREATE TABLE passages (
  row INTEGER PRIMARY KEY, document TEXT NOT NULL, json BLOB NOT NULL, terms TEXT NOT NULL, hash TEXT NOT NULL,
  vector BLOB
);
CREATE INDEX passages_document ON passages (document);
CREATE INDEX passages_hash ON passages (hash);
CREATE TABLE codes (
  code TEXT NOT NULL, document TEXT NOT NULL, listed TEXT NOT NULL, PRIMARY KEY (code, document)
) WITHOUT ROWID;
CREATE TABLE links (fault TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (fault, document)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(title, body, content='', tokenize="unicode61 tokenchars '_'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage by its row, with the engine's own score; higher is better."""

    row: int
    score: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What the weighing of hits needs to know of a document."""

    key: str
    id: str
    kind: str
    date: str
    confirmed: int
    """1 where a person confirmed it."""
    checked: str
    stage: str
    framework: str
    vendor: str


def text_hash(chunk: Chunk) -> str:
    """By which a vector is found again in an earlier build."""
    return hashlib.sha256(chunk.spoken.encode("utf-8", "replace")).hexdigest()[:32]


def write(path: Path | None, chunks: Sequence[Chunk], codes: CodeReader, meta: Mapping[str, str]) -> sqlite3.Connection:
    """A new store in a file that must not exist, or in memory; committed, and still open."""
    base = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
    # What is half written is thrown away by whoever comes next, so that a journal would only cost time.
    base.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN; {_SCHEMA}")
    for document in {chunk.document.key: chunk.document for chunk in chunks}.values():
        _add_document(base, document, codes)
    for row, chunk in enumerate(chunks, start=1):
        _add_passage(base, row, chunk, codes)
    worded = sum(not chunk.named for chunk in chunks)
    base.executemany(
        "INSERT INTO meta VALUES (?, ?)", sorted({**meta, "passages": str(len(chunks)), "worded": str(worded)}.items())
    )
    base.execute("COMMIT")
    return base


def _add_document(base: sqlite3.Connection, document: Document, codes: CodeReader) -> None:
    base.execute(
        "INSERT INTO documents VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            document.key, document.id, document.kind, document.layer, document.vendor.lower(),
            document.framework.lower(), document.date, int(document.confirmed), document.origin, document.checked,
            " ".join(document.templates), document.stage,
        ),
    )  # fmt: skip
    rows = [(code, document.key, listed) for code, listed in sorted(_codes_of(document, codes).items())]
    base.executemany("INSERT INTO codes VALUES (?, ?, ?)", rows)
    base.executemany("INSERT INTO links VALUES (?, ?)", [(fault, document.key) for fault in sorted(document.faults)])


def _codes_of(document: Document, codes: CodeReader) -> dict[str, str]:
    """The codes that a document is listed under, and those that its name and title hold."""
    named = codes.read(document.title) | codes.read(document.id.replace("-", " "))
    return named | {codes.one(code): code for code in document.codes if is_telling(code) and codes.one(code)}


def _add_passage(base: sqlite3.Connection, row: int, chunk: Chunk, codes: CodeReader) -> None:
    document = chunk.document
    title = terms(f"{document.title} {chunk.heading} {document.id.replace('-', ' ')}", codes)
    title += [code_term(codes.one(code)) for code in document.codes]
    body = terms(chunk.text, codes)
    known = " ".join(sorted({*title, *body}))
    data = orjson.dumps(_passage(chunk).model_dump())
    base.execute("INSERT INTO passages VALUES (?,?,?,?,?,NULL)", (row, document.key, data, known, text_hash(chunk)))
    if chunk.named:
        return
    base.execute("INSERT INTO words (rowid, title, body) VALUES (?,?,?)", (row, " ".join(title), " ".join(body)))


def _passage(chunk: Chunk) -> Passage:
    document = chunk.document
    copied = {
        name: getattr(document, name)
        for name in ("kind", "title", "source", "file", "layer", "vendor", "framework", "versions", "date", "checked")
    }
    more = {"codes": document.codes, "faults": document.faults, "origin": document.origin}
    return Passage(
        document=document.id, heading=chunk.heading, text=chunk.text, line=chunk.line, **copied, **more
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Store:
    """A store that is only read. Safe in threads: SQLite serialises."""

    base: sqlite3.Connection

    @classmethod
    def open(cls, path: Path) -> Store:
        """Opens a file without ever writing to it. sqlite3.Error where it is none."""
        base = sqlite3.connect(f"file:{_quoted(path)}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        store = cls(base)
        store.meta()
        return store

    def close(self) -> None:
        """Lets the file go."""
        with contextlib.suppress(sqlite3.Error):
            self.base.close()

    def meta(self) -> dict[str, str]:
        """What the builder wrote about it."""
        return dict(self.base.execute("SELECT key, value FROM meta"))

    def size(self) -> int:
        """Number of passages."""
        return int(self.base.execute("SELECT max(row) FROM passages").fetchone()[0] or 0)

    def worded(self) -> int:
        """Number of passages that words are searched in."""
        return int(self.base.execute("SELECT value FROM meta WHERE key = 'worded'").fetchone()[0])

    def known_codes(self) -> dict[str, str]:
        """Every code that a document is listed under, and how it is spelled there."""
        return dict(self.base.execute("SELECT code, max(listed) FROM codes GROUP BY code"))

    def rarity(self, words: Iterable[str]) -> dict[str, float]:
        """How much each word tells: the rarer, the more. Words that no passage holds are left out."""
        size = self.worded()
        found = {}
        for word in dict.fromkeys(words):
            row = self.base.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
            if row:
                found[word] = math.log(1 + (size - row[0] + 0.5) / (row[0] + 0.5))
        return found

    def by_words(self, words: Mapping[str, float], filters: Filters, limit: int) -> list[Found]:
        """Passages by BM25 over any of the words (word -> rarity), the best first."""
        chosen = _telling(words, self.worded())
        if not chosen:
            return []
        expression = " OR ".join(f'"{word}"' for word in chosen)
        allowed, values = _where(filters)
        sql = f"SELECT words.rowid, bm25(words, {TITLE}, {BODY}) AS score FROM words"
        if allowed:
            sql += f" JOIN passages ON passages.row = words.rowid JOIN documents ON {_ON}{allowed}"
        sql += " WHERE words MATCH ? ORDER BY score, words.rowid LIMIT ?"
        rows = self.base.execute(sql, (*values, expression, limit))
        return [Found(row, -score) for row, score in rows]

    def share(
        self, rows: Iterable[int], wanted: Sequence[str], rarity: Mapping[str, float], ideas: Mapping[str, str]
    ) -> float:
        """Share of the wanted words, weighed by rarity, that the best of some passages holds, be it in other words.

        A word that no passage holds weighs as much as the rarest; numbers and codes of that kind do not count.

        Args:
            ideas: what a word's idea is indexed as.
        """
        told = {word: weight for word, weight in rarity.items() if not is_idea(word)}
        strange = sum(word.isalpha() for word in set(wanted) - rarity.keys())
        whole = sum(told.values()) + strange * math.log(1 + 2 * self.worded())
        return max((self._held(row, told, ideas) for row in rows), default=0.0) / whole if whole else 0.0

    def _held(self, row: int, words: Mapping[str, float], ideas: Mapping[str, str]) -> float:
        (text,) = self.base.execute("SELECT terms FROM passages WHERE row = ?", (row,)).fetchone()
        held = set(text.split(" "))
        return sum(weight for word, weight in words.items() if word in held or ideas.get(word) in held)

    def strange(self, codes: Iterable[str]) -> list[str]:
        """Codes that neither a document is listed under nor a passage holds; plain words are none."""
        numbered = [code for code in codes if any(letter.isdigit() or letter == "_" for letter in code)]
        held = self.rarity(code_term(code) for code in numbered)
        listed = "SELECT 1 FROM codes WHERE code = ?"
        return [
            code
            for code in numbered
            if code_term(code) not in held and self.base.execute(listed, (code,)).fetchone() is None
        ]

    def by_codes(self, codes: Iterable[str], filters: Filters) -> dict[str, dict[str, float]]:
        """Documents listed under any of the codes: key -> code -> rarity of the code."""
        return self._by("codes", "code", codes, filters)

    def by_faults(self, faults: Iterable[str], filters: Filters) -> dict[str, dict[str, float]]:
        """Documents that are, or belong to, any of the fault entries: key -> fault -> rarity."""
        return self._by("links", "fault", faults, filters)

    def _by(self, table: str, column: str, names: Iterable[str], filters: Filters) -> dict[str, dict[str, float]]:
        allowed, values = _where(filters)
        found: dict[str, dict[str, float]] = {}
        for name in dict.fromkeys(names):
            sql = f"SELECT document FROM {table} JOIN documents ON documents.key = {table}.document{allowed}"
            keys = [key for (key,) in self.base.execute(f"{sql} WHERE {column} = ? ORDER BY document", (*values, name))]
            for key in keys:
                found.setdefault(key, {})[name] = 1 / (1 + math.log(len(keys)))
        return found

    def facts(self, keys: Iterable[str]) -> dict[str, Facts]:
        """What is known of some documents."""
        sql = "SELECT key, id, kind, date, confirmed, checked, stage, framework, vendor FROM documents WHERE key = ?"
        found = (self.base.execute(sql, (key,)).fetchone() for key in dict.fromkeys(keys))
        return {row[0]: Facts(*row) for row in found if row}

    def by_templates(self, filters: Filters) -> dict[str, frozenset[str]]:
        """Documents that carry templates of their own: key -> template ids."""
        allowed, values = _where(filters)
        sql = f"SELECT key, templates FROM documents WHERE templates != ''{allowed} ORDER BY key"
        return {key: frozenset(text.split()) for key, text in self.base.execute(sql, values)}

    def document_of(self, row: int) -> str:
        """Key of the document that a passage belongs to."""
        return str(self.base.execute("SELECT document FROM passages WHERE row = ?", (row,)).fetchone()[0])

    def rows_of(self, key: str) -> list[int]:
        """Passages of a document, in order."""
        return [row for (row,) in self.base.execute("SELECT row FROM passages WHERE document = ? ORDER BY row", (key,))]

    def passage(self, row: int) -> Passage:
        """One passage."""
        (data,) = self.base.execute("SELECT json FROM passages WHERE row = ?", (row,)).fetchone()
        return Passage.model_validate_json(data)

    def vectors(self) -> Iterator[tuple[int, bytes | None]]:
        """Row and vector of every passage."""
        yield from self.base.execute("SELECT row, vector FROM passages ORDER BY row")

    def vector_of(self, text: str) -> bytes | None:
        """The vector of a passage by the hash of its text."""
        found = self.base.execute("SELECT vector FROM passages WHERE hash = ? LIMIT 1", (text,)).fetchone()
        return found[0] if found else None


def put_vectors(base: sqlite3.Connection, vectors: Vectors) -> None:
    """Adds the vectors of all passages, in the order of their rows, to a store that is being written."""
    rows = ((vector.astype(np.float32).tobytes(), row) for row, vector in enumerate(vectors, start=1))
    base.execute("BEGIN")
    base.executemany("UPDATE passages SET vector = ? WHERE row = ?", rows)
    base.execute("COMMIT")


_ON = "documents.key = passages.document"


def _where(filters: Filters) -> tuple[str, list[str]]:
    """Conditions on `documents`, each beginning with AND, and their values."""
    parts, values = [], list[str]()
    if filters.kinds:
        parts.append(f" AND documents.kind IN ({','.join('?' * len(filters.kinds))})")
        values += filters.kinds
    if filters.layer:
        parts.append(" AND documents.layer = ?")
        values.append(filters.layer)
    for name, wanted in (("vendor", filters.vendor), ("framework", filters.framework)):
        if wanted:
            parts.append(f" AND documents.{name} IN ('', ?)")
            values.append(wanted.lower())
    return "".join(parts), values


def _telling(words: Mapping[str, float], size: int) -> list[str]:
    """The words worth looking for, the rarest first."""
    ordered = sorted(words, key=lambda word: (-words[word], word))[:TERMS]
    floor = math.log(1 + (size * (1 - COMMON) + 0.5) / (size * COMMON + 0.5)) if size > 100 else 0.0
    rare = [word for word in ordered if words[word] >= floor]
    return rare if len(rare) >= 3 else ordered


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))
