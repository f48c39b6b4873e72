"""A typed front for google-re2, which carries no types of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

import re2

from assistant.errors import KnowledgeError

RegexError: type[Exception] = re2.error

_MEMORY = 512 << 20
"""Ceiling of a set's automaton in bytes; only what the text needs is used. Too little would silently match nothing."""


class Match(Protocol):
    """Where an expression matched."""

    def start(self) -> int:
        """Index of the first matched character."""

    def end(self) -> int:
        """Index after the last matched character."""

    def groupdict(self) -> dict[str, str | None]:
        """The named groups, None where one took no part."""


class Regex(Protocol):
    """A compiled expression; safe in threads."""

    @property
    def groupindex(self) -> dict[str, int]:
        """The names of its groups."""

    def search(self, text: str) -> Match | None:
        """The first match anywhere in the text."""


class RegexSet(Protocol):
    """Many expressions that are matched in one pass; safe in threads."""

    def Match(self, text: str) -> list[int] | None:
        """Indexes of those that match somewhere in the text, in no order."""


def compile_regex(regex: str) -> Regex:
    """A compiled expression. Raises RegexError, and writes nothing to standard error."""
    return cast(Regex, re2.compile(regex, _options()))


def compile_set(regexes: Sequence[str]) -> RegexSet:
    """All expressions in one automaton. Raises KnowledgeError where they are too many for its memory."""
    options = _options()
    options.max_mem = _MEMORY
    compiled = re2.Set.SearchSet(options)
    try:
        for regex in regexes:
            compiled.Add(regex)
        compiled.Compile()
    except re2.error as error:
        raise KnowledgeError("the fault library does not compile", hint="Take out some of its entries.") from error
    return cast(RegexSet, compiled)


def _options() -> Any:  # noqa: ANN401 - the library has no types
    options = re2.Options()
    options.log_errors = False
    return options
