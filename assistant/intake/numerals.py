"""Numbers as hostile text spells them: only what a rank, a size, a port or a pid can be is taken for one."""

from __future__ import annotations

import re

LARGEST = 10_000_000
"""Above every rank, group size, attempt and task there is."""
LONGEST = 18
"""Digits of the largest number that any table here can hold."""
_TOO_LONG = re.compile(rf"\d{{{LONGEST + 1}}}")


def whole(text: str | None, most: int = LARGEST) -> int | None:
    """The number that plain digits spell, if it is at most `most`; None for everything else.

    `str.isdigit` is no guard for `int`: it also holds for `²`, and `int` refuses thousands of digits.
    """
    if not text or not text.isascii() or not text.isdecimal() or len(text) > 4 * LONGEST:
        return None
    number = int(text)
    return number if number <= most else None


def holds_nonsense(text: str) -> bool:
    """Whether some number in the text has more digits than any real one."""
    return _TOO_LONG.search(text) is not None
