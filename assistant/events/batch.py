"""Blocks of several sources laid end to end: one vectorised step covers many small files or a part of a big one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.intake.models import Block

BATCH_BYTES = 6 << 20
"""A batch is closed once it holds this much; blocks of this size keep it below twice as much."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive blocks. `data` always ends in a newline; `begins` tells where in it each block starts."""

    blocks: tuple[Block, ...]
    data: bytes
    begins: NDArray[np.int64]


def batches(blocks: Iterable[Block], size: int = BATCH_BYTES) -> Iterator[Batch]:
    """Group blocks, in order, into batches of about `size` bytes. Empty blocks are left out."""
    held: list[Block] = []
    held_bytes = 0
    for block in blocks:
        if not block.data:
            continue
        held.append(block)
        held_bytes += len(block.data)
        if held_bytes >= size:
            yield _lay_out(held)
            held, held_bytes = [], 0
    if held:
        yield _lay_out(held)


def _lay_out(blocks: list[Block]) -> Batch:
    parts: list[bytes] = []
    begins: list[int] = []
    at = 0
    for block in blocks:
        begins.append(at)
        closed = block.data.endswith(b"\n")
        parts += [block.data] if closed else [block.data, b"\n"]
        at += len(block.data) + (not closed)
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    return Batch(tuple(blocks), data, np.asarray(begins, dtype=np.int64))
