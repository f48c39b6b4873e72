"""A scan as one would write it without thought of speed: one line after another, plain Python."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from assistant.events.masks import MASKS
from assistant.intake.dialects import Dialects
from assistant.intake.models import Dialect, MarkKind, MarkPattern

ITERATION = MarkPattern(MarkKind.ITERATION, r"iteration (?P<iteration>[0-9]+)/(?P<total>[0-9]+)", stage="training")
SAVED = MarkPattern(MarkKind.CHECKPOINT, r"saved step (?P<iteration>[0-9]+)")
DIALECTS = Dialects((), (), (), (Dialect("plain", "Plain", "progress", priority=10, marks=(ITERATION, SAVED)),))
GATE = ("(?i)error", r"Xid [1-9][0-9]*", r"exit code [1-9]")
FAULTS = {"error-line": "(?i)error", "xid-79": r"Xid 79\b", "killed": r"exit code 137"}

_ESCAPES = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]|\x00")


class FewFaults:
    """A library of three entries."""

    def gate(self) -> list[str]:
        return list(GATE)

    def match(self, record: str) -> tuple[str, ...]:
        return tuple(name for name, pattern in FAULTS.items() if re.search(pattern, record))


class NoMiner:
    """Each masked form is its own template, so that masks can be checked by themselves."""

    def mine(self, forms: list[str]) -> list[str]:
        return forms


@dataclass
class Slow:
    """What the slow scan finds in one source."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Line and offset."""
    iterations: dict[str, list[int]] = field(default_factory=dict)
    marks: list[tuple[int, int, str, int]] = field(default_factory=list)
    """Line, offset, kind, iteration."""
    indicators: list[tuple[int, int, str, tuple[str, ...], int | None]] = field(default_factory=list)
    """Line, offset, text, faults, iteration."""


def slow_scan(data: bytes) -> Slow:
    """Read one source that holds no record of several lines."""
    found, iteration = Slow(), None
    for line, offset, raw in _pieces(data):
        text = _cleaned(raw)
        if not text.strip():
            continue
        announced = re.search(ITERATION.pattern, text)
        iteration = int(announced["iteration"]) if announced else iteration
        for mark in (ITERATION, SAVED):
            hit = re.search(mark.pattern, text)
            if hit:
                found.marks.append((line, offset, str(mark.mark), int(hit["iteration"])))
        form = masked(text)
        found.counts[form] += 1
        found.first.setdefault(form, (line, offset))
        if iteration is not None:
            found.iterations.setdefault(form, []).append(iteration)
        if any(re.search(pattern, text) for pattern in GATE):
            found.indicators.append((line, offset, text, FewFaults().match(text), iteration))
    return found


def _pieces(data: bytes) -> list[tuple[int, int, bytes]]:
    """Line number, offset and bytes of what newlines and carriage returns separate."""
    pieces, line, start = [], 1, 0
    for at, byte in enumerate(data + b"\n"):
        if byte in b"\r\n":
            pieces.append((line, start, data[start:at]))
            start = at + 1
            line += byte == 10
    return pieces


def _cleaned(raw: bytes) -> str:
    clean = _ESCAPES.sub(b"", raw)
    try:
        return clean.decode()
    except UnicodeDecodeError:
        return bytes(byte if byte < 128 else 63 for byte in clean).decode()


def masked(text: str) -> str:
    """The masked form of a line, mask by mask."""
    for mask in MASKS:
        text = re.sub(mask.pattern, mask.put, text)
    squeezed = re.sub(r"[ \t\r\n\f]+", " ", text).strip()
    return re.sub(r"^[\[(]?<TIME>[\])]?[ :,|-]*", "", squeezed) or squeezed
