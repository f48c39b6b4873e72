"""Hostile texts for a pattern: what makes a backtracking engine try the same characters over and over."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

LENGTH = 16_384
"""Characters of an attack: a quadratic search then takes a good part of a second, a linear one a millisecond."""
MOST_PUMPS = 64
"""Most repetitions of one pattern that are attacked each by itself."""

_UNITS = (
    "a",
    "A",
    "0",
    "0.",
    " ",
    "\t",
    "\n",
    "-",
    "_",
    "/",
    "(",
    "[",
    '"',
    "=",
    ":",
    ",",
    "a ",
    "a.",
    "a=",
    "a,",
    "[a]",
)
_END = "\x00\x7f"
"""Nothing sensible matches this, so the search fails where the attack ends."""


def attacks(pattern: str, length: int = LENGTH) -> Iterator[str]:
    """Long texts against a pattern: plain runs, and runs of what each of its repetitions repeats, behind its lead.

    Args:
        length: characters of each text; as many as the pattern can meet where that is bounded.
    """
    for unit in _UNITS:
        yield unit * (length // len(unit)) + _END
    tree = _parsed(pattern)
    for number in range(MOST_PUMPS if tree is not None else 0):
        writer = _Writer(number, length)
        writer.write(tree)
        if not writer.pumped:
            return
        yield writer.text[:length] + _END
        lead = writer.text[: writer.start]
        if lead:
            yield (lead * (length // len(lead) + 1))[:length] + _END


def _parsed(pattern: str) -> Any:  # noqa: ANN401 - the standard library's parser has no types
    """The pattern as Python's own parser sees it; None where it is written for RE2 alone."""
    try:
        return importlib.import_module("re._parser").parse(pattern)
    except Exception:
        return None


class _Writer:
    """Writes one text that a pattern matches, and stops once its n-th repetition has been pumped."""

    def __init__(self, pump: int, length: int) -> None:
        self.text = ""
        self.pumped = False
        self.start = 0
        self._left = pump
        self._length = length

    def write(self, items: Sequence[tuple[Any, Any]]) -> None:
        for code, value in items:
            if self.pumped:
                return
            self._one(str(code), value)

    def _one(self, code: str, value: Any) -> None:  # noqa: ANN401
        if code == "LITERAL":
            self.text += chr(value)
        elif code in ("ANY", "NOT_LITERAL"):
            self.text += "a"
        elif code == "IN":
            self.text += _member(value)
        elif code == "BRANCH":
            self.write(value[1][0])
        elif code == "SUBPATTERN":
            self.write(value[-1])
        elif code.endswith("_REPEAT"):
            self._repeat(*value)

    def _repeat(self, least: int, most: int, body: Sequence[tuple[Any, Any]]) -> None:
        before = len(self.text)
        if most > 16 and self._left == 0:
            self._pump(body)
            return
        self._left -= most > 16
        for _ in range(min(least, 8) or 1):
            self.write(body)
            if self.pumped:
                return
        if least == 0:
            self.text = self.text[:before]

    def _pump(self, body: Sequence[tuple[Any, Any]]) -> None:
        self.start = len(self.text)
        inner = _Writer(-1, 0)
        inner.write(body)
        self.text += (inner.text or "a") * self._length
        self.pumped = True


def _member(choices: Sequence[tuple[Any, Any]]) -> str:
    """A character of a class."""
    code, value = str(choices[0][0]), choices[0][1]
    if code == "NEGATE":
        return "a"
    if code == "LITERAL":
        return chr(value)
    if code == "RANGE":
        return chr(value[0])
    return {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " "}.get(str(value), "a")
