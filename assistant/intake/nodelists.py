"""Host lists and task lists as Slurm abbreviates them: `node[002-004,014]` and `2,4-6`."""

from __future__ import annotations

import re

from assistant.intake.numerals import whole

MOST = 100_000
"""A list that names more is not expanded: it is a misreading or an attack."""

_PIECE = re.compile(r"([^,\[]*)(?:\[([0-9,\-]*)\])?([^,\[]*)(?:,|$)")


def expand_hosts(text: str) -> tuple[str, ...]:
    """Host names in the order written; empty where the text is no host list."""
    hosts: list[str] = []
    position = 0
    while position < len(text) and len(hosts) <= MOST:
        match = _PIECE.match(text, position)
        if match is None or match.end() == position:
            return ()
        head, ranges, tail = match.groups()
        hosts += [f"{head}{number}{tail}" for number in _numbers(ranges)] if ranges is not None else [head + tail]
        position = match.end()
    named = tuple(host for host in hosts if host)
    return named if len(named) <= MOST else ()


def expand_numbers(text: str) -> tuple[int, ...]:
    """The numbers of a list such as `0-7` or `2,4`."""
    return tuple(int(number) for number in _numbers(text))


def _numbers(text: str) -> list[str]:
    """Zero-padded as written."""
    found: list[str] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        bottom, top = whole(first), whole(last or first)
        if bottom is None or top is None:
            continue
        if top - bottom + len(found) > MOST:
            return found
        found += [str(number).zfill(len(first)) for number in range(bottom, top + 1)]
    return found
