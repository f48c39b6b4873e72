"""The same searches against a real Chroma server on loopback."""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import chromadb
import pytest
from chromadb.api import ClientAPI

from assistant.errors import ConfigError
from assistant.retrieval.models import Filters, Query
from assistant.retrieval.opening import open_search, server_of
from assistant.retrieval.vectors import Chroma, Server, on_server
from tests.retrieval.conftest import settings_of


@contextlib.contextmanager
def connected(url: str) -> Iterator[ClientAPI]:
    """A client of the library's own."""
    host, port = url.removeprefix("http://").split(":")
    client = chromadb.HttpClient(host=host, port=int(port))
    yield client
    Chroma(client, None, url).close()  # type: ignore[arg-type]


def collections(url: str) -> list[str]:
    with connected(url) as client:
        return sorted(one.name for one in client.list_collections())


def test_a_shared_server_finds_what_a_folder_finds(chroma_server: str, knowledge: Path, tmp_path: Path) -> None:
    shared = open_search(settings_of(tmp_path, chroma_url=chroma_server), folders=[knowledge])
    own = open_search(settings_of(tmp_path), folders=[knowledge])
    for text in ("Xid 79", "no room left on the volume", "queue pairs fail", "sourdough bread"):
        query = Query(text=text, filters=Filters(vendor="nvidia"), today="2026-01-01")
        assert shared.search(query) == own.search(query)
    assert shared.missing == ()
    shared.close()
    own.close()


def test_two_that_hold_the_same_share_a_collection(chroma_server: str, knowledge: Path, tmp_path: Path) -> None:
    before = collections(chroma_server)
    for name in ("one", "two"):
        searcher = open_search(settings_of(tmp_path / name, chroma_url=chroma_server), folders=[knowledge])
        assert searcher.search(Query(text="queue pairs fail")).missing == ()
        searcher.close()
    assert len(set(collections(chroma_server)) | set(before)) <= len(before) + 1


def test_a_collection_that_somebody_removed_comes_back(chroma_server: str, knowledge: Path, tmp_path: Path) -> None:
    settings = settings_of(tmp_path, chroma_url=chroma_server)
    searcher = open_search(settings, folders=[knowledge])
    assert "meaning" in str(searcher.search(Query(text="queue pairs fail")).hits[0].reasons)
    name = searcher.index.store.meta()["collection"]
    searcher.close()
    with connected(chroma_server) as client:
        client.delete_collection(name)
    searcher = open_search(settings, folders=[knowledge])
    assert "meaning" in str(searcher.search(Query(text="queue pairs fail")).hits[0].reasons)
    searcher.close()


def test_of_two_that_fill_a_collection_at_once_one_wins(chroma_server: str) -> None:
    server = Server(chroma_server)
    inner = []

    def late(target: object) -> None:
        inner.append(on_server(server, "rootrank-race", lambda other: None))

    outer = on_server(server, "rootrank-race", late)
    assert outer.collection.id == inner[0].collection.id
    for one in (outer, *inner):
        one.close()
    assert collections(chroma_server).count("rootrank-race") == 1
    assert not [name for name in collections(chroma_server) if name.startswith("rootrank-race-")]


def test_a_server_that_is_away_leaves_codes_and_words(knowledge: Path, tmp_path: Path) -> None:
    searcher = open_search(settings_of(tmp_path, chroma_url="http://127.0.0.1:1"), folders=[knowledge])
    answer = searcher.search(Query(text="Xid 79"))
    searcher.close()
    assert answer.hits[0].passage.document == "gpu-gone"
    assert "127.0.0.1:1" in answer.missing[0]
    assert "retrieval.chroma_url" in answer.missing[0]


@contextlib.contextmanager
def recording() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server that refuses everything and remembers what it was asked, with which token."""
    asked: list[tuple[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers.get("Authorization", "")))
            self.send_error(401)

        def log_message(self, format: str, *args: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_headers_are_sent_with_values_of_the_environment(
    knowledge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMA_TOKEN", "t0ken")
    with recording() as (url, asked):
        settings = settings_of(tmp_path, chroma_url=url, chroma_headers=["Authorization: Bearer $CHROMA_TOKEN"])
        searcher = open_search(settings, folders=[knowledge])
        answer = searcher.search(Query(text="queue pairs fail"))
        searcher.close()
    assert asked[0][1] == "Bearer t0ken"
    assert "401" in answer.missing[0]
    assert "t0ken" not in answer.missing[0]


def test_a_proxy_is_asked_instead_of_the_server(knowledge: Path, tmp_path: Path) -> None:
    with recording() as (proxy, asked):
        settings = settings_of(tmp_path, chroma_url="http://chroma.invalid:8000", proxy=proxy)
        searcher = open_search(settings, folders=[knowledge])
        assert searcher.search(Query(text="queue pairs fail")).missing
        searcher.close()
    assert asked[0][0].startswith("http://chroma.invalid:8000/")


def test_a_header_that_is_none_is_refused_without_its_value(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no header") as caught:
        server_of(settings_of(tmp_path, chroma_url="http://x", chroma_headers=["se cret"]).retrieval)
    assert "Name: value" in caught.value.hint
