"""Names that stand for hidden texts, the same one for the same text, and the way back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assistant.privacy.rules import Kind

LOOK = re.compile(r"\b(?:SECRET|EMAIL|USER|IP|HOST|LITERAL)_[0-9]{1,7}\b")
"""How a pseudonym looks: a word that a model copies without altering it."""
_LITERAL = "LITERAL"


@dataclass(slots=True)
class Pseudonyms:
    """The names given so far. Grows while a conversation lasts; never written where text may leave the machine."""

    by_text: dict[tuple[str, str], str] = field(default_factory=dict)
    by_name: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def name(self, kind: Kind, text: str) -> str:
        """The pseudonym of `text`: `HOST_3`; two spellings of a host name that differ in case share one."""
        key = text.lower() if kind is Kind.HOST else text
        return self._name(kind.value.upper(), key, text)

    def protect(self, text: str) -> str:
        """`text` with everything that only looks like a pseudonym replaced, so that `restore` gives it back."""
        return LOOK.sub(lambda found: self._name(_LITERAL, found[0], found[0]), text)

    def restore(self, text: str) -> str:
        """`text` with the pseudonyms given out here replaced by what they stand for; others are left alone."""
        return LOOK.sub(lambda found: self.by_name.get(found[0], found[0]), text)

    def texts(self, kind: Kind) -> set[str]:
        """All texts of that kind that have a pseudonym."""
        return {text for (known, text) in self.by_text if known == kind.value.upper()}

    def _name(self, kind: str, key: str, text: str) -> str:
        known = self.by_text.get((kind, key))
        if known is not None:
            return known
        number = self.counts.get(kind, 0) + 1
        name = f"{kind}_{number}"
        self.counts[kind] = number
        self.by_text[kind, key] = name
        self.by_name[name] = text
        return name
