"""Error files: what a rank writes about its own uncaught exception.

torchelastic's `@record` writes `{"message": {"message": "...", "extraInfo": {"py_callstack": "...", "timestamp":
"1700000000"}}}`; older handlers and other tools write the message as a plain string. `errorCode` is added when a
launcher copies the file of a worker. Times are real epoch seconds, whole ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from assistant.intake.models import Source
from assistant.intake.numerals import LONGEST
from assistant.signals.lines import Line
from assistant.signals.windows import Place

NAME = re.compile(r"(?i)(?:^|[/!])[\w.-]*(?:error|reply)[\w.-]*\.json(?:\.(?:gz|zst|bz2|xz))?$")
MESSAGE = re.compile(r'"message"\s*:\s*"')
LARGEST = 1 << 20
"""Bytes beyond which a file is no error report."""
LONGEST_MESSAGE = 4000
EARLIEST = 946_684_800.0
"""The year 2000: smaller time stamps are placeholders."""


@dataclass(frozen=True, slots=True)
class Report:
    """One error file."""

    message: str
    stack: str
    time: float | None
    exitcode: int | None


@dataclass(frozen=True, slots=True)
class ErrorFile:
    """A source that is an error report, and the line its message stands on."""

    source: Source
    report: Report
    place: Line


def parse_report(data: bytes) -> Report | None:
    """The report in a file's bytes, or None where they are none (cut, empty, or other JSON)."""
    try:
        whole = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(whole, dict) or "message" not in whole:
        return None
    message = whole["message"]
    if isinstance(message, str):
        return Report(message[:LONGEST_MESSAGE], "", _time(whole.get("timestamp")), _code(whole))
    if not isinstance(message, dict):
        return None
    extra = message.get("extraInfo")
    extra = extra if isinstance(extra, dict) else {}
    text, stack = message.get("message"), extra.get("py_callstack")
    return Report(
        (text if isinstance(text, str) else "")[:LONGEST_MESSAGE],
        stack if isinstance(stack, str) else "",
        _time(extra.get("timestamp")),
        _code(message) or _code(whole),
    )


def _time(value: object) -> float | None:
    if not isinstance(value, (str, int, float)):
        return None
    try:
        time = float(value)
    except ValueError:
        return None
    return time if EARLIEST < time < 1e11 else None


def _code(holder: dict[str, Any]) -> int | None:
    code = holder.get("errorCode")
    return code if isinstance(code, int) and not isinstance(code, bool) and abs(code) < 10**LONGEST else None


def candidates(sources: Iterable[Source]) -> dict[int, list[Place]]:
    """The sources that are error reports by their names, to be read from the start."""
    return {s.id: [(1, 0)] for s in sources if NAME.search(s.name) and (s.size or 0) <= LARGEST}


def error_files(sources: Iterable[Source], lines: dict[int, tuple[Line, ...]]) -> Iterator[ErrorFile]:
    """Every source that is an error report by its content too."""
    wanted = candidates(sources)
    for source in sources:
        own = lines.get(source.id, ()) if source.id in wanted else ()
        report = parse_report("\n".join(line.text for line in own).encode()) if own else None
        if report is not None:
            yield ErrorFile(source, report, next((line for line in own if MESSAGE.search(line.text)), own[0]))
