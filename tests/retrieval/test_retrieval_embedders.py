"""Embedders: which one is taken, what is said where it is missing or changed, the endpoint, the real model."""

from __future__ import annotations

import contextlib
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from assistant.errors import EmbeddingError, ModelChanged, ModelMissing
from assistant.retrieval import transformers
from assistant.retrieval.embedders import Hashing, chosen
from assistant.retrieval.endpoint import Endpoint
from assistant.retrieval.models import Query
from assistant.retrieval.opening import open_search
from assistant.retrieval.transformers import PACKAGE, WEIGHTS, package_folder, packaged, verify
from tests.retrieval.conftest import settings_of

needs_model = pytest.mark.skipif(
    package_folder() is None or find_spec("sentence_transformers") is None,
    reason=f"{PACKAGE} or sentence-transformers is not installed",
)


def test_hashing_is_deterministic_and_of_length_one() -> None:
    texts = ["GPU fell off the bus", "disk full"]
    vectors = Hashing().documents(texts)
    assert np.array_equal(vectors, Hashing().documents(texts))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.array_equal(vectors[0], Hashing().query(texts[0]))
    assert np.array_equal(Hashing().query(""), np.zeros(256))


def test_none_is_no_embedder(tmp_path: Path) -> None:
    assert chosen(settings_of(tmp_path, embedder="none").retrieval) is None


def test_a_missing_package_is_named_and_words_are_searched(
    knowledge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformers, "package_folder", lambda: None)
    searcher = open_search(settings_of(tmp_path, embedder="auto"), folders=[knowledge])
    answer = searcher.search(Query(text="exit 137"))
    searcher.close()
    assert answer.hits[0].passage.document == "kill"
    assert "rootrank[minilm]" in answer.missing[0]


@pytest.mark.parametrize("embedder", ["path", "hub", "endpoint"])
def test_a_model_that_is_not_named_is_refused(tmp_path: Path, embedder: str) -> None:
    with pytest.raises(ModelMissing):
        chosen(settings_of(tmp_path, embedder=embedder).retrieval)


def test_a_folder_that_holds_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=str(tmp_path)):
        chosen(settings_of(tmp_path, embedder="path", model=str(tmp_path)).retrieval)


def test_other_weights_than_were_published_are_refused(
    knowledge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / WEIGHTS).write_bytes(b"something else")
    with pytest.raises(ModelChanged, match="sha256") as caught:
        verify(model, transformers.PUBLISHED)
    assert PACKAGE in caught.value.hint
    monkeypatch.setattr(transformers, "package_folder", lambda: model)
    searcher = open_search(settings_of(tmp_path, embedder="minilm"), folders=[knowledge])
    answer = searcher.search(Query(text="exit 137"))
    searcher.close()
    assert answer.hits[0].passage.document == "kill"
    assert "sha256" in answer.missing[0]


@contextlib.contextmanager
def endpoint(reply: object) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """An embeddings service that answers with the length of each text, or with a fixed reply."""
    asked: list[dict[str, object]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
            rows = [{"index": place, "embedding": [len(text), 1.0]} for place, text in enumerate(body["input"])]
            data = json.dumps(reply if reply is not None else {"data": rows[::-1]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_an_endpoint_is_asked_in_batches_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-1")
    with endpoint(None) as (url, asked):
        vectors = Endpoint(url, "small", "MY_KEY").documents(["x" * length for length in range(1, 101)])
    assert vectors.shape == (100, 2)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.all(np.diff(vectors[:, 0]) > 0)
    assert [call["path"] for call in asked] == ["/v1/embeddings"] * 2
    assert asked[0]["model"] == "small"
    assert asked[0]["key"] == "Bearer sk-1"


@pytest.mark.parametrize("reply", [{}, [], {"data": []}, {"data": [{"index": 0, "embedding": "x"}]}, {"error": "no"}])
def test_a_strange_answer_of_an_endpoint_is_one_error(reply: object) -> None:
    with endpoint(reply) as (url, _), pytest.raises(EmbeddingError, match="no embeddings"):
        Endpoint(url, "small").query("text")


def test_an_endpoint_that_is_away_leaves_codes_and_words(knowledge: Path, tmp_path: Path) -> None:
    away = settings_of(tmp_path, embedder="endpoint", endpoint="http://127.0.0.1:1/v1", model="small")
    searcher = open_search(away, folders=[knowledge])
    answer = searcher.search(Query(text="Xid 79"))
    searcher.close()
    assert answer.hits[0].passage.document == "gpu-gone"
    assert "127.0.0.1:1" in answer.missing[0]


@needs_model
def test_the_real_model_finds_by_meaning(knowledge: Path, tmp_path: Path) -> None:
    searcher = open_search(settings_of(tmp_path, embedder="minilm"), folders=[knowledge])
    answer = searcher.search(Query(text="no space is left on the volume, so the weights cannot be saved"))
    searcher.close()
    assert answer.missing == ()
    assert (answer.hits or answer.nearest)[0].passage.document == "full"


@needs_model
def test_a_model_in_a_folder_is_the_same_as_in_the_package(tmp_path: Path) -> None:
    source = package_folder()
    assert source
    copy = shutil.copytree(source, tmp_path / "model")
    folder = chosen(settings_of(tmp_path, embedder="path", model=str(copy)).retrieval)
    assert folder
    assert np.allclose(folder.query("NCCL timeout"), packaged().query("NCCL timeout"), atol=1e-6)
