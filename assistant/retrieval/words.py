"""Words as the lexical index sees them: codes whole, long names also by their parts, light stemming."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from assistant.retrieval.codes import CodeReader
from assistant.retrieval.ideas import ideas_of
from assistant.retrieval.stems import stem

VERSION = 3
"""Counts up with every change here: an index made otherwise is rebuilt."""
MOST = 4_000
"""Words of a text that are looked at."""

_NAME = re.compile(r"[^\W_]+(?:[_.'-]+[^\W_]+)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{2}|[0-9a-f]{5,})")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+|\d{1,4}(?:[:.-]\d{1,4}){2,}(?:[T.,]\d+)*Z?")


def terms(text: str, codes: CodeReader) -> list[str]:
    """The words of a text in their order, then its ideas, then its codes, each in the one form that is indexed."""
    plain = unicodedata.normalize("NFKC", text)
    skipped = codes.tuning.stopwords
    found = [stem(word) for word in _words(_ADDRESS.sub(" ", plain)) if word not in skipped][:MOST]
    ideas = ideas_of(codes.tuning.synonyms, skipped).terms(found)
    return [*found, *ideas, *map(code_term, codes.read(plain))]


def code_term(code: str) -> str:
    """How a canonical code is indexed among words."""
    return f"c_{re.sub(r'[^0-9a-z]+', '_', code.replace('-', 'minus'))}"


def _words(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        name = match[0]
        parts = _PART.findall(name)
        whole = re.sub(r"\W+", "_", name.lower())
        if len(parts) > 1 and _telling(whole):
            yield whole
        yield from (part.lower() for part in parts if _telling(part.lower()))


def _telling(word: str) -> bool:
    """Not a lone letter or digit, a long number, a part of an address."""
    if word.isdecimal():
        return 2 <= len(word) <= 6 and not word.startswith("0")
    return len(word) > 1 and not (_HEX.fullmatch(word) and any(letter.isdigit() for letter in word))
