"""A launcher's console taken apart into stretches: what each worker had written to it, what the launcher said about
one worker, its failure block entry by entry, and the rest.

A node of a replica has more workers than the real one. What is a worker's own is repeated for each of its copies; what
the launcher says once (which worker failed first) stays once and is about the first copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from evals.scale.original import Original

RULE = re.compile(r"^(?:-{20,}|={20,})$")
HEADINGS = ("Failures:", "Root Cause (first observed failure):")
NO_OTHERS = "  <NO_OTHER_FAILURES>"
_LABEL = re.compile(r"^\[default(\d+)\]:|^\[rank(\d+)\]|^\{.{0,80}?\"rank\": (\d+)|^.{0,80}?\brank (\d+) of \d+")
_TIMED = re.compile(r"^(?:\[default\d+\]:)?(?:\[rank\d+\]:)?\W{0,3}(?:\d{4}-|[IWEF]\d{4} |\"time\"|\d\d/\d\d/)")
_ABOUT = re.compile(r"local_rank: (\d+)|attempt_\d+/(\d+)/error\.json")
_PID = re.compile(r"(?:process|PID|pid:) (\d+)")
_EACH = re.compile(r"closing signal|forcefully exiting")
_ENTRY = re.compile(r"^\[\d+\]:\s*$")
_ENTRY_LOCAL = re.compile(r"\(local_rank: (\d+)\)")


class Turn(StrEnum):
    """How a stretch of lines is repeated."""

    ONCE = "once"
    """Written once, whoever it is about."""
    EACH = "each"
    """Written for each copy of its worker."""
    BLOCK = "block"
    """The failure block: its entries are put in order anew."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive lines of one console that belong together."""

    turn: Turn
    local: int | None
    """The real local rank that they come from or are about."""
    lines: tuple[str, ...]
    first: int
    """1-based number of the first line in the real console."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a failure block."""

    local: int
    root: bool
    lines: tuple[str, ...]
    """Without the `[0]:` line."""


def stretches(original: Original, node: int, text: str) -> list[Stretch]:
    """A console as stretches, in their order."""
    lines = text.split("\n")
    lines = lines[:-1] if lines and lines[-1] == "" else lines
    found: list[Stretch] = []
    at = 0
    while at < len(lines):
        end = _block_end(lines, at)
        if end:
            found.append(Stretch(Turn.BLOCK, None, tuple(lines[at:end]), at + 1))
            at = end
            continue
        turn, local = _belongs(original, node, lines[at])
        until = at + 1
        while until < len(lines) and _goes_on(original, node, lines[until], turn, local):
            until += 1
        found.append(Stretch(turn, local, tuple(lines[at:until]), at + 1))
        at = until
    return found


def _block_end(lines: list[str], at: int) -> int:
    """Where the part of the failure block that starts here ends; 0 where none starts."""
    if not lines[at].startswith(HEADINGS[0]):
        return 0
    for end in range(at + 1, len(lines)):
        if RULE.match(lines[end]) and lines[end][0] == "=":
            return end
    return len(lines)


def _belongs(original: Original, node: int, line: str) -> tuple[Turn, int | None]:
    """How a line is repeated, and which worker it belongs to."""
    label = _LABEL.match(line)
    if label:
        first = original.nodes[node].first_rank
        local = int(label[1]) if label[1] else int(label[2] or label[3] or label[4]) - first
        return (Turn.EACH, local) if 0 <= local < original.per_node else (Turn.ONCE, None)
    pid = _PID.search(line)
    known = original.nodes[node].pids.get(int(pid[1])) if pid else None
    if known is not None and _EACH.search(line):
        return Turn.EACH, known
    about = _ABOUT.search(line)
    return Turn.ONCE, int(about[1] or about[2]) if about else known


def _goes_on(original: Original, node: int, line: str, turn: Turn, local: int | None) -> bool:
    """Whether a line belongs to the stretch before it: the untimed rest of a worker's record."""
    if turn is not Turn.EACH or _TIMED.match(line) or line.startswith(HEADINGS[0]):
        return False
    return _belongs(original, node, line) == (turn, local)


def entries(block: Stretch) -> list[Entry]:
    """The entries of a failure block."""
    found: list[Entry] = []
    root = False
    for line in block.lines:
        if line.startswith(HEADINGS):
            root = line.startswith(HEADINGS[1])
        elif _ENTRY.match(line):
            found.append(Entry(-1, root, ()))
        elif found and not RULE.match(line):
            last = found[-1]
            local = _ENTRY_LOCAL.search(line)
            found[-1] = Entry(int(local[1]) if local else last.local, last.root, (*last.lines, line))
    return [entry for entry in found if entry.local >= 0]


def layout(count: int, rule: str, parts: list[list[str]]) -> Iterator[str]:
    """A failure block of `count` entries, the root cause last, as the launcher writes it.

    Args:
        rule: the line of hyphens between the two parts.
        parts: the lines of each entry, the root cause first.
    """
    yield HEADINGS[0]
    if count == 1:
        yield NO_OTHERS
    for number, lines in enumerate(parts[1:], start=1):
        yield f"[{number}]:"
        yield from lines
    yield rule
    yield HEADINGS[1]
    yield "[0]:"
    yield from parts[0]
