"""Addresses in a sentence: links, pictures, elements and bare addresses, and how they are kept from being followed.

An address could carry away what was read, or lead a tired person astray. Those of our own knowledge's pages may be
shown; anything else is marked, and written so that neither a page nor a terminal makes a link of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from assistant.answers.language import plain_text
from assistant.tools.models import ToolResult

SOURCED = frozenset({"search_knowledge", "similar_incidents", "explain_code", "explain_word"})
"""Tools that show pages of the knowledge with their addresses."""
_BARE = re.compile(
    r"(?i)(?<![a-z0-9])(?:https?|ftps?|wss?)\s?:\s?//[^\s<>\"'`\])]+|(?<![\w./-])www\.[\w-]+\.[^\s<>\"'`\])]+"
)
_SCHEME = re.compile(r"(?i)(?<![\w.])(?:javascript|vbscript|data|file|mailto|tel|blob):(?=[^\s])")
_TARGET = re.compile(r"\]\(\s*<?([^)\s]*)")
_CODE = re.compile(r"`[^`\n]{1,400}`")
_REFERENCE = re.compile(r"\]:\s*<?((?:[a-z][a-z0-9+.-]*:|//|/|\.{1,2}/|#|www\.)\S*)", re.IGNORECASE)
_REFERRED = re.compile(r"\](\[(?![EST]\d{1,6}[\],;])[^\[\]\n]{0,200}\])(?!:)")
_ELEMENT = re.compile(
    r"(?i)</?(?:a|abbr|area|audio|base|body|button|details|div|embed|form|frame|head|html|iframe|image|img|input|link|"
    r"marquee|math|meta|object|p|picture|script|source|span|style|svg|table|template|textarea|title|track|video)\b[^>]{0,300}>?"
)
_FETCHED = re.compile(
    r"(!)(\[)|(\])(\()|(\])(:)(?=\s*<?(?:[a-z][a-z0-9+.-]*:|//|/|\.{1,2}/|#|www\.))|(\])(\[)(?![EST]\d{1,6}[\],;])",
    re.IGNORECASE,
)
"""What a page would take for a picture or a link."""


def strange_addresses(sentence: str, seen: str, results: Mapping[str, ToolResult]) -> tuple[str, ...]:
    """The links, elements and addresses of a sentence that stand neither in what it cites nor in our knowledge.

    Args:
        seen: the text of what the sentence cites, in lower case: a quoted line may hold an address.
    """
    sentence, known = plain_text(sentence), known_addresses(results)
    found = [*_always(sentence), *(one for one in _plain(sentence) if one not in known and one.lower() not in seen)]
    return tuple(dict.fromkeys(found))


def known_addresses(results: Mapping[str, ToolResult]) -> frozenset[str]:
    """The addresses of pages that a search of the knowledge has shown: each in a row of its own."""
    rows = [row.strip() for one in tuple(results.values()) if one.tool in SOURCED for row in one.text.splitlines()]
    return frozenset(row for row in rows if _BARE.fullmatch(row))


def harmless(text: str, known: Iterable[str] = ()) -> str:
    """Text of which neither a page nor a terminal makes a link, but for the known addresses, which stay as they are."""
    kept = frozenset(known)
    text = _FETCHED.sub(lambda found: " ".join(filter(None, found.groups())), text)
    text = _ELEMENT.sub(lambda found: found[0].replace("<", "&lt;"), text)
    text = _BARE.sub(lambda found: found[0] if _trimmed(found[0]) in kept else _broken(found[0]), text)
    return _SCHEME.sub(lambda found: f"{found[0][:-1]} :", text)


def _broken(address: str) -> str:
    """An address that can be read and not be followed."""
    if address.lower().startswith("www."):
        return f"www[.]{address[4:]}"
    scheme, _, rest = address.partition(":")
    return f"{scheme.replace('tt', 'xx').replace('TT', 'XX').replace('ftp', 'fxp').replace('ws', 'wx')}:{rest}"


def _always(sentence: str) -> Iterator[str]:
    """What is a link whatever it points at: an answer cites by ids. In code it is none."""
    sentence = _CODE.sub(" ", sentence)
    yield from (f"[]({found[1]})" if found[1] else "[]()" for found in _TARGET.finditer(sentence))
    yield from (f"[]: {found[1]}" for found in _REFERENCE.finditer(sentence))
    yield from (found[1] for found in _REFERRED.finditer(sentence))
    yield from (found[0] for found in _ELEMENT.finditer(sentence))


def _plain(sentence: str) -> Iterator[str]:
    yield from (_trimmed(found[0]) for found in _BARE.finditer(sentence))
    yield from (found[0].rstrip(":") for found in _SCHEME.finditer(sentence))


def _trimmed(address: str) -> str:
    return address.rstrip(".,;:!?*_)")
