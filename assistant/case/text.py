"""Small pieces of text that every face and tool uses. Log text is hostile: it passes `clean` first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from assistant.case.models import Candidate, Evidence

_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
_LINE_END = re.compile(r"\r*\n")
_ALARM = re.compile(
    r"(?i)error|exception|fail|fatal|abort|panic|killed|out of memory|timed? ?out|traceback|signal|refused|xid|\bnan\b"
)


def clean(text: str) -> str:
    """`text` on one line with nothing left that a terminal would act on.

    Colour codes are dropped, tabs, line ends and unusual spaces become spaces; all other control, format, private and
    surrogate characters are spelled out (`\\x1b`, `\\u202e`), so that they are seen and do nothing.
    """
    joined = _LINE_END.sub(" ", _COLOURS.sub("", text).strip("\r\n").replace("\t", "    "))
    if joined.isprintable():
        return joined
    return "".join(letter if letter.isprintable() else _spelled(letter) for letter in joined)


def excerpt(text: str, width: int) -> str:
    """`text` in at most `width` characters; a long beginning gives way to the first alarming word."""
    text = clean(text)
    if len(text) <= width:
        return text
    found = _ALARM.search(text)
    if found and found.start() > width * 2 // 3:
        text = "…" + text[found.start() - min(width // 4, 20) :]
    return text if len(text) <= width else text[: width - 1] + "…"


def tail(text: str, width: int) -> str:
    """The last `width` characters; for paths, whose end tells most."""
    text = clean(text)
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]


def ranges(numbers: Iterable[int]) -> str:
    """`0-3, 7` for 0, 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def plural(count: int, noun: str) -> str:
    """`1 rank`, `2 ranks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def more(items: Sequence[object], shown: int) -> str:
    """What is left out of a list, or nothing."""
    return f"+{len(items) - shown} more" if len(items) > shown else ""


def place(candidate: Candidate | Evidence) -> str:
    """`gpu-07 rank 5 GPU 1`, as far as it is known."""
    rank = None if candidate.rank is None else f"rank {candidate.rank}"
    device = candidate.device if isinstance(candidate, Candidate) else None
    return clean(" ".join(part for part in (candidate.node, rank, device) if part))


def _spelled(letter: str) -> str:
    code = ord(letter)
    if unicodedata.category(letter) == "Zs":
        return " "
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
