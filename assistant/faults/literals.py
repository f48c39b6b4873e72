"""Reads from a regex which fixed texts its matches must hold, to see that they pass a simpler pattern anyway.

A thousand signatures in the gate would make Rust's engine crawl, and most of them need a word such as `failed`. The
reading is careful rather than clever: where it cannot tell, the answer is no, and the caller keeps the regex.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

BORDER = "\x00"
"""Stands in a text for a place that cannot lie within a word."""

Texts = frozenset[str]
"""Alternatives for one piece of fixed text."""

_MOST = 64
"""Alternatives kept for one run; beyond it the run is ended."""

_OPEN = re.compile(r"\((?:\?P?<\w+>|\?(?P<flags>[imsU-]*)(?P<scope>[:)]))?")
_QUANTIFIER = re.compile(r"(?:(?P<sign>[*+?])|\{(?P<low>\d+)(?:,\d*)?\})\??")
_SMALL_CLASS = re.compile(r"\[((?:[^\\\]^0-9-]|\\[.\[\]()/-]){1,3})\]")
_ANY_CLASS = re.compile(r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\\\]])*\]", re.DOTALL)


Known = Callable[[str, bool], bool]
"""Whether lines with a text pass anyway; the second value: in any case of letters."""


def needs_known(regex: str, known: Known) -> bool:
    """Whether each match of `regex` holds a text that is known; False also where that cannot be seen."""
    folded = any("i" in found["flags"].split("-")[0] for found in _OPEN.finditer(regex) if found["flags"])
    reader = _Reader(regex, lambda text: known(text, folded))
    return reader.branches() and reader.at == len(regex)


class _Sequence:
    """One branch: its current run of fixed text, and whether it needs a known text."""

    def __init__(self, known: Callable[[str], bool]) -> None:
        self.runs: Texts = frozenset({""})
        self.whole = True
        """The branch is nothing but its run."""
        self._known = known
        self._met = False

    @property
    def met(self) -> bool:
        """Each match of the branch holds a known text."""
        return self._met or self._passing()

    def extend(self, choices: Texts) -> None:
        """Continue the run by one of the choices."""
        grown = frozenset(run + choice for run in self.runs for choice in choices)
        if len(grown) > _MOST:
            self.end()
            grown = choices
        self.runs = grown

    def end(self, *, met: bool = False) -> None:
        """End the run: what follows need not adjoin it. `met`: what stood between holds a known text."""
        self._met = self._met or met or self._passing()
        self.runs = frozenset({""})
        self.whole = False

    def _passing(self) -> bool:
        return all(self._known(text) for text in self.runs)


class _Reader:
    """Reads a regex from left to right."""

    def __init__(self, regex: str, known: Callable[[str], bool]) -> None:
        self.regex = regex
        self.known = known
        self.at = 0

    def branches(self) -> bool:
        """Whether each alternative needs a known text."""
        return all([branch.met for branch in self._sequences()])

    def _sequences(self) -> Iterator[_Sequence]:
        while True:
            sequence = _Sequence(self.known)
            while self.at < len(self.regex) and self.regex[self.at] not in "|)":
                self._item(sequence)
            yield sequence
            if not self.regex.startswith("|", self.at):
                return
            self.at += 1

    def _item(self, sequence: _Sequence) -> None:
        if self.regex[self.at] == "(":
            self._group(sequence)
            return
        choices = self._atom()
        self._repeat(sequence, choices)

    def _group(self, sequence: _Sequence) -> None:
        opening = _OPEN.match(self.regex, self.at)
        self.at = opening.end() if opening else self.at + 1
        if opening and opening["scope"] == ")":
            return
        inner = list(self._sequences())
        self.at += 1
        if all(one.whole for one in inner):
            self._repeat(sequence, frozenset(text for one in inner for text in one.runs))
        else:
            sequence.end(met=self._quantifier()[1] > 0 and all(one.met for one in inner))

    def _repeat(self, sequence: _Sequence, choices: Texts | None) -> None:
        sign, _ = self._quantifier()
        if choices is None or len(choices) > _MOST or sign in ("*", "{"):
            sequence.end()
        elif sign == "+":
            sequence.extend(choices)
            sequence.end()
        else:
            sequence.extend(choices | {""} if sign == "?" else choices)

    def _quantifier(self) -> tuple[str, int]:
        """`*`, `+`, `?`, `{` or nothing, and how often at least."""
        found = _QUANTIFIER.match(self.regex, self.at)
        if found is None:
            return "", 1
        self.at = found.end()
        if found["low"] is not None:
            return "{", int(found["low"])
        return found["sign"], int(found["sign"] == "+")

    def _atom(self) -> Texts | None:
        char = self.regex[self.at]
        if char == "[":
            return self._class()
        size = 2 if char == "\\" else 1
        token = self.regex[self.at : self.at + size]
        self.at += size
        return _texts_of(token)

    def _class(self) -> Texts | None:
        small = _SMALL_CLASS.match(self.regex, self.at)
        found = small or _ANY_CLASS.match(self.regex, self.at)
        self.at = found.end() if found else len(self.regex)
        return frozenset(small[1].replace("\\", "")) if small else None


def _texts_of(token: str) -> Texts | None:
    if token in ("^", "$", "\\b", "\\A", "\\z"):
        return frozenset({BORDER})
    if token == "." or token.isdigit() or (len(token) == 2 and token[1].isalnum()):
        return None
    return frozenset({token[-1]})
