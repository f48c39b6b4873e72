"""Where a run of bytes may be cut: at line ends, at overlong lines, and rather before a traceback than inside it."""

from __future__ import annotations

import numpy as np

from assistant.intake.limits import KIB

LOOK_BACK_LINES = 400
LOOK_BACK_BYTES = 256 * KIB
_TRACEBACK = b"Traceback (most recent call last)"
_BLANKS = (b" ", b"\t")


def count_lines(data: bytes) -> int:
    """How many newlines; vectorised in slices that fit the processor's cache, because `bytes.count` is slower."""
    if len(data) < 4 * KIB:
        return data.count(b"\n")
    view = np.frombuffer(data, np.uint8)
    return sum(int(np.count_nonzero(view[at : at + 256 * KIB] == 10)) for at in range(0, len(view), 256 * KIB))


def line_end(data: bytes, start: int = 0) -> int:
    """Position of the first newline or carriage return at or after `start`, -1 where there is none."""
    newline = data.find(b"\n", start)
    carriage = data.find(b"\r", start, newline if newline >= 0 else len(data))
    return carriage if carriage >= 0 else newline


def first_long(data: bytes, start: int, limit: int) -> tuple[int, bool]:
    """Start of the first line of more than `limit` bytes, and True; or of the unfinished last line, and False.

    Jumps from line end to line end, `limit` bytes at a time, so it reads next to nothing. A carriage return ends a line
    here too: an hour of progress bars is no overlong line.
    """
    at = start
    while len(data) - at > limit:
        end = data.rfind(b"\n", at, at + limit + 1)
        end = data.rfind(b"\r", at, at + limit + 1) if end < 0 else end
        if end < 0:
            return at, True
        at = end + 1
    return at, False


def clean_cut(data: bytes, start: int) -> int:
    """Where `data[start:]`, which goes on elsewhere, is best cut; `start` if there is no line end to cut at."""
    newline = data.rfind(b"\n", start) + 1
    if newline > start:
        return _record_border(data, start, newline)
    carriage = data.rfind(b"\r", start, len(data) - 1) + 1
    return max(carriage, start)


def _record_border(data: bytes, start: int, cut: int) -> int:
    """Move a cut to before the traceback or indented block that it would split, if its head is near."""
    floor = _lines_back(data, max(start, cut - LOOK_BACK_BYTES), cut)
    head = data.find(_TRACEBACK, floor, cut)
    if head >= 0:
        border = data.rfind(b"\n", start, head) + 1
    elif (data[cut : cut + 1] or data[_lines_back(data, floor, cut, 1) :][:1]) in _BLANKS:
        border = _before_indented(data, floor, cut)
    else:
        return cut
    return border if border > start else cut


def _lines_back(data: bytes, floor: int, cut: int, count: int = LOOK_BACK_LINES) -> int:
    at = cut
    for _ in range(count):
        at = data.rfind(b"\n", floor, at - 1) + 1
        if at <= floor:
            return floor
    return at


def _before_indented(data: bytes, floor: int, cut: int) -> int:
    at = cut
    while at > floor:
        at = max(data.rfind(b"\n", floor, at - 1) + 1, floor)
        if data[at : at + 1] not in _BLANKS:
            return at
    return cut
