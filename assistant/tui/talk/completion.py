"""What `@` and `/` can be completed to. Knows no screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.case.models import Case, Evidence
from assistant.case.text import excerpt, ranges
from assistant.pipeline import Examination
from assistant.tui.commands import COMMANDS
from assistant.tui.safe import plain

MOST = 12
"""Rows that are offered at once."""
_WORD = re.compile(r"(?:^|(?<=\s))@(\S*)$")
_COMMAND = re.compile(r"^/(\S*)$")


@dataclass(frozen=True, slots=True)
class Offer:
    """One completion."""

    word: str
    """What is put in."""
    note: str


def names_of(case: Case, seen: Examination | None, marked: Sequence[Evidence] = ()) -> list[Offer]:
    """Nodes, ranks, evidence and files of a case."""
    found = [Offer(node.node, f"node, {node.state.value}, ranks {ranges(node.ranks)}") for node in case.nodes]
    ranks = sorted({rank for node in case.nodes for rank in node.ranks})
    found += [Offer(f"rank {rank}", "rank") for rank in ranks]
    found += [
        Offer(item.id, f"{item.source}:{item.line} {excerpt(item.text, 60)}") for item in (*marked, *case.evidence)
    ]
    files = [source.name for source in seen.reading.discovery.sources] if seen else []
    files = files or [item.source for item in case.evidence]
    return [*found, *(Offer(name, "file") for name in dict.fromkeys(files))]


def offers(before: str, names: Iterable[Offer]) -> tuple[int, list[Offer]]:
    """What the text before the cursor can be completed to, and how many of its characters that replaces."""
    if command := _COMMAND.search(before):
        typed = command[1].lower()
        fitting = [Offer(f"/{one.name} ", one.help) for one in COMMANDS if one.name.startswith(typed)]
        return len(command[0]), fitting[:MOST]
    if word := _WORD.search(before):
        return len(word[0]), _fitting(word[1].lower(), names)
    return 0, []


def _fitting(typed: str, names: Iterable[Offer]) -> list[Offer]:
    """Those that begin with it first, then those that hold it."""
    chosen = [
        (not _squeezed(name).startswith(typed), number, name)
        for number, name in enumerate(names)
        if typed in _squeezed(name)
    ]
    return [name for _, _, name in sorted(chosen, key=lambda item: item[:2])][:MOST]


def _squeezed(name: Offer) -> str:
    return name.word.lower().replace(" ", "")


def shown(found: Sequence[Offer]) -> list[str]:
    """The rows of the list of offers, their notes below each other where the words are short."""
    words = [plain(offer.word.rstrip(), 60) for offer in found]
    room = min(24, max(map(len, words), default=0))
    return [f"{word:<{room}}  {plain(offer.note, 100)}" for word, offer in zip(words, found, strict=True)]
