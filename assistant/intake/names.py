"""File names as they are shown and sorted: any byte may stand in a name, only printable text may reach a terminal."""

from __future__ import annotations

import re
from collections import Counter

LONGEST_NAME = 400
_DIGITS = re.compile(r"(\d+)")

NaturalKey = tuple[tuple[int, int, str], ...]


def printable(name: str) -> str:
    """`name` with control characters, broken UTF-8 and direction marks written as escapes; an endless one is cut.

    Undecodable bytes arrive as lone surrogates (PEP 383) and leave as `\\xff`.
    """
    shown = name if name.isprintable() else "".join(map(_escaped, name))
    if len(shown) > LONGEST_NAME:
        half = LONGEST_NAME // 2 - 2
        shown = f"{shown[:half]}...{shown[-half:]}"
    return shown


def _escaped(char: str) -> str:
    code = ord(char)
    if char.isprintable():
        return char
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def member_path(name: str) -> str:
    """An archive member's name as a plain relative path: no drive, no leading slash, no `..`."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return "/".join(parts) or "unnamed"


def natural_key(name: str) -> NaturalKey:
    """Sort key that puts `rank-2` before `rank-10` and is total: equal keys only for equal names but for zeros."""
    parts = _DIGITS.split(name)
    return tuple(_natural(part) for part in parts if part)


def _natural(part: str) -> tuple[int, int, str]:
    """Numbers compare by their length first, so that none need be converted, however long."""
    if not part.isdecimal():
        return -1, 0, part
    digits = part.lstrip("0")
    return len(digits), 0, f"{digits}:{len(part)}"


class DistinctNames:
    """Marks repeated names `#2`, `#3` and so on, in the order in which they come, so that each can be cited."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def __call__(self, name: str) -> str:
        """`name`, or its marked form if it was given before."""
        self._seen[name] += 1
        if self._seen[name] == 1:
            return name
        while (marked := f"{name}#{self._seen[name]}") in self._seen:
            self._seen[name] += 1
        self._seen[marked] = 1
        return marked
