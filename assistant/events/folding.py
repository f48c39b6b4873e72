"""Collapsing: every run of digits becomes one `0`, which leaves few distinct lines (*forms*).

Most of what must be known of a line is true of its whole form, so it is found once for each form and never again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.pieces import Ints, Pieces, blob, stretches

Digests = NDArray[np.uint64]

_TABLE = bytes.maketrans(b"123456789", b"0" * 9)
_ZERO = 48
SEED = 7

FORM_BYTES = 8 << 10
"""Bytes of a form that masks and patterns look at."""


@dataclass(frozen=True, slots=True)
class Folded:
    """The distinct forms of a batch and which piece has which."""

    digest: Digests
    """One hash for each distinct form."""
    first: Ints
    """The first piece of each form."""
    form: Ints
    """For each piece the index of its form in `digest`."""
    text: bytes
    """The collapsed bytes, pieces in the order of `Pieces`."""
    buffer: pl.Series
    """The same as a Polars value."""
    start: Ints
    """Where each piece starts in `text`."""
    length: Ints


def fold(pieces: Pieces) -> Folded:
    """Group the pieces of a batch by their collapsed text."""
    text, start, length = _collapsed(pieces)
    buffer = blob(text)
    digests = digests_of(stretches(buffer, start, length))
    digest, first, form = np.unique(digests, return_index=True, return_inverse=True)
    return Folded(digest, first, form, text, buffer, start, length)


def digests_of(column: pl.Series) -> Digests:
    """A hash of each text, the same in every run of the same Polars."""
    digests: Digests = column.hash(seed=SEED).to_numpy()
    return digests


def form_texts(folded: Folded, which: Ints) -> pl.Series:
    """The text of some of the forms, cut to FORM_BYTES at a character border."""
    rows = folded.first[which]
    start = folded.start[rows]
    length = folded.length[rows].copy()
    for index in np.flatnonzero(length > FORM_BYTES).tolist():
        end = int(start[index]) + FORM_BYTES
        while folded.text[end] & 0xC0 == 0x80:
            end -= 1
        length[index] = end - int(start[index])
    return stretches(folded.buffer, start, length).cast(pl.String)


def _collapsed(pieces: Pieces) -> tuple[bytes, Ints, Ints]:
    array = np.frombuffer(pieces.text.translate(_TABLE), dtype=np.uint8)
    digit = array == _ZERO
    keep = np.ones(len(array), dtype=np.bool_)
    np.logical_and(digit[1:], digit[:-1], out=keep[1:])
    gone = np.flatnonzero(keep[1:]) + 1
    np.logical_not(keep[1:], out=keep[1:])
    start = pieces.start - np.searchsorted(gone, pieces.start)
    end = pieces.start + pieces.length
    end -= np.searchsorted(gone, end)
    kept = pl.Series(array).filter(pl.Series(keep)).to_numpy()
    return kept.tobytes(), start, end - start


def collapsed(text: str) -> str:
    """What `fold` does to one text."""
    folded = text.encode().translate(_TABLE)
    while b"00" in folded:
        folded = folded.replace(b"00", b"0")
    return folded.decode()
