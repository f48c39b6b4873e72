"""The forms seen so far, with a bound: later forms are lumped by their first words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assistant.events.forms import Described, Flags
from assistant.events.pieces import Ints

MOST_FORMS = 400_000
"""Folded forms that are remembered; later ones are described anew in each batch."""
MOST_MASKED = 150_000
"""Distinct masked forms that are kept apart; later ones are lumped."""
LUMP_WORDS = 3


class FormBook:
    """Numbers for forms, and their facts. Only the merging thread writes; readers see whole entries only."""

    def __init__(self, most_forms: int = MOST_FORMS, most_masked: int = MOST_MASKED) -> None:
        self.masked: list[str] = []
        """The text of each masked form."""
        self.lumped = 0
        """Forms that came too late to be kept apart."""
        self._most = (most_forms, most_masked)
        self._number: dict[int, int] = {}
        self._mask_number: dict[str, int] = {}
        self._flags: Flags = np.zeros(1024, dtype=np.int64)
        self._mask_of: Ints = np.zeros(1024, dtype=np.int64)
        self._marks: dict[int, tuple[int, ...]] = {}

    def look_up(self, digests: NDArray[np.uint64]) -> Ints:
        """The numbers of forms, -1 for unknown ones."""
        get = self._number.get
        return np.fromiter((get(digest, -1) for digest in digests.tolist()), dtype=np.int64, count=len(digests))

    def flags_of(self, numbers: Ints) -> Flags:
        """Clues of known forms."""
        return self._flags[numbers]

    def masks_of(self, numbers: Ints) -> Ints:
        """Numbers of the masked forms of known forms."""
        return self._mask_of[numbers]

    def marks_of(self, number: int) -> tuple[int, ...]:
        """Mark patterns that a known form matches."""
        return self._marks.get(number, ())

    def register(self, digests: NDArray[np.uint64], described: Described) -> Ints:
        """The masked-form numbers of newly described forms; remembers the forms while there is room."""
        numbers = [self._mask(text) for text in described.masked]
        for index, digest in enumerate(digests.tolist()):
            if digest not in self._number and len(self._number) < self._most[0]:
                self._remember(digest, int(described.flags[index]), numbers[index], described.marks.get(index))
        return np.asarray(numbers, dtype=np.int64)

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
        if number is None and len(self.masked) >= self._most[1]:
            self.lumped += 1
            text = " ".join(text.split(" ", LUMP_WORDS)[:LUMP_WORDS]) + " <*>"
            number = self._mask_number.get(text)
        if number is None and len(self.masked) >= 2 * self._most[1]:
            text, number = "<*>", self._mask_number.get("<*>")
        if number is None:
            number = self._mask_number[text] = len(self.masked)
            self.masked.append(text)
        return number
