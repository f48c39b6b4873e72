"""Everything that is true of a whole form, found once when the form is first seen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.kinds import CLUES, Kind
from assistant.events.masks import masked
from assistant.events.relax import relaxed
from assistant.intake.dialects import Dialects
from assistant.intake.models import Dialect, MarkPattern

Flags = NDArray[np.int64]

TIME_HEAD = 120
"""Characters in which a time is looked for."""

_LEADING_TIME = r"^\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]? "
"""What `--timestamps` options and loggers put before each line of a traceback alike; what follows may be indented."""


@dataclass(frozen=True, slots=True)
class Described:
    """Facts of new forms, in parallel."""

    flags: Flags
    masked: list[str]
    marks: dict[int, tuple[int, ...]]
    """For marked forms: indices into `Describer.patterns`."""


@dataclass(frozen=True, slots=True)
class _Gate:
    everywhere: str | None
    """Patterns to which all digits are alike: decided on forms."""
    relaxed: str | None
    lines: str | None
    """The patterns behind `relaxed`, for lines with their digits."""


class Describer:
    """Looks at forms with everything the dialects and the fault library know."""

    def __init__(self, dialects: Dialects, gate: Sequence[str]) -> None:
        self.patterns: tuple[tuple[Dialect, MarkPattern], ...] = tuple(
            (dialect, mark) for dialect in dialects.progress for mark in dialect.marks
        )
        self._gate = _split_gate(gate)
        self._times = _alternation([relaxed(each.pattern).pattern for each in dialects.times if each.pattern])
        self._any_mark = _alternation([mark.pattern for _, mark in self.patterns])
        self.line_gate = self._gate.lines

    def describe(self, texts: pl.Series) -> Described:
        """The facts of some forms, given their folded messages."""
        bare = texts.str.replace(_LEADING_TIME, "")
        flags = _clues(bare)
        flags |= _flagged(Kind.BLANK, texts.str.strip_chars() == "")
        flags |= _flagged(Kind.GATE, _contains(texts, self._gate.everywhere))
        flags |= _flagged(Kind.MAYBE, _contains(texts, self._gate.relaxed))
        flags |= _flagged(Kind.TIMED, _contains(texts.str.slice(0, TIME_HEAD), self._times))
        marks = self._marks(texts)
        flags[list(marks)] |= int(Kind.MARKED)
        return Described(flags, masked(texts).to_list(), marks)

    def _marks(self, texts: pl.Series) -> dict[int, tuple[int, ...]]:
        hits = np.flatnonzero(_contains(texts, self._any_mark).to_numpy())
        if not len(hits):
            return {}
        some = texts[hits]
        found: dict[int, list[int]] = {int(index): [] for index in hits}
        for number, (_, mark) in enumerate(self.patterns):
            for index in hits[some.str.contains(mark.pattern).to_numpy()].tolist():
                found[index].append(number)
        return {index: tuple(numbers) for index, numbers in found.items() if numbers}


def _clues(texts: pl.Series) -> Flags:
    columns = [pl.col("text").str.contains(clue.pattern).cast(pl.Int64) * int(clue.kind) for clue in CLUES]
    found = pl.DataFrame({"text": texts}).select(column.alias(str(i)) for i, column in enumerate(columns))
    flags: Flags = np.zeros(len(texts), dtype=np.int64)
    for column in found.iter_columns():
        flags |= column.to_numpy()
    return flags


def _flagged(kind: Kind, hits: pl.Series) -> Flags:
    return hits.to_numpy().astype(np.int64) * int(kind)


def _contains(texts: pl.Series, pattern: str | None) -> pl.Series:
    if pattern is None:
        return pl.Series([False], dtype=pl.Boolean).new_from_index(0, len(texts))
    return texts.str.contains(pattern)


def _alternation(patterns: Sequence[str]) -> str | None:
    distinct = list(dict.fromkeys(patterns))
    if not distinct:
        return None
    return "" if "" in distinct else "|".join(f"(?:{_NAMED.sub('(?:', pattern)})" for pattern in distinct)


_NAMED = re.compile(r"\(\?P?<[A-Za-z_][A-Za-z0-9_]*>")


def _split_gate(gate: Sequence[str]) -> _Gate:
    both = [(pattern, relaxed(pattern)) for pattern in gate]
    return _Gate(
        _alternation([pattern for pattern, relax in both if not relax.varies]),
        _alternation([relax.pattern for _, relax in both if relax.varies]),
        _alternation([pattern for pattern, relax in both if relax.varies]),
    )
