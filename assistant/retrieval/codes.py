"""Exact codes: `Xid 79`, `EI0006`, `exit 137`, `NCCL_IB_TIMEOUT`, in one spelling wherever they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from assistant.intake.regexes import compile_regex
from assistant.retrieval.tuning import Tuning

LONGEST = 65_536
"""Characters of a text that are looked at."""
_WORDS = 5
"""Words of the longest code that is known by its words alone."""
_SPLIT = re.compile(r"[^0-9a-z+-]+")
_MINUS = re.compile(r"(?<![0-9a-z])-(?=\d)|(-+)")


@dataclass(slots=True)
class CodeReader:
    """Finds codes in text. Unchanging once built, so safe in threads."""

    tuning: Tuning
    _rules: list[tuple[re.Pattern[str], str]] = field(default_factory=list)
    _same: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # RE2 has checked that these run in linear time; Python's engine is used because it walks all matches.
        for rule in self.tuning.codes:
            compile_regex(rule.regex)
            self._rules.append((re.compile(rule.regex), rule.code))
        for row in self.tuning.aliases:
            self._same.update((canonical(name), canonical(row[0])) for name in row)

    def read(self, text: str, known: Mapping[str, str] | None = None) -> dict[str, str]:
        """The codes in a text: canonical form -> as it stands there, in order of rule and place.

        Args:
            known: listed codes, canonical form -> as it is listed, that are also found by their words alone.
        """
        found: dict[str, str] = {}
        for raw, shown in self._by_rules(text[:LONGEST]):
            found.setdefault(raw, shown)
        for raw in _by_words(text[:LONGEST], known) if known else ():
            found.setdefault(raw, known[raw] if known else raw)
        return found

    def one(self, code: str) -> str:
        """The canonical form of a text that is a code, such as an entry's front matter names it."""
        read = list(self.read(code))
        plain = canonical(code)
        # Of a longer name such as `CUDA error 719 cudaErrorLaunchFailure` no part may stand for the whole.
        return read[0] if len(read) == 1 and len(plain.split("_")) <= len(read[0].split("_")) + 1 else self._kept(plain)

    def _kept(self, raw: str) -> str:
        return self._same.get(raw, raw)

    def _by_rules(self, text: str) -> Iterator[tuple[str, str]]:
        for regex, code in self._rules:
            for match in regex.finditer(text):
                shown = code.format(**match.groupdict(""))
                yield self._kept(canonical(shown)), shown


def canonical(code: str) -> str:
    """Lower case, words joined by `_`; a minus stays only before a number."""
    lowered = _MINUS.sub(lambda match: " " if match[1] else "-", code.lower())
    return "_".join(part for part in _SPLIT.split(lowered) if part)


def is_telling(code: str) -> bool:
    """Whether a listed code looks like one: `Failed` and `out of memory` are words that anybody may write."""
    if any(letter.isdigit() or letter == "_" for letter in code):
        return True
    words = code.split()
    if len(words) > 1:
        return sum(word[0].isupper() for word in words) > 1
    return len(code) > 4 and any(letter.isupper() for letter in code[1:])


def _by_words(text: str, known: Mapping[str, str]) -> Iterator[str]:
    """Listed codes whose words stand in a text; in the very spelling, where only that tells them from words."""
    words = canonical(text).split("_")
    for start in range(len(words)):
        for end in range(start + 1, min(start + _WORDS, len(words)) + 1):
            joined = "_".join(words[start:end])
            if (listed := known.get(joined)) and (any(map(str.isdigit, listed)) or listed in text):
                yield joined
