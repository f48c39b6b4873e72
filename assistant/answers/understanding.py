"""What a question asks: one intent, or several where it has several parts, read with the question before it in mind."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from assistant.answers.entities import Entities, entities, known_nodes
from assistant.answers.intents import Intents, Match
from assistant.answers.spelling import Spelling
from assistant.case.models import Case
from assistant.tools.words import Glossary

MOST = 3
"""Parts of a question that are answered."""
WORDED = 0.75
"""Likeness from which a question is taken to be one for the meaning of a word: many questions only hold one."""
_WHY = re.compile(r"(?i)^\W*(?:so\s+|and\s+|but\s+|ok\s+)?(?:why|how come)\b")
_ASKS = (
    r"what|what's|whats|how|why|which|who|who's|where|when|is|are|was|were|can|could|should|shall|do|does|did|will|"
    r"show|give|tell|list|find|explain|compare"
)
_PARTS = re.compile(
    rf"(?i)[?!;\n]+\s*|\.\s+|,?\s+(?:and|then|also|plus)\s+(?:then\s+|also\s+)?(?=(?:{_ASKS})\b)|,\s+(?=(?:{_ASKS})\b)"
)
_GOES_ON = re.compile(r"(?i)^\W*(?:and|what about|how about|same for|same question for|or|also|now)\b")
_POINTS_BACK = re.compile(
    r"(?i)\b(?:that|this|the same)\s+(?:rank|node|host|machine|gpu|one|process|worker|server)\b|\bthere\b"
)
_CARRIED = {
    "place": ("ranks", "nodes", "strangers"),
    "why_not": ("ranks", "nodes", "causes", "strangers"),
    "why": ("ranks", "nodes"),
    "compare": ("ranks", "nodes"),
    "find": ("quotes", "codes", "causes"),
    "meaning": ("codes", "quotes"),
    "word": ("words",),
    "show": ("evidence", "files"),
}
"""Intents that go on to what is named next, and what that may be."""


@dataclass(frozen=True, slots=True)
class Understood:
    """One part of a question; without an intent it is beyond what is understood."""

    text: str
    named: Entities
    match: Match | None
    guessed: bool = False
    """Only its `why` is understood: it is taken as a question for the cause."""
    foreign: bool = False
    """It is in a language that is not understood."""


class Reader:
    """Reads questions about one case."""

    def __init__(self, case: Case, glossary: Glossary, intents: Intents) -> None:
        self._case = case
        self._glossary = glossary
        self._intents = intents
        names = [name for word in glossary.words for name in (word.term, *word.aliases)]
        known = [*intents.vocabulary, *known_nodes(case), *names]
        self._spelling = Spelling(part for name in known for part in re.findall(r"[a-z']+", name.lower()))

    def read(self, text: str, before: str = "") -> list[Understood]:
        """The parts of a question, in order; `before` is the question that was asked last."""
        whole = self._one(text)
        if whole.match is None and self._intents.is_foreign(text):
            return [replace(whole, foreign=True)]
        parts = self._parts(text, whole)
        if before and len(parts) == 1:
            return [self._going_on(parts[0], self._one(before))]
        return parts

    def _one(self, text: str) -> Understood:
        named = entities(self._spelling.mended(text), self._case, self._glossary, self._intents.file.causes)
        match = self._match(named)
        if match is None and _WHY.search(text):
            return Understood(text, named, Match("what_failed", 0.0), guessed=True)
        return Understood(text, named, match)

    def _match(self, named: Entities) -> Match | None:
        """The best of its readings: words as they stand, as causes, as words to be explained."""
        readings = [self._intents.match(named.bare), self._intents.match(named.plain)]
        worded = self._intents.match(_with_word(named)) if named.words else None
        readings += [worded] if worded is not None and worded.intent == "word" and worded.likeness >= WORDED else []
        return max((one for one in readings if one is not None), key=lambda one: one.likeness, default=None)

    def _parts(self, text: str, whole: Understood) -> list[Understood]:
        pieces = [piece for piece in _PARTS.split(text) if piece and re.search(r"\w", piece)]
        if len(pieces) < 2:
            return [whole]
        read = [part for part in map(self._one, pieces) if part.match is not None]
        distinct = {part.match.intent: part for part in reversed(read) if part.match is not None}
        parts = [part for part in read if part.match and distinct[part.match.intent] is part][:MOST]
        best = max((part.match.likeness for part in parts if part.match), default=0.0)
        if not parts or (len(parts) == 1 and whole.match is not None and whole.match.likeness >= best):
            return [whole]
        return parts

    def _going_on(self, now: Understood, before: Understood) -> Understood:
        """`and rank 3?` asks of rank 3 what was asked before; `that node` is the one that was named before."""
        if _POINTS_BACK.search(now.text) and not (now.named.ranks or now.named.nodes):
            named = replace(now.named, ranks=before.named.ranks, nodes=before.named.nodes)
            return replace(now, named=named)
        earlier = before.match
        if earlier is None or not _GOES_ON.search(now.text) or len(now.text.split()) > 6:
            return now
        if any(getattr(now.named, kind) for kind in _CARRIED.get(earlier.intent, ())):
            return replace(now, match=earlier)
        return now


def _with_word(named: Entities) -> str:
    text = named.bare.lower()
    for term in named.words[-1:]:
        text = re.sub(rf"(?<![\w<]){re.escape(term.lower())}s?(?![\w>])", "<word>", text)
    return text
