"""Words, colours and signs that several parts of the screen share. A sign says the same as its colour."""

from __future__ import annotations

import re

from assistant.case.vocabulary import Confidence, NodeState, Role, Status

STATUS = {
    Status.FAILED: ("✗", "$text-error"),
    Status.HEALTHY: ("✓", "$text-success"),
    Status.INCOMPLETE: ("…", "$text-warning"),
    Status.UNKNOWN: ("?", "$text-warning"),
}
CONFIDENCE = {
    Confidence.HIGH: ("●●●", "$text-success"),
    Confidence.MEDIUM: ("●●○", "$text-warning"),
    Confidence.LOW: ("●○○", "$text-error"),
}
ROLE = {
    Role.INITIATING: ("▼", "bold $text-error"),
    Role.CASCADE: ("x", "$text-warning"),
    Role.TEARDOWN: ("t", "$foreground-muted"),
    Role.CONTEXT: ("·", "$foreground-muted"),
}
"""As on the timeline."""
STATE = {
    NodeState.AFFECTED: "bold $text-error",
    NodeState.HEALTHY: "$text-success",
    NodeState.CHANGED: "$text-warning",
    NodeState.NOT_CHECKED: "$foreground-muted",
}

_STAMP = re.compile(
    r"(^|\] )(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?(?:[ :|-]+|$)"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d{1,8} )"
)
"""The time as most loggers write it, and the beginning of a line of glog."""


def untimed(text: str) -> str:
    """A log line, or what follows a citation, without the time at its begin: where the time stands beside it anyway."""
    return _STAMP.sub(r"\1", text, count=1)


def size(count: float) -> str:
    """`1.5 MB` for bytes."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def span(seconds: float) -> str:
    """`4 s`, `3:20` for a time that passes."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
