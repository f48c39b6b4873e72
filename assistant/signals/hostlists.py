"""Slurm's short forms for many hosts and many tasks."""

from __future__ import annotations

import re

MOST = 100_000
"""Names or numbers that a short form may stand for; more is no real job."""
PART = re.compile(r"([^,\[\]]*)(?:\[([^\[\]]*)\])?([^,\[\]]*)(?:,|$)")


def numbers(text: str) -> tuple[int, ...]:
    """`0-3,9` as 0, 1, 2, 3, 9; what cannot be read is left out."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit() and (not last or last.isdigit()):
            end = int(last or first)
            found.extend(range(int(first), min(end, int(first) + MOST) + 1))
        if len(found) > MOST:
            break
    return tuple(found[:MOST])


def hosts(text: str) -> tuple[str, ...]:
    """`n[01-03,07]` as n01, n02, n03, n07; a plain name as itself. Only one bracket a name is understood."""
    found: list[str] = []
    for before, inside, after in PART.findall(text.strip()):
        if inside:
            found.extend(f"{before}{number}{after}" for number in _padded(inside))
        elif before:
            found.append(before)
    return tuple(found[:MOST])


def _padded(text: str) -> list[str]:
    found: list[str] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit() and (not last or last.isdigit()):
            end = min(int(last or first), int(first) + MOST)
            found.extend(str(number).zfill(len(first)) for number in range(int(first), end + 1))
    return found
