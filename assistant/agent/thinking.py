"""Thoughts of a model that leak into its answer: dropped, also where a tag comes in pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = ("think", "thinking", "thought", "reasoning")
_OPEN = re.compile(rf"<({'|'.join(_NAMES)})>", re.IGNORECASE)
_CLOSE = re.compile(rf"</({'|'.join(_NAMES)})>\s*", re.IGNORECASE)
_PERHAPS = re.compile(r"</?[a-z]{0,9}\Z", re.IGNORECASE)
"""An end of text that may become a tag."""
LONGEST_TAG = 16
"""Characters that are kept of a thought, in which its end may have begun."""


@dataclass(slots=True)
class Thoughts:
    """Takes pieces of a text and gives back what is no thought."""

    dropped: bool = False
    """Whether anything was left out."""
    _held: str = ""
    _inside: bool = False

    def feed(self, piece: str) -> str:
        """The visible text that is certain now."""
        self._held += piece
        seen: list[str] = []
        while (found := (_CLOSE if self._inside else _OPEN).search(self._held)) is not None:
            if self._inside and found.end() == len(self._held):
                return "".join(seen)  # the white space behind the tag may go on
            seen += [] if self._inside else [self._held[: found.start()]]
            self._held = self._held[found.end() :]
            self._inside = not self._inside
            self.dropped = True
        return "".join([*seen, self._certain()])

    def rest(self) -> str:
        """What was held back; an open thought is dropped."""
        text, self._held = ("" if self._inside else self._held), ""
        self._inside = False
        return _CLOSE.sub("", text)

    def _certain(self) -> str:
        if self._inside:
            self._held = self._held[-LONGEST_TAG:]
            return ""
        perhaps = _PERHAPS.search(self._held)
        cut = perhaps.start() if perhaps else len(self._held)
        text, self._held = self._held[:cut], self._held[cut:]
        return _CLOSE.sub("", text)
