"""What a tool found, before it is numbered, bounded and kept: lines for a reader and the log places they rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from assistant.case.models import Evidence
from assistant.case.text import clean
from assistant.tools.desk import Desk
from assistant.tools.models import Arguments, ResultStatus

SHOWN = 300
"""Characters of one log line that are shown; the rest can be had with read_window."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Lines of text, the evidence among them, and whether anything was found."""

    lines: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()
    status: ResultStatus = ResultStatus.FOUND
    omitted: int = 0
    """Rows that the tool itself left out; its last line says how to get them."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A question with a name. `ask` may raise RootrankError; whatever it raises is told in the result."""

    name: str
    summary: str
    """When to use it and what it gives; for models and people alike."""
    arguments: type[Arguments]
    ask: Callable[[Desk, Arguments], Finding]


def found(lines: Iterable[str], evidence: Iterable[Evidence] = (), omitted: int = 0) -> Finding:
    """Something was found."""
    return Finding(tuple(lines), tuple(evidence), omitted=omitted)


def nothing(*lines: str) -> Finding:
    """The question was understood, and there is nothing."""
    return Finding(lines, status=ResultStatus.NOTHING)


def quoted(evidence: Evidence) -> str:
    """One log line as tools show it: `[E7] n03/rank-7.err:118 (n03, rank 7, 03:12:44) | text`."""
    place = f"{clean(evidence.source)}:{evidence.line}"
    name = "" if evidence.id == place else f"[{evidence.id}] "
    return f"{name}{place}{_who(evidence)} | {shortened(evidence.text)}"


def shortened(text: str) -> str:
    """A log line on one line, harmless, and no longer than `SHOWN`."""
    whole = clean(text)
    return whole if len(whole) <= SHOWN else f"{whole[:SHOWN]}… ({len(whole) - SHOWN} more characters)"


def _who(evidence: Evidence) -> str:
    rank = None if evidence.rank is None else f"rank {evidence.rank}"
    parts = [clean(part) for part in (evidence.node, rank, evidence.time) if part]
    return f" ({', '.join(parts)})" if parts else ""


def limited(rows: Sequence[str], limit: int, how: str) -> tuple[list[str], int]:
    """The first `limit` rows, with a last one that says what is missing and `how` to get it."""
    rest = len(rows) - limit
    if rest <= 0:
        return list(rows), 0
    return [*rows[:limit], f"({rest} more rows; {how})"], rest
