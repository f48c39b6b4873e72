"""The forms and kinds seen so far, with a bound: what comes too late is lumped by its first words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.folding import Digests
from assistant.events.forms import Described, Flags, describe_kinds
from assistant.events.pieces import Ints

MOST_FORMS = 300_000
"""Forms that are remembered; later ones are described anew in each batch."""
MOST_KINDS = 300_000
MOST_MASKED = 120_000
"""Distinct masked forms that are kept apart; later ones are lumped."""
LUMP_WORDS = 3


@dataclass(frozen=True, slots=True)
class NewKinds:
    """Kinds that a batch saw for the first time."""

    clues: dict[int, int]
    masked: dict[int, str]


class FormBook:
    """Facts of forms by their digest. Only the merging thread writes; other threads read entries that are complete."""

    def __init__(self, most_masked: int = MOST_MASKED) -> None:
        self.masked: list[str] = []
        """The text of each masked form."""
        self.merged_into: list[int] = []
        """For each masked form the one whose text stands for it; itself until `merge` was called."""
        self.lumped = 0
        """Kinds that came too late to be kept apart."""
        self._most_masked = most_masked
        self._number: dict[int, int] = {}
        self._mask_number: dict[str, int] = {}
        self._kinds: dict[int, tuple[int, int]] = {}
        """Clues and masked form of each kind."""
        self._flags: Flags = np.zeros(1024, dtype=np.int64)
        self._mask_of: Ints = np.zeros(1024, dtype=np.int64)
        self._marks: dict[int, tuple[int, ...]] = {}

    def forms(self) -> list[str]:
        """The texts to mine: of each masked form, or of the template that it was merged into."""
        return [self.masked[number] for number in self.merged_into]

    def merge(self, mined: list[str]) -> None:
        """Treat masked forms with the same template (of those that `forms` gave) as one from now on."""
        first: dict[str, int] = {}
        into = [first.setdefault(text, number) for number, text in enumerate(mined)]
        for text, number in first.items():
            self.masked[number] = text
        self.merged_into = into

    def look_up(self, digests: Digests) -> Ints:
        """The numbers of forms, -1 for unknown ones."""
        get = self._number.get
        return np.fromiter((get(digest, -1) for digest in digests.tolist()), dtype=np.int64, count=len(digests))

    def flags_of(self, numbers: Ints) -> Flags:
        """All flags of known forms."""
        return self._flags[numbers]

    def masks_of(self, numbers: Ints) -> Ints:
        """Numbers of the masked forms of known forms."""
        return self._mask_of[numbers]

    def marks_of(self, number: int) -> tuple[int, ...]:
        """Mark patterns that lines of a known form may match."""
        return self._marks.get(number, ())

    def clues(self, described: Described) -> tuple[Flags, NewKinds]:
        """The clues of newly described forms; kinds that are not known yet are described on the way."""
        digest, first, inverse = np.unique(described.kind, return_index=True, return_inverse=True)
        known = [self._kinds.get(each) for each in digest.tolist()]
        clues = np.asarray([entry[0] if entry else 0 for entry in known], dtype=np.int64)
        new = np.flatnonzero([entry is None for entry in known])
        if not len(new):
            return clues[inverse], NewKinds({}, {})
        clues[new], masked = describe_kinds(described.kinds[first[new]])
        digests = digest[new].tolist()
        kinds = NewKinds(dict(zip(digests, clues[new].tolist(), strict=True)), dict(zip(digests, masked, strict=True)))
        return clues[inverse], kinds

    def register(self, digests: Digests, described: Described, flags: Flags, kinds: NewKinds) -> Ints:
        """The masked-form numbers of newly described forms; remembers what will come again while there is room."""
        distinct, inverse = np.unique(described.kind, return_inverse=True)
        numbers = np.asarray([self._kind(each, kinds) for each in distinct.tolist()], dtype=np.int64)
        masks: Ints = numbers[inverse]
        for index in np.flatnonzero(described.lasting).tolist():
            if len(self._number) >= MOST_FORMS:
                break
            digest = int(digests[index])
            if digest not in self._number:
                self._remember(digest, int(flags[index]), int(masks[index]), described.marks.get(index))
        return masks

    def _kind(self, digest: int, kinds: NewKinds) -> int:
        known = self._kinds.get(digest)
        if known is not None:
            return known[1]
        mask = self._mask(kinds.masked[digest])
        if len(self._kinds) < MOST_KINDS:
            self._kinds[digest] = (kinds.clues[digest], mask)
        return mask

    def _remember(self, digest: int, flags: int, mask: int, marks: tuple[int, ...] | None) -> None:
        number = len(self._number)
        if number == len(self._flags):
            self._flags = np.concatenate([self._flags, np.zeros_like(self._flags)])
            self._mask_of = np.concatenate([self._mask_of, np.zeros_like(self._mask_of)])
        self._flags[number] = flags
        self._mask_of[number] = mask
        if marks:
            self._marks[number] = marks
        self._number[digest] = number

    def _mask(self, text: str) -> int:
        number = self._mask_number.get(text)
        if number is None and len(self.masked) >= self._most_masked:
            self.lumped += 1
            text = " ".join(text.split(" ", LUMP_WORDS)[:LUMP_WORDS]) + " <*>"
            number = self._mask_number.get(text)
        if number is None and len(self.masked) >= self._most_masked + max(8, self._most_masked // 4):
            text, number = "<*>", self._mask_number.get("<*>")
        if number is None:
            number = self._mask_number[text] = len(self.masked)
            self.masked.append(text)
            self.merged_into.append(number)
        return number


def no_kinds() -> NewKinds:
    """For a batch whose forms are all known."""
    return NewKinds({}, {})


def nothing_described() -> Described:
    """For a batch whose forms are all known."""
    none: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
    return Described(np.zeros(0, np.int64), {}, np.zeros(0, np.uint64), none, pl.Series([], dtype=pl.String))
