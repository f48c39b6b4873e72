"""What a question asks: one intent, or several where it has several parts, read with the question before it in mind."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from assistant.answers.entities import Entities, entities, known_nodes
from assistant.answers.intents import Intents, Match
from assistant.answers.judging import Grip, grip
from assistant.answers.language import plain_text
from assistant.answers.meaning import SecondOpinion
from assistant.answers.spelling import Spelling
from assistant.case.models import Case
from assistant.tools.words import Glossary

MOST = 3
"""Parts of a question that are answered."""
WORDED = 0.75
"""Likeness from which a question is taken to be one for the meaning of a word: many questions only hold one."""
FIELD = 0.5
"""How much a word of the field tells that a question is about the job; a name tells 1."""
DOUBT = 0.15
"""How much better a mended reading must be than the one that stands there: many words only look like slips."""
LONGEST = 2000
"""Letters of a question that are read."""
PIECES = 12
"""Pieces of a question that are read."""
_COURTESY = ("thanks", "help")
"""Not answered beside another part."""
_BARE = {
    "why": re.compile(r"(?i)^\W*(?:so\s+|and\s+|but\s+|ok\s+)?(?:why|how come|how so|says who)\W*$"),
    "sure": re.compile(r"(?i)^\W*(?:so\s+|and\s+|but\s+|ok\s+)?(?:really|seriously|for real|(?:you )?sure)\W*$"),
}
"""Questions of a word or two that only mean something after another."""
_JOINING = re.compile(r"(?i)^\W*(?:(?:and|so|but|ok|okay|well|then|also|now|hey|hi|hello|please)\b[\s,]*)+(?=\w)")
_OF_RANK = re.compile(r"(?i)\b(?:rank|gpu|process|worker)\b")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
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
    """One part of a question; without a match it is beyond what is understood."""

    text: str
    named: Entities
    match: Match | None
    grip: Grip = Grip.SURE
    others: tuple[str, ...] = ()
    """The next likeliest intents."""
    foreign: bool = False
    """It is in a language that is not understood."""


class Reader:
    """Reads questions about one case."""

    def __init__(self, case: Case, glossary: Glossary, intents: Intents, second: SecondOpinion | None = None) -> None:
        self._case = case
        self._glossary = glossary
        self._intents = intents
        self._second = second
        names = [name for word in glossary.words for name in (word.term, *word.aliases)]
        known = [*intents.vocabulary, *known_nodes(case), *names]
        self._spelling = Spelling(part for name in known for part in re.findall(r"[a-z']+", name.lower()))

    def read(self, text: str, before: str = "") -> list[Understood]:
        """The parts of a question, in order; `before` is the question that was asked last."""
        text = _readable(text)
        whole = self._one(text)
        if self._intents.is_foreign_script(text) or (whole.grip is not Grip.SURE and self._intents.is_foreign(text)):
            return [replace(whole, match=None, foreign=True)]
        parts = self._parts(text, whole)
        if before and len(parts) == 1:
            return [self._going_on(parts[0], before)]
        return parts

    def _one(self, text: str) -> Understood:
        """The best reading: as it stands, else with slips of the hand mended, else by what it means."""
        best = self._read_as(text)
        mended = self._spelling.mended(text)
        if best.grip is not Grip.SURE and mended != text:
            other = self._read_as(mended)
            (rank, likeness), (other_rank, other_likeness) = _held(best), _held(other)
            best = other if (other_rank, other_likeness) > (rank, likeness + DOUBT) else best
        if best.grip is not Grip.SURE and (rest := _JOINING.sub("", text)) and rest != text:
            best = max(best, self._read_as(rest), key=_held)
        if best.grip is not Grip.SURE and self._second is not None:
            best = self._asked_again(best)
        return replace(best, text=text)

    def _read_as(self, text: str) -> Understood:
        """The best of its readings: words as they stand, as causes, as a word to be explained."""
        named = entities(text, self._case, self._glossary, self._intents.file.causes)
        best = max((self._reading(plain, named) for plain in dict.fromkeys((named.bare, named.plain))), key=_held)
        if best.grip is Grip.SURE or not named.words:
            return best
        worded = self._reading(_with_word(named), named)
        is_word = worded.match is not None and worded.match.intent == "word" and worded.match.likeness >= WORDED
        return max(best, worded, key=_held) if is_word else best

    def _reading(self, plain: str, named: Entities) -> Understood:
        return self._judged(plain, named, self._intents.ranked(plain))

    def _judged(self, plain: str, named: Entities, ranked: tuple[Match, ...]) -> Understood:
        words = self._intents.words.of(plain)
        strange = self._intents.likeness.strange(words)
        familiar = 1.0 if "<" in plain or named.words else FIELD * (not self._intents.field.isdisjoint(words))
        held = grip(ranked, len(words), strange, familiar)
        inside = [match for match in ranked if match.intent]
        match = inside[0] if inside and held is not Grip.BEYOND else None
        return Understood(plain, named, match, held, tuple(one.intent for one in inside[1:3]))

    def _asked_again(self, best: Understood) -> Understood:
        """The same with what it means taken into account, where a model can tell."""
        plain = best.text
        scored = self._second.scores(self._intents.words.of(plain), plain) if self._second is not None else None
        if scored is None:
            return best
        pairs = zip(scored[0], map(float, scored[1]), strict=True)
        return self._judged(
            plain, best.named, tuple(Match(*one) for one in sorted(pairs, key=lambda one: (-one[1], one[0])))
        )

    def _parts(self, text: str, whole: Understood) -> list[Understood]:
        pieces = [piece for piece in _PARTS.split(text) if piece and re.search(r"\w", piece)][:PIECES]
        if len(pieces) < 2:
            return [whole]
        read = [part for part in map(self._piece, pieces) if part.match is not None]
        sure = [part for part in read if part.grip is Grip.SURE] or read
        telling = [part for part in sure if _intent(part) not in _COURTESY] or sure
        distinct = {_intent(part): part for part in reversed(telling)}
        parts = [part for part in telling if distinct[_intent(part)] is part][:MOST]
        if not parts or (len(parts) == 1 and _held(whole) >= _held(parts[0])):
            return [whole]
        return parts

    def _piece(self, text: str) -> Understood:
        """One of several parts; a mere `why` asks for the reasons of the part before it."""
        part = self._one(text)
        bare = _BARE["why"].match(text)
        return replace(part, match=Match("why", 1.0), grip=Grip.SURE) if bare else part

    def _going_on(self, now: Understood, text: str) -> Understood:
        """`and rank 3?` asks of rank 3 what was asked before; `that node` is the one that was named before."""
        before = self._one(text)
        for intent, bare in _BARE.items():
            if bare.match(now.text):
                named = replace(now.named, ranks=before.named.ranks)
                return replace(now, named=named, match=Match(intent, 1.0), grip=Grip.SURE)
        if _POINTS_BACK.search(now.text) and not (now.named.ranks or now.named.nodes):
            return self._pointed(now, before.named)
        earlier = before.match
        if earlier is None or not _GOES_ON.search(now.text) or len(now.text.split()) > 6:
            return now
        if any(getattr(now.named, kind) for kind in _CARRIED.get(earlier.intent, ())):
            return replace(now, match=earlier, grip=Grip.SURE)
        return now

    def _pointed(self, now: Understood, named: Entities) -> Understood:
        """The question with the place put in that it points back to."""
        places = [f"rank {rank}" for rank in named.ranks[:1]] or [*named.nodes[:1], *self._blamed(now.text)[:1]]
        if not places:
            return now
        there = self._one(_POINTS_BACK.sub(places[0], now.text))
        return replace(there, text=now.text)

    def _blamed(self, text: str) -> list[str]:
        """The blamed place of the kind that a text points back to, where it is only one."""
        suspects = self._case.suspects
        ranks = [f"rank {one.rank}" for one in suspects if one.rank is not None]
        nodes = list(dict.fromkeys(one.node for one in suspects if one.node))
        found = ranks if _OF_RANK.search(text) else nodes
        return found if len(found) == 1 else []

    def named(self, text: str) -> Entities:
        """What a question names, in all its parts."""
        return entities(_readable(text), self._case, self._glossary, self._intents.file.causes)


_RANK = {Grip.BEYOND: 0, Grip.GUESSED: 1, Grip.SURE: 2}


def _readable(text: str) -> str:
    """A question without escapes and look-alike letters, of a length that can be read at once."""
    return plain_text(_ESCAPES.sub(" ", text[:LONGEST]))


def _intent(part: Understood) -> str:
    return part.match.intent if part.match is not None else ""


def _held(one: Understood) -> tuple[int, float]:
    """How well a reading is held."""
    return _RANK[one.grip], one.match.likeness if one.match is not None else 0.0


def _with_word(named: Entities) -> str:
    text = named.bare.lower()
    for term in named.words[-1:]:
        text = re.sub(rf"(?<![\w<]){re.escape(term.lower())}s?(?![\w>])", "<word>", text)
    return text
