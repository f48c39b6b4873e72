"""Reads the time that stands on a line, in the spellings that training jobs use. No zone is taken to be UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

HEAD = 120
"""Characters of a line in which its time is looked for."""

_CALENDAR = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T_](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?")
_SLASHED = re.compile(r"\b(\d\d)/(\d\d)/(\d{4}) (\d\d):(\d\d):(\d\d)()")
_GLOG = re.compile(r"(?:^|[\s\]:])[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})")
_REPORT = re.compile(r'"timestamp": ?"?(\d{10})\b')


def moment(text: str, year: int) -> float | None:
    """UTC epoch seconds of a line, None where it carries no time.

    Args:
        year: of times that have none, as glog's.
    """
    head = text[:HEAD]
    if found := _CALENDAR.search(head):
        return _epoch(found.group(1, 2, 3, 4, 5, 6), found[7])
    if found := _GLOG.search(head):
        return _epoch((str(year), *found.group(1, 2, 3, 4, 5)), found[6])
    if found := _SLASHED.search(head):
        return _epoch(found.group(3, 1, 2, 4, 5, 6), found[7])
    return None


def report_moment(text: str) -> float | None:
    """The time inside a worker's JSON error report."""
    found = _REPORT.search(text)
    return float(found[1]) if found else None


def _epoch(parts: tuple[str | int, ...], fraction: str | None) -> float | None:
    year, month, day, hour, minute, second = (int(part) for part in parts)
    try:
        whole = datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return whole + (float(f"0.{fraction}") if fraction else 0.0)
