"""The port of vector stores, and Chroma behind it: a folder of its own, or a server that a team shares."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from assistant.errors import ModelMissing, VectorServerError
from assistant.retrieval.models import Filters

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

Vectors = npt.NDArray[np.float32]
"""One row a text, each of length 1."""

BATCH = 2_000
"""Vectors in one request; Chroma takes 5,461 at most."""
COLLECTION = "passages"


@dataclass(frozen=True, slots=True)
class Near:
    """A passage by its row, and how alike it is: cosine, -1 to 1."""

    row: int
    likeness: float


class VectorStore(Protocol):
    """Nearest passages to a vector."""

    def add(self, vectors: Vectors, labels: Sequence[Mapping[str, str]]) -> None:
        """Stores the vectors of the rows 1, 2, ... with what they can be filtered by."""

    def nearest(self, vector: Vectors, filters: Filters, limit: int) -> list[Near]:
        """The nearest rows, the nearest first."""

    def count(self) -> int:
        """Number of vectors."""

    def close(self) -> None:
        """Lets files and connections go."""


@dataclass(slots=True)
class Chroma:
    """A Chroma collection with ready vectors: Chroma never embeds, so it never loads a model of its own."""

    client: ClientAPI
    collection: Collection
    where: str
    """Its folder or address, for errors."""

    def add(self, vectors: Vectors, labels: Sequence[Mapping[str, str]]) -> None:
        """Stores the vectors of the rows 1, 2, ... with what they can be filtered by."""
        with _reported(self.where):
            for start in range(0, len(vectors), BATCH):
                part = vectors[start : start + BATCH]
                ids = [str(row) for row in range(start + 1, start + len(part) + 1)]
                self.collection.add(ids=ids, embeddings=part, metadatas=[dict(one) for one in labels[start:][:BATCH]])

    def nearest(self, vector: Vectors, filters: Filters, limit: int) -> list[Near]:
        """The nearest rows, the nearest first."""
        with _reported(self.where):
            found = self.collection.query(
                query_embeddings=vector.reshape(1, -1), n_results=limit, where=_where(filters), include=["distances"]
            )
        distances = (found["distances"] or [[]])[0]
        # The last digits differ between a folder and a server.
        near = [Near(int(row), round(1 - float(away), 5)) for row, away in zip(found["ids"][0], distances, strict=True)]
        return sorted(near, key=lambda one: (-one.likeness, one.row))

    def count(self) -> int:
        """Number of vectors."""
        with _reported(self.where):
            return int(self.collection.count())

    def close(self) -> None:
        """Lets files and connections go."""
        _release(self.client)


@dataclass(frozen=True, slots=True)
class Server:
    """A Chroma server. It has no authentication of its own, so it belongs on loopback or behind a proxy that has."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    proxy: str = ""
    seconds: float = 10.0


def open_folder(folder: Path) -> Chroma:
    """The collection in a folder, made where there is none."""
    chromadb = _chromadb()
    with _reported(str(folder)):
        client = chromadb.PersistentClient(path=str(folder), settings=_settings(chromadb))
        return Chroma(client, _collection(client, COLLECTION), str(folder))


def on_server(server: Server, name: str, fill: Callable[[Chroma], None]) -> Chroma:
    """The collection of that name; where it is missing, it is filled under another name first and then renamed.

    So nobody sees half a collection, and of two that fill it at once one wins and the other takes what won.
    """
    client = _client(server)
    try:
        with _reported(server.url):
            if found := _existing(client, name):
                return Chroma(client, found, server.url)
            fresh = Chroma(client, _collection(client, f"{name}-{uuid.uuid4().hex[:8]}"), server.url)
        fill(fresh)
        return _renamed(fresh, name)
    except BaseException:
        _release(client)
        raise


def drop(server: Server, name: str) -> None:
    """Removes a collection where it is there."""
    with contextlib.suppress(Exception):
        client = _client(server)
        client.delete_collection(name)
        _release(client)


def _renamed(fresh: Chroma, name: str) -> Chroma:
    try:
        fresh.collection.modify(name=name)
    except Exception:
        with _reported(fresh.where):
            won = _existing(fresh.client, name)
            if won is None:
                raise
            fresh.client.delete_collection(fresh.collection.name)
            return Chroma(fresh.client, won, fresh.where)
    return fresh


def _client(server: Server) -> ClientAPI:
    chromadb = _chromadb()
    parts = urlsplit(server.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise VectorServerError(f"{server.url}: no http address", hint="set retrieval.chroma_url to http://HOST:PORT")
    _greet(server)
    secure = parts.scheme == "https"
    with _reported(server.url), _proxied(server.proxy):
        client: ClientAPI = chromadb.HttpClient(
            host=parts.hostname,
            port=parts.port or (443 if secure else 8000),
            ssl=secure,
            headers=dict(server.headers),
            settings=_settings(chromadb),
        )
    # Chroma waits for ever; there is no public way to say otherwise.
    for session in _sessions(client):
        session.timeout = server.seconds
    return client


def _sessions(client: ClientAPI) -> list[Any]:
    """The connections of a client and of the second one that it keeps for administration; not a public part of it."""
    holders = (client, getattr(client, "_admin_client", None))
    found = (getattr(getattr(holder, "_server", None), "_session", None) for holder in holders)
    return [session for session in found if session is not None]


def _release(client: ClientAPI) -> None:
    """Closes files and connections; Chroma's own `close` leaves the connections open."""
    closing = [getattr(client, "close", None), *(getattr(session, "close", None) for session in _sessions(client))]
    for close in closing:
        with contextlib.suppress(Exception):
            close() if close else None


@contextlib.contextmanager
def _proxied(proxy: str) -> Iterator[None]:
    """Chroma's client takes its proxy from the environment, when it is made."""
    names = ("HTTP_PROXY", "HTTPS_PROXY") if proxy else ()
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, proxy))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _greet(server: Server) -> None:
    """Asks for a sign of life first: Chroma's own client would wait for an answer for ever."""
    import httpx

    try:
        url = f"{server.url.rstrip('/')}/api/v2/heartbeat"
        httpx.get(
            url, headers=dict(server.headers), proxy=server.proxy or None, timeout=server.seconds
        ).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _away(server.url, error) from None


def _existing(client: ClientAPI, name: str) -> Collection | None:
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=None)
    except (NotFoundError, ValueError):
        return None


def _collection(client: ClientAPI, name: str) -> Collection:
    return client.get_or_create_collection(
        name, embedding_function=None, configuration={"hnsw": {"space": "cosine", "ef_search": 200}}
    )


def _where(filters: Filters) -> Any:  # noqa: ANN401 - Chroma's own type is a tangle of unions
    parts: list[dict[str, object]] = []
    if filters.kinds:
        parts.append({"kind": {"$in": list(filters.kinds)}})
    if filters.layer:
        parts.append({"layer": filters.layer})
    for name, wanted in (("vendor", filters.vendor), ("framework", filters.framework)):
        if wanted:
            parts.append({name: {"$in": ["", wanted.lower()]}})
    return parts[0] if len(parts) == 1 else {"$and": parts} if parts else None


def _settings(chromadb: Any) -> Any:  # noqa: ANN401
    return chromadb.config.Settings(anonymized_telemetry=False)


def _chromadb() -> Any:  # noqa: ANN401
    try:
        import chromadb
        import chromadb.config
    except ImportError:
        raise ModelMissing(
            "chromadb is not installed, so meaning is not searched", hint="pip install 'rootrank[retrieval]'"
        ) from None
    return chromadb


@contextlib.contextmanager
def _reported(where: str) -> Iterator[None]:
    """Whatever Chroma raises becomes one error of ours."""
    try:
        yield
    except VectorServerError:
        raise
    except Exception as error:
        raise _away(where, error) from None


def _away(where: str, error: Exception) -> VectorServerError:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return VectorServerError(
        f"the vector store at {where} does not answer: {reason}",
        hint="start it, correct retrieval.chroma_url, or run `rootrank knowledge rebuild`",
    )
