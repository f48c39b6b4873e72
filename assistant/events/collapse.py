"""Regexes for collapsed text, in which each run of digits is a single `0`.

`relaxed(p)` matches the collapsed line whenever `p` matches the line. A pattern that cannot tell the two apart (no
digit in it but in `.*`) is `sure`: what it says of a collapsed line holds for every line behind it. All others are
asked again about the lines themselves, once the relaxed pattern has let their form pass. Why it is sound: each digit
that collapsing removes follows a digit, so whatever may match behind something that can match a digit is made optional.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DIGITS = frozenset("0123456789")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(?P<low>[0-9]+)(?P<range>,(?P<high>[0-9]*))?\})\??")
_OPEN = re.compile(r"\((?:\?P?<[A-Za-z_][A-Za-z0-9_]*>|\?(?P<flags>[imsU-]+)(?P<scope>[:)])|(?P<plain>\?:)?)")
_ITEM = re.compile(r"\[:\^?[a-z]+:\]|\\[^0-9xpPQuU]|(?P<low>[^\\])-(?P<high>[^\\\]])|(?P<one>[^\\])", re.DOTALL)
_ASCII = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A pattern for collapsed text without captures and word borders, which slow Rust's engine down."""

    pattern: str
    sure: bool
    """It matches a collapsed line exactly if the original matches the line."""


ANYTHING = Relaxed("", False)
"""For patterns that are not understood: each form may stand for a line that matches."""


class _Unclear(ValueError):
    """The pattern uses something that this module does not know."""


def relaxed(pattern: str) -> Relaxed:
    """The pattern for collapsed text."""
    try:
        reader = _Reader(pattern)
        body, _ = reader.alternatives(after_digit=False)
        if reader.at < len(pattern):
            return ANYTHING
    except _Unclear:
        return ANYTHING
    return Relaxed(_uncaptured(pattern) if reader.sure else body, reader.sure)


def _uncaptured(pattern: str) -> str:
    return re.sub(r"(?<!\\)\(\?P?<[A-Za-z_][A-Za-z0-9_]*>", "(?:", pattern)


@dataclass(frozen=True, slots=True)
class _Quantifier:
    text: str = ""
    low: int = 1
    high: int | None = 1
    """None: unbounded."""


class _Reader:
    """Reads a regex from left to right and writes the relaxed one."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.sure = True

    def alternatives(self, *, after_digit: bool) -> tuple[str, bool]:
        """Everything up to a closing parenthesis; the second value: it may end behind a digit."""
        parts: list[str] = []
        ends = False
        while True:
            part, end = self._sequence(after_digit)
            parts.append(part)
            ends = ends or end
            if not self.pattern.startswith("|", self.at):
                return "|".join(parts), ends
            self.at += 1

    def _sequence(self, after_digit: bool) -> tuple[str, bool]:
        out: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            put, after_digit = self._item(after_digit)
            out.append(put)
        return "".join(out), after_digit

    def _item(self, after_digit: bool) -> tuple[str, bool]:
        char = self.pattern[self.at]
        if char == "(":
            return self._group(after_digit)
        if char == "^":
            self.at += 1
            return "^", False
        if char == "$":
            self.at += 1
            return "$", after_digit
        if self.pattern.startswith(("\\b", "\\B"), self.at):
            self.at += 2
            return "", after_digit
        atom, digits, only = self._atom()
        return self._counted(atom, digits, only, after_digit)

    def _counted(self, atom: str, digits: frozenset[str], only: bool, after_digit: bool) -> tuple[str, bool]:
        times = self._quantifier()
        if not digits:
            return atom + times.text, after_digit and times.low == 0
        if only or digits != DIGITS or times.low or times.high is not None:
            self.sure = False
        low = 0 if after_digit or times.low == 0 else 1
        if only:
            return ("0" if low else "0?"), True
        if times.high is None:
            return atom + ("+" if low else "*"), True
        return f"{atom}{{{low},{max(1, times.high)}}}", True

    def _group(self, after_digit: bool) -> tuple[str, bool]:
        opening = _OPEN.match(self.pattern, self.at)
        if opening is None or (self.pattern.startswith("(?", self.at) and opening.group() == "("):
            raise _Unclear
        self.at = opening.end()
        if opening["scope"] == ")":
            return opening.group(), after_digit
        start = self.at
        body, ends = self.alternatives(after_digit=after_digit)
        times = self._closed()
        if times.high != 1 and ends and not after_digit:
            self.at = start
            body, ends = self.alternatives(after_digit=True)
            self._closed()
        head = f"(?{opening['flags']}:" if opening["flags"] else "(?:"
        return f"{head}{body}){times.text}", ends or (after_digit and times.low == 0)

    def _closed(self) -> _Quantifier:
        if not self.pattern.startswith(")", self.at):
            raise _Unclear
        self.at += 1
        return self._quantifier()

    def _quantifier(self) -> _Quantifier:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return _Quantifier()
        self.at = found.end()
        text = found.group()
        if found["low"] is None:
            return _Quantifier(text, int(text[0] == "+"), 1 if text[0] == "?" else None)
        low = int(found["low"])
        high = low if found["range"] is None else int(found["high"]) if found["high"] else None
        return _Quantifier(text, low, high)

    def _atom(self) -> tuple[str, frozenset[str], bool]:
        """One character or class: what to write, which digits it matches, and whether it matches digits only."""
        char = self.pattern[self.at]
        if char == "[":
            return self._class()
        size = 2 if char == "\\" else 1
        token = self.pattern[self.at : self.at + size]
        self.at += size
        if char == "\\":
            return _escaped(token)
        if char == ".":
            return ".", DIGITS, False
        return (char, frozenset(), False) if char not in DIGITS else ("0", frozenset(char), True)

    def _class(self) -> tuple[str, frozenset[str], bool]:
        start = self.at + 1
        negated = self.pattern.startswith("^", start)
        start += negated
        place, items = start, list[tuple[str, frozenset[str], bool]]()
        while place == start or not self.pattern.startswith("]", place):
            item = _ITEM.match(self.pattern, place)
            if item is None:
                raise _Unclear
            items.append(_class_item(item))
            place = item.end()
        self.at = place + 1
        return _class_of(items, negated)


def _escaped(token: str) -> tuple[str, frozenset[str], bool]:
    letter = token[1:]
    if not letter or letter in DIGITS or letter in "xpPQuUEAzZ":
        raise _Unclear
    if letter == "d":
        return "[0-9]", DIGITS, True
    if letter in "wS":
        return ("[0-9A-Za-z_]" if letter == "w" else r"[^\t\n\f\r ]"), DIGITS, False
    if letter in "sWD":
        return {"s": r"[\t\n\f\r ]", "W": "[^0-9A-Za-z_]", "D": "[^0-9]"}[letter], frozenset(), False
    return token, frozenset(), False


def _class_item(item: re.Match[str]) -> tuple[str, frozenset[str], bool]:
    """An element of a class: what to write, its digits, and whether it has nothing else."""
    text, one = item.group(), item["one"]
    if item["low"]:
        digits = frozenset(digit for digit in DIGITS if item["low"] <= digit <= item["high"])
        return text, digits, item["low"] in DIGITS and item["high"] in DIGITS
    if one:
        return text, DIGITS & {one}, one in DIGITS
    if text[1] in _ASCII and text.startswith("\\"):
        return _ASCII[text[1]], DIGITS if text[1] in "dw" else frozenset(), text[1] == "d"
    if text in ("[:digit:]", "[:alnum:]", "[:word:]", "[:xdigit:]", "[:print:]", "[:graph:]", "[:ascii:]"):
        return text, DIGITS, text == "[:digit:]"
    if text[1] in "SDW^" or text.startswith("[:^"):
        raise _Unclear
    return text, frozenset(), False


def _class_of(items: list[tuple[str, frozenset[str], bool]], negated: bool) -> tuple[str, frozenset[str], bool]:
    covered: frozenset[str] = frozenset().union(*(digits for _, digits, _ in items))
    body = "".join(text for text, _, _ in items)
    if not negated:
        whole = f"[{body}0]" if covered and "0" not in covered else f"[{body}]"
        return whole, covered, all(only for _, _, only in items)
    if not covered or covered == DIGITS:
        return f"[^{body}]", DIGITS - covered, False
    kept = "".join(text for text, digits, _ in items if not digits)
    return (f"[^{kept}]" if kept else "(?s:.)"), DIGITS - covered, False
