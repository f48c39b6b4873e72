"""Digit folding: every digit becomes `0`, which leaves few distinct lines and keeps every position where it was.

Whatever a pattern that treats all digits alike says of a folded line, it says of all lines that fold to it. So prefixes,
times, marks and masks are found once for each distinct folded line (a *form*) and never again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.pieces import Ints, Pieces, strings, texts

_TABLE = bytes.maketrans(b"123456789", b"0" * 9)

FORM_BYTES = 8 << 10
"""Bytes of a form that masks and patterns look at."""


@dataclass(frozen=True, slots=True)
class Folded:
    """The distinct forms of a batch and which piece has which."""

    digest: NDArray[np.uint64]
    """One hash for each distinct form."""
    first: Ints
    """The first piece of each form."""
    form: Ints
    """For each piece the index of its form in `digest`."""
    text: bytes
    """The folded bytes, laid out as `Pieces.text`."""


def fold(pieces: Pieces) -> Folded:
    """Group the pieces of a batch by their digit-folded text."""
    text = pieces.text.translate(_TABLE)
    digests = texts(text, pieces.start, pieces.length).hash(seed=7).to_numpy()
    digest, first, form = np.unique(digests, return_index=True, return_inverse=True)
    return Folded(digest, first, form, text)


def form_texts(pieces: Pieces, folded: Folded, which: Ints) -> pl.Series:
    """The text of some of the forms, cut to FORM_BYTES at a character border."""
    rows = folded.first[which]
    start = pieces.start[rows]
    length = pieces.length[rows].copy()
    for index in np.flatnonzero(length > FORM_BYTES).tolist():
        end = int(start[index]) + FORM_BYTES
        while folded.text[end] & 0xC0 == 0x80:
            end -= 1
        length[index] = end - int(start[index])
    return strings(folded.text, start, length)
