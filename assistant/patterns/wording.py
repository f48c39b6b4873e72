"""How the patterns put numbers and templates into words."""

from __future__ import annotations

import re

LONGEST_QUOTE = 90

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def quoted(text: str) -> str:
    """A template in quotation marks, on one line and cut to a readable length."""
    flat = _CONTROL.sub(" ", text[: 4 * LONGEST_QUOTE]).strip()
    return f'"{flat}"' if len(flat) <= LONGEST_QUOTE else f'"{flat[: LONGEST_QUOTE - 3].rstrip()}..."'


def times(ratio: float) -> str:
    """A ratio as `1.4x` or `12x`."""
    return f"{ratio:.1f}x" if ratio < 10 else f"{ratio:,.0f}x"


def duration(seconds: float) -> str:
    """Seconds as `70 ms`, `4.2 s`, `12 min` or `3.5 h`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def plural(count: int, noun: str) -> str:
    """`1 run`, `3 runs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
