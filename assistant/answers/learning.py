"""Keeps what was learned from the sayings, so that it is learned once: in memory, and in a file where there is a place.

The file is a cache: it is named after what it was learned from, one that cannot be read is learned anew, and a folder
that cannot be written is done without.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from assistant.answers.likeness import VERSION, Example, Likeness, learned
from assistant.disk import private_folder, replace_file

_KEPT = 4
"""Files of older sayings that are left alone; other versions and other people's folders may still need them."""


@lru_cache(maxsize=8)
def likeness_of(examples: tuple[Example, ...], cache: Path | None = None) -> Likeness:
    """What is learned from the examples, from the file in `cache` where it is there."""
    if cache is None:
        return learned(examples)
    path = cache / f"sayings-{digest(examples)}.npz"
    kept = unpacked(arrays(path))
    if kept is not None:
        return kept
    fresh = learned(examples)
    write(path, packed(fresh))
    return fresh


def digest(examples: Sequence[Example]) -> str:
    """A name for what is learned from."""
    told = orjson.dumps([VERSION, *((one.intent, one.words) for one in examples)])
    return hashlib.blake2b(told, digest_size=8).hexdigest()


def write(path: Path, data: bytes) -> None:
    """Keeps a file, and takes away the oldest of its kind; a disk that refuses is done without."""
    with contextlib.suppress(OSError):
        private_folder(path.parent)
        replace_file(path, data)
        kind = path.name.partition("-")[0]
        known = sorted(path.parent.glob(f"{kind}-*{path.suffix}"), key=lambda file: -file.stat().st_mtime)
        for old in known[_KEPT:]:
            old.unlink()


def arrays(path: Path) -> dict[str, np.ndarray] | None:
    """What a file of arrays holds; None where it is none. Nothing in it is ever run."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files}
    except (OSError, ValueError, EOFError, KeyError, AttributeError, TypeError, zipfile.BadZipFile):
        return None


def packed(likeness: Likeness, **more: np.ndarray) -> bytes:
    """What was learned, as a file."""
    told = {"intents": likeness.intents, "known": sorted(likeness.known), "places": list(likeness.places)}
    file = io.BytesIO()
    parts: dict[str, Any] = dict(more)
    np.savez(
        file, told=np.frombuffer(orjson.dumps(told), np.uint8), rarity=likeness.rarity, weights=likeness.weights,
        rarest=np.float64(likeness.rarest), **parts,
    )  # fmt: skip
    return file.getvalue()


def unpacked(kept: dict[str, np.ndarray] | None) -> Likeness | None:
    """What was learned, from the arrays of a file; None where they are not such."""
    if kept is None:
        return None
    with contextlib.suppress(KeyError, ValueError, TypeError):
        told = orjson.loads(kept["told"].tobytes())
        places = {(kind, name): at for at, (kind, name) in enumerate(told["places"])}
        shape = (len(places), len(told["intents"]))
        if kept["weights"].shape == shape and kept["rarity"].shape == shape[:1]:
            return Likeness(
                tuple(told["intents"]), frozenset(told["known"]), places,
                kept["rarity"], kept["weights"], float(kept["rarest"]),
            )  # fmt: skip
    return None
