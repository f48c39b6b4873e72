"""Times on log lines: found in the spellings that laboratory jobs use, and written again in the same spelling.

Times are UTC epoch seconds; a spelling without a zone is UTC, as the laboratory's clocks are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

CALENDAR = r"\d{4}-\d\d-\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
SLASHED = r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d"
GLOG = r"(?<![A-Za-z0-9])[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9}"
REPORT = r'(?<="timestamp": ")\d{10}(?=")'

Writer = Callable[[float], str]
"""Spells a moment as the text that it was made from."""

_CALENDAR = re.compile(r"(\d{4}-\d\d-\d\d)([T _])(\d\d:\d\d:\d\d)(?:([.,])(\d+))?$")


def read_stamp(text: str, year: int) -> tuple[float, Writer] | None:
    """The moment that a text spells, and how to spell others alike; None where it is no time.

    Args:
        text: the whole of one match of the patterns above.
        year: of spellings that have none.
    """
    if found := _CALENDAR.match(text):
        return _calendar(found)
    if "/" in text:
        return _whole(text, "%m/%d/%Y %H:%M:%S")
    if text[0].isdigit():
        return float(text), lambda moment: str(_second(moment))
    return _glog(text, year)


def _whole(text: str, layout: str) -> tuple[float, Writer] | None:
    at = _parsed(text, layout)
    return None if at is None else (at, lambda moment: _spelled(_second(moment), layout))


def _calendar(found: re.Match[str]) -> tuple[float, Writer] | None:
    date, middle, clock, point, digits = found.groups()
    at = _parsed(f"{date} {clock}", "%Y-%m-%d %H:%M:%S")
    layout = f"%Y-%m-%d{middle}%H:%M:%S"
    if at is None:
        return None
    return at + _fraction(digits), lambda moment: _spelled(_second(moment), layout) + _tail(moment, point, digits)


def _glog(text: str, year: int) -> tuple[float, Writer] | None:
    whole, _, digits = text[1:].partition(".")
    at = _parsed(f"{year}{whole}", "%Y%m%d %H:%M:%S")
    if at is None:
        return None
    level, layout = text[0], "%m%d %H:%M:%S"
    return at + _fraction(digits), lambda moment: level + _spelled(_second(moment), layout) + _tail(moment, ".", digits)


def _parsed(text: str, layout: str) -> float | None:
    try:
        return datetime.strptime(text, layout).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _fraction(digits: str | None) -> float:
    return int(digits) / 10 ** len(digits) if digits else 0.0


def _second(moment: float) -> int:
    return round(moment * 1_000_000) // 1_000_000


def _tail(moment: float, point: str | None, digits: str | None) -> str:
    """The fraction, cut to as many digits as it had: rounding up could pass into the next second."""
    if not point or not digits:
        return ""
    return point + f"{round(moment * 1_000_000) % 1_000_000:06d}"[: len(digits)].ljust(len(digits), "0")


@lru_cache(maxsize=65536)
def _spelled(second: int, layout: str) -> str:
    return datetime.fromtimestamp(second, UTC).strftime(layout)
