"""Results that are larger than what is shown at once: kept whole, and read on piece by piece with read_more."""

from __future__ import annotations

from pydantic import Field

from assistant.case.text import clean
from assistant.errors import NothingFound
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found
from assistant.tools.models import Arguments

SHOWN_CHARACTERS = 8_000
"""What of a result is shown at once, where nobody asks for less."""


class MoreArguments(Arguments):
    """Which result, and from where on."""

    result: str
    """Id of the result (`T3`)."""
    first: int = Field(default=1, ge=1)
    """1-based row to begin with."""
    rows: int = Field(default=60, ge=1, le=200)


def preview(rows: tuple[str, ...], characters: int) -> int:
    """How many of the rows fit."""
    used = 0
    for number, row in enumerate(rows):
        used += len(row) + 1
        if used > characters and number:
            return number
    return len(rows)


def read_more(desk: Desk, arguments: Arguments) -> Finding:
    """The next rows of an earlier result."""
    assert isinstance(arguments, MoreArguments)
    whole = desk.spilled.get(arguments.result)
    if whole is None:
        kept = ", ".join(desk.spilled) or "none"
        raise NothingFound(f"no kept result {clean(arguments.result)!r}", hint=f"kept results: {kept}")
    rows = whole[arguments.first - 1 : arguments.first - 1 + arguments.rows]
    rest = len(whole) - (arguments.first - 1 + len(rows))
    more = [f"({rest} more rows: read_more from row {arguments.first + len(rows)})"] if rest > 0 else []
    return found([*rows, *more], omitted=max(rest, 0))


READ_MORE = Tool(
    "read_more",
    "The rest of an earlier result that was too large to show at once.",
    MoreArguments,
    read_more,
)
