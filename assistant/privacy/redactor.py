"""Masks text before it leaves the machine, and puts the real names back into what returns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from assistant.privacy.pseudonyms import Pseudonyms
from assistant.privacy.rules import CompiledRule, Kind

EVERYTHING = frozenset(Kind)
SHORTEST_HOST = 2
"""A node whose name is one letter is not looked for: it would mask that letter everywhere."""
SHORTEST_REPEAT = 8
"""A secret of fewer letters is masked only where a rule finds it, since it may be an ordinary word elsewhere."""

_Span = tuple[int, int, Kind]


@dataclass(slots=True)
class Redactor:
    """Rules, the kinds that are masked, and the names given so far."""

    rules: tuple[CompiledRule, ...]
    kinds: frozenset[Kind] = EVERYTHING
    hosts: tuple[str, ...] = ()
    """Node names of the case: masked wherever they stand as a word."""
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    _hosts: re.Pattern[str] | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        self._hosts = _any_of(self.hosts)

    def redact(self, text: str) -> str:
        """`text` with every hidden text replaced by its pseudonym."""
        shielded = self.pseudonyms.protect(text)
        pieces: list[str] = []
        at = 0
        spans = _apart(self._spans(shielded))
        for start, end, kind in _apart([*spans, *self._repeated(shielded, spans)]):
            hidden = self.pseudonyms.restore(shielded[start:end])
            pieces += shielded[at:start], self.pseudonyms.name(kind, hidden)
            at = end
        return "".join([*pieces, shielded[at:]])

    def restore(self, text: str) -> str:
        """The opposite, for what a person sees."""
        return self.pseudonyms.restore(text)

    def _spans(self, text: str) -> Iterator[_Span]:
        lowered = text.lower()
        for rule in self.rules:
            if rule.rule.kind in self.kinds:
                for start, end in rule.spans(text, lowered):
                    yield start, end, rule.rule.kind
        if self._hosts is not None and Kind.HOST in self.kinds:
            for found in self._hosts.finditer(text):
                yield *found.span(), Kind.HOST

    def _repeated(self, text: str, spans: Iterable[_Span]) -> Iterator[_Span]:
        """Where a secret stands again, without the words by which a rule knows it."""
        found = {text[start:end] for start, end, kind in spans if kind is Kind.SECRET}
        earlier = {self.pseudonyms.protect(secret) for secret in sorted(self.pseudonyms.texts(Kind.SECRET))}
        for secret in found | earlier:
            if len(secret) >= SHORTEST_REPEAT:
                for again in re.finditer(re.escape(secret), text):
                    yield *again.span(), Kind.SECRET


def _any_of(hosts: Collection[str]) -> re.Pattern[str] | None:
    names = sorted({host for host in hosts if len(host) >= SHORTEST_HOST}, key=lambda name: (-len(name), name))
    if not names:
        return None
    return re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(map(re.escape, names)) + r")(?![A-Za-z0-9])", re.IGNORECASE)


def _apart(spans: Iterable[_Span]) -> list[_Span]:
    """The spans without overlaps; where two share text they become one, a secret before any other kind."""
    merged: list[_Span] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if merged and start < merged[-1][1]:
            before = merged[-1]
            merged[-1] = (before[0], max(end, before[1]), _stronger(before[2], kind))
        else:
            merged.append((start, end, kind))
    return merged


def _stronger(one: Kind, other: Kind) -> Kind:
    return one if list(Kind).index(one) <= list(Kind).index(other) else other
