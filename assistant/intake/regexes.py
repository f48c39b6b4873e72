"""A typed front for google-re2, which carries no types of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, cast

import re2

from assistant.errors import KnowledgeError

RegexError: type[Exception] = re2.error

_MEMORY = 512 << 20
"""Ceiling of a set's automaton in bytes; only what the text needs is used. Too little would silently match nothing."""
CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
"""What RE2 means by these classes."""


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
        raise KnowledgeError("the expressions do not compile together", hint="Take out some entries.") from error
    return cast(RegexSet, compiled)


def _options() -> Any:  # noqa: ANN401 - the library has no types
    options = re2.Options()
    options.log_errors = False
    return options


def ascii_classes(regex: str) -> str:
    """The same expression with `\\d`, `\\w`, `\\s` spelled out.

    RE2 means ASCII by them, Rust's engine all of Unicode: more than is meant, and in repetitions tens of times slower.
    """
    return "".join(ascii_token(token, in_class) for _, token, in_class in tokens(regex))


def ascii_token(token: str, in_class: bool) -> str:
    """One token of an expression, its class spelled out; a negated class within brackets stays."""
    letter = token[1:]
    if letter in CLASSES and token[0] == "\\":
        return CLASSES[letter] if in_class else f"[{CLASSES[letter]}]"
    if not in_class and token[0] == "\\" and letter.lower() in CLASSES:
        return f"[^{CLASSES[letter.lower()]}]"
    return token


def tokens(regex: str) -> Iterator[tuple[int, str, bool]]:
    """Characters and escapes, each with its place and whether it stands in a class."""
    at, in_class = 0, False
    while at < len(regex):
        token = regex[at : at + (2 if regex[at] == "\\" else 1)]
        in_class = token != "]" if in_class else token == "["
        yield at, token, in_class
        at += len(token)
