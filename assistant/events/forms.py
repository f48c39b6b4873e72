"""What is true of a whole form, found once when the form is first seen.

Two steps keep this cheap on logs whose every line holds another address or id: gate, times and marks are judged for
each form; clues and masks only for each *kind*, a form with its ids masked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.collapse import relaxed
from assistant.events.folding import Digests, digests_of
from assistant.events.kinds import CLUES, Kind
from assistant.events.masks import IDS, MASKS, replaced, tidied
from assistant.intake.dialects import Dialects, compiled
from assistant.intake.models import Dialect, MarkPattern
from assistant.intake.regexes import compile_set

Flags = NDArray[np.int64]

TIME_HEAD = 120
"""Characters in which a time is looked for."""
CHUNK = 128
"""Patterns in one alternation: Rust's engine falls back to a slow one where an automaton grows too large, and Polars
compiles anew what is not among the last 32 regexes that a thread used."""

FEW_LINES = 4_000
"""Below this a loop over RE2 is quicker than Polars, which may have to compile."""

_LEADING = (
    r"^(?:\[?0-0-0[T ]0:0:0(?:[.,]0)?(?:Z|[+-]0(?::0)?)?\]? "
    r"|[EFIW]0 0:0:0\.0 0 [\w./-]+:0\] "
    r"|\[rank0\]: ?)+"
)
"""What loggers, torch and `--timestamps` options put before each line of a traceback; what follows may be indented."""


@dataclass(frozen=True, slots=True)
class Described:
    """Facts of new forms, in parallel."""

    flags: Flags
    """Gate, time and marks only."""
    marks: dict[int, tuple[int, ...]]
    """For forms that may be marks: indices into `Describer.patterns`."""
    kind: Digests
    """The digest of each form's kind."""
    lasting: NDArray[np.bool_]
    """The form holds no id, so it will come again."""
    kinds: pl.Series
    """The text of each form's kind."""


@dataclass(frozen=True, slots=True)
class _Gate:
    sure: tuple[str, ...]
    """Patterns that are decided on forms."""
    relaxed: tuple[str, ...]
    lines: tuple[str, ...]
    """The patterns behind `relaxed`, for the lines themselves."""


class Describer:
    """Looks at forms with everything the dialects and the fault library know."""

    def __init__(self, dialects: Dialects, gate: Sequence[str]) -> None:
        self.patterns: tuple[tuple[Dialect, MarkPattern], ...] = tuple(
            (dialect, mark) for dialect in dialects.progress for mark in dialect.marks
        )
        self._gate = _split_gate(gate)
        self._times = _alternations([relaxed(each.pattern).pattern for each in dialects.times if each.pattern])
        marks = [relaxed(mark.pattern).pattern for _, mark in self.patterns]
        self._any_mark = _alternations(marks)
        self._marks = compile_set(marks)

    def describe(self, texts: pl.Series) -> Described:
        """The facts of some forms, given their collapsed messages."""
        flags = _flagged(Kind.BLANK, texts.str.strip_chars() == "")
        flags |= _flagged(Kind.GATE, contains(texts, self._gate.sure))
        flags |= _flagged(Kind.MAYBE, contains(texts, self._gate.relaxed))
        flags |= _flagged(Kind.TIMED, contains(texts.str.slice(0, TIME_HEAD), self._times))
        marks = self._marked(texts)
        flags[list(marks)] |= int(Kind.MARKED)
        kinds = replaced(texts, IDS)
        return Described(flags, marks, digests_of(kinds.cast(pl.Binary)), (kinds == texts).to_numpy(), kinds)

    def passing(self, lines: pl.Series) -> NDArray[np.bool_]:
        """Which lines of forms that are MAYBE pass the gate. RE2 keeps what it compiled, which pays for few lines."""
        if len(lines) > FEW_LINES:
            passed: NDArray[np.bool_] = contains(lines, self._gate.lines).to_numpy()
            return passed
        regexes = [compiled(pattern) for pattern in self._gate.lines]
        return np.asarray([any(regex.search(line) for regex in regexes) for line in lines.to_list()], dtype=np.bool_)

    def _marked(self, texts: pl.Series) -> dict[int, tuple[int, ...]]:
        hits = np.flatnonzero(contains(texts, self._any_mark).to_numpy())
        matched = (self._marks.Match(text) for text in texts[hits].to_list())
        return {index: tuple(sorted(numbers)) for index, numbers in zip(hits.tolist(), matched, strict=True) if numbers}


def describe_kinds(texts: pl.Series) -> tuple[Flags, list[str]]:
    """The clues and the masked form of each kind."""
    clues = _clues(texts.str.replace(_LEADING, ""))
    return clues, tidied(replaced(texts, MASKS[len(IDS) :])).to_list()


def contains(texts: pl.Series, patterns: Sequence[str]) -> pl.Series:
    """Whether any of the patterns matches."""
    found = pl.Series([False], dtype=pl.Boolean).new_from_index(0, len(texts))
    for pattern in patterns:
        found = found | texts.str.contains(pattern)
    return found


def _clues(texts: pl.Series) -> Flags:
    flags: Flags = np.zeros(len(texts), dtype=np.int64)
    some = np.flatnonzero(texts.str.contains(_ANY_CLUE).to_numpy())
    if len(some):
        hits = texts[some]
        for clue in CLUES:
            flags[some] |= hits.str.contains(clue.pattern).to_numpy().astype(np.int64) * int(clue.kind)
    return flags


_ANY_CLUE = "|".join(f"(?:{clue.pattern})" for clue in CLUES)


def _flagged(kind: Kind, hits: pl.Series) -> Flags:
    return hits.to_numpy().astype(np.int64) * int(kind)


def _alternations(patterns: Sequence[str]) -> tuple[str, ...]:
    distinct = list(dict.fromkeys(patterns))
    if "" in distinct:
        return ("",)
    chunks = [distinct[begin : begin + CHUNK] for begin in range(0, len(distinct), CHUNK)]
    return tuple("|".join(f"(?:{pattern})" for pattern in chunk) for chunk in chunks)


def _split_gate(gate: Sequence[str]) -> _Gate:
    both = [(pattern, relaxed(pattern)) for pattern in gate]
    return _Gate(
        _alternations([relax.pattern for _, relax in both if relax.sure]),
        _alternations([relax.pattern for _, relax in both if not relax.sure]),
        _alternations([pattern for pattern, relax in both if not relax.sure]),
    )
