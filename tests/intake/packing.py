"""Packed bytes for the tests of archives, and reading all of a discovery."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import zstandard

from assistant.intake.limits import Limits
from assistant.intake.models import Discovery, Unread
from assistant.intake.reader import read_many

TEXT = "".join(f"step {number} loss {number * 7919 % 1000}\n" for number in range(60_000)).encode()


def noise(lines: int, seed: int = 0) -> bytes:
    """Text that packs badly, so that a cut in the packed bytes cuts the text about there too."""
    chance = random.Random(seed)
    return "".join(f"{chance.random()}\n" for _ in range(lines)).encode()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
    "zst": zstandard.compress,
}


def tar_bytes(members: Sequence[tuple[str, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=form) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


def zip_bytes(members: Sequence[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return held.getvalue()


def read_all(found: Discovery, limits: Limits | None = None) -> tuple[dict[str, bytes], dict[str, str]]:
    texts: dict[str, bytes] = {}
    told: list[Unread] = []
    for block in read_many(found.sources, told.append, limits=limits or Limits()):
        texts[block.source.name] = texts.get(block.source.name, b"") + block.data
    return texts, {one.source: one.why for one in told}


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


TARS = {"tar": bytes, **{f"tar.{kind}": pack for kind, pack in PACKERS.items()}}
