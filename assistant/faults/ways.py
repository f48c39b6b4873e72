"""Checks the ways of writing (`knowledge/dialects`) by their own examples and on hostile text."""

from __future__ import annotations

from collections.abc import Iterator

from assistant.faults.hostile import LIMIT, Pattern, slow_patterns
from assistant.faults.problems import Problem
from assistant.intake.dialects import Dialects, load_dialects, problems_of
from assistant.intake.models import Dialect

_MEND = "Correct the entry in knowledge/dialects, or take its file out of the folder."


def check_dialects(dialects: Dialects | None = None, limit: float = LIMIT) -> list[Problem]:
    """Everything wrong with the dialects, by default those in use, a user's own over ours."""
    dialects = dialects or load_dialects(strict=False)
    every = (*dialects.prefixes, *dialects.times, *dialects.envelopes, *dialects.progress)
    problems = [Problem("*", why, remedy=_MEND) for why in dialects.left_out]
    problems += [Problem(one.id, why, remedy=_MEND) for one in every for why in problems_of(one)]
    patterns = [pattern for one in every for pattern in _patterns(one)]
    message = f"takes more than {limit:g} s on hostile text"
    return problems + [Problem(one.name, message, one.regex, remedy=_MEND) for one in slow_patterns(patterns, limit)]


def _patterns(dialect: Dialect) -> Iterator[Pattern]:
    for regex in (dialect.pattern, *(mark.pattern for mark in dialect.marks)):
        if regex:
            yield Pattern(dialect.id, regex)
