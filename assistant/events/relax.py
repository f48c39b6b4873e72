"""Regexes for digit-folded text: `relaxed(p)` matches the folded line whenever `p` matches the line.

A pattern that treats all digits alike says the same of a line and of its folded form, so it runs on forms only. One that
does not (`Xid 79`) is relaxed for forms, and only lines whose form passes are looked at again with their digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_DIGITS = frozenset("0123456789")
_QUANTIFIER = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_GROUP = re.compile(r"\(\?(?:P?<[A-Za-z_][A-Za-z0-9_]*>|[imsU-]*[:)])")
_ESCAPE = re.compile(r"\\[^0-9xpPQuU]", re.DOTALL)
_ITEM = re.compile(r"\[:\^?[a-z]+:\]|\\[^0-9xpPQuU](?:-(?=\]))?|(\\?[^\\])-(\\?[^\\\]])|([^\\])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A pattern for folded text; `varies` tells that the original must be asked again about the unfolded line."""

    pattern: str
    varies: bool


ANYTHING = Relaxed("", True)
"""For patterns this module does not understand: every form may hold a line that matches."""


def relaxed(pattern: str) -> Relaxed:
    """The pattern for folded text."""
    out: list[str] = []
    varies, at = False, 0
    while at < len(pattern):
        token, put, one_varies = _token(pattern, at)
        if not token:
            return ANYTHING
        out.append(put)
        varies = varies or one_varies
        at += len(token)
    return Relaxed("".join(out), varies)


def _token(pattern: str, at: int) -> tuple[str, str, bool]:
    """What stands at a place, what to put instead, and whether digits matter in it. An empty token means: not understood."""
    char = pattern[at]
    if char in _DIGITS:
        return char, "0", True
    if char == "[":
        return _class(pattern, at)
    regex = {"\\": _ESCAPE, "{": _QUANTIFIER, "(": _GROUP}.get(char)
    found = regex.match(pattern, at) if regex else None
    if found:
        return found.group(), found.group(), False
    return ("", "", True) if char == "\\" else (char, char, False)


def _class(pattern: str, at: int) -> tuple[str, str, bool]:
    start = at + 1
    negated = pattern.startswith("^", start)
    start += negated
    items: list[tuple[str, frozenset[str]]] = []
    place = start
    while place == start or not pattern.startswith("]", place):
        item = _ITEM.match(pattern, place)
        if item is None:
            return "", "", True
        items.append((item.group(), _digits_of(item)))
        place = item.end()
    token = pattern[at : place + 1]
    covered = frozenset().union(*(digits for _, digits in items))
    if not covered or covered == _DIGITS:
        return token, token, False
    return (token, *_partial(token, items, negated))


def _digits_of(item: re.Match[str]) -> frozenset[str]:
    low, high, single = item.groups()
    if low:
        return frozenset(digit for digit in _DIGITS if low[-1] <= digit <= high[-1])
    if single:
        return _DIGITS & {single}
    return _DIGITS if item.group() in (r"\d", r"\w", r"\S", "[:digit:]", "[:alnum:]") else frozenset()


def _partial(token: str, items: list[tuple[str, frozenset[str]]], negated: bool) -> tuple[str, bool]:
    if not negated:
        return f"{token[:-1]}0]", True
    kept = "".join(text for text, digits in items if not digits)
    return (f"[^{kept}]" if kept else r"(?s:.)"), True
