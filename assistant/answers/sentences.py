"""Cuts a growing answer into the pieces that are checked and shown one by one: sentences, list items, headings, blocks.

A piece keeps the white space behind it, so that the pieces joined are the answer. Fenced code and tables stay whole. A
sentence ends at `.`, `!` or `?` (or their East Asian forms) before white space, unless the point belongs to an
abbreviation, a number or a file name; a citation right behind the point belongs to the sentence before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})", re.MULTILINE)
_END = re.compile(
    r"[.!?:][\"')\]*_`]*(?:[ \t]*\[[A-Za-z][^\[\]\n]{0,200}\])*[.]?(?=\s)\s*"
    r"|[\u3002\uff01\uff1f](?:[ \t]*\[[A-Za-z][^\[\]\n]{0,200}\])*\s*"
)
_SHORT = re.compile(
    r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|no|nr|fig|z\.B|d\.h|bzw|ca|St|Dr|Mr|Ms|[A-Za-z]|\d+)\.$"
)
_LINE = re.compile(r"\n(?=[ \t]*(?:[-*+] |\d{1,3}[.)] |#{1,6} |>|\||$|\n))|\n{2,}")
_PERHAPS_CITATION = re.compile(r"\[(?:[A-Za-z][^\[\]\n]*\]?[.]?)?")
_AFTER_TABLE = re.compile(r"\n(?=[ \t]*[^\s|])|\n[ \t]*\n")
LONGEST_CODE = 400
"""Characters between code marks; a mark that is not closed within them is none."""
LONGEST = 4_000
"""Characters after which a piece ends even without an end of sentence."""


@dataclass(slots=True)
class Pieces:
    """Collects text and gives back whole pieces as soon as they are certain to be whole."""

    _held: str = field(default="")

    def feed(self, text: str) -> list[str]:
        """Adds text; the pieces that are now complete."""
        self._held += text
        pieces: list[str] = []
        while (end := _piece_end(self._held)) is not None:
            pieces.append(self._held[:end])
            self._held = self._held[end:]
        return pieces

    @property
    def held(self) -> str:
        """What is not known to be whole yet."""
        return self._held

    def rest(self) -> list[str]:
        """What is left at the end of the answer, cut as far as it can be."""
        pieces = self.feed("\n")
        left = self._held
        self._held = ""
        if left.strip():
            pieces.append(left)
        return _without_added_end(pieces)


def split(text: str) -> list[str]:
    """The pieces of a finished text; joined they are the text."""
    pieces = Pieces()
    return [*pieces.feed(text), *pieces.rest()]


def _without_added_end(pieces: list[str]) -> list[str]:
    if pieces and pieces[-1].endswith("\n"):
        pieces[-1] = pieces[-1][:-1]
    return [piece for piece in pieces if piece]


def _piece_end(text: str) -> int | None:
    """Where the first whole piece ends; None while that is not certain."""
    body = len(text) - len(text.lstrip())
    if body == len(text):
        return None
    fence = _FENCE.match(text, text.rfind("\n", 0, body) + 1)
    if fence is not None:
        return _fence_end(text, fence)
    if text[body] == "#":
        return text.find("\n", body) + 1 or None
    if text[body] == "|":
        return _table_end(text, body)
    ends = [end for end in (_line_end(text, body), _sentence_end(text, body)) if end is not None]
    if not ends and len(text) > LONGEST:
        return LONGEST
    return min(ends, default=None)


def _fence_end(text: str, fence: re.Match[str]) -> int | None:
    closing = re.compile(rf"^[ \t]{{0,3}}{re.escape(fence[1])}[`~]*[ \t]*\n", re.MULTILINE)
    found = closing.search(text, fence.end())
    return found.end() if found else None


def _line_end(text: str, start: int) -> int | None:
    found = _LINE.search(text, start)
    return found.end() if found is not None and found.end() < len(text) else None


def _table_end(text: str, start: int) -> int | None:
    found = _AFTER_TABLE.search(text, start)
    return found.end() if found is not None else None


def _sentence_end(text: str, start: int) -> int | None:
    for found in _END.finditer(text, start):
        if found[0][0] == ":" and "\n" not in found[0]:
            continue
        if _SHORT.search(text[max(start, found.start() - 12) : found.start() + 1]):
            continue
        inside = _in_code(text, start, found.start())
        if inside is None:
            return None
        if inside:
            continue
        return found.end() if _certain(text, found.end()) else None
    return None


def _in_code(text: str, start: int, at: int) -> bool | None:
    """Whether a place stands between code marks, None where nobody can tell yet; a mark without its fellow is none."""
    if text.count("`", start, at) % 2 == 0:
        return False
    rest = text[at : at + LONGEST_CODE].partition("\n")
    if "`" in rest[0]:
        return True
    return None if not rest[1] and len(rest[0]) < LONGEST_CODE else False


def _certain(text: str, end: int) -> bool:
    """Whether what follows is known to be no further white space and no citation that still belongs here."""
    if end >= len(text) or text[end].isspace():
        return False
    return _PERHAPS_CITATION.fullmatch(text, end, end + 210) is None
