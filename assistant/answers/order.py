"""Claims of order and of absence: who was first, what came before what, and that there is nothing.

A single log line shows neither. Order needs two lines with their times, or a tool that has put them in order; absence
needs a tool that has looked, or a line that says so itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assistant.case.models import Evidence

_FIRST = re.compile(
    r"(?i)\b(?:failed|broke|died|crashed|left|stopped|closed|reported|gave up|hung|timed out|fell|ended|exited|"
    r"started|came|wrote|was|were|happened|disconnected|lost)\b[^.;|]{0,60}?"
    r"\b(?:first|earliest|before (?:all|any|every|the) ?(?:the )?(?:others?|other ranks?|rest|ranks?|nodes?)?)\b"
    r"(?!\s+(?:report|line|message|error|iteration|step|time|piece|second))"
    r"|\b(?:was|is|were) the (?:first|earliest)\b|\bthe first (?:rank|node|one|process|to)\b"
    r"|\b(?:als Erste[rs]?|zuerst|zuallererst)\b|最先|首先(?:失败|崩溃|出错)"
)
_TWO = re.compile(
    r"(?i)\branks?\s+(\d{1,6})\b(?P<between>[^.;|]{0,160}?)\b(?P<word>before|after|earlier than|later than)\b"
    r"[^.;|]{0,80}?\branks?\s+(\d{1,6})\b"
)
_ORDERED = re.compile(r"(?i)\bfirst\b|earliest|initiat|\bbefore\b|\border\b|zuerst")
_ABSENT = re.compile(
    r"(?i)\b(?:logs?|logged|wrote|writes|written|reported|reports|left|leaves|showed|shows?|printed|contains?|has|have|had)"
    r"\s+(?:nothing|no (?:\w+ )?(?:errors?|lines?|output|trace|messages?|logs?|warnings?|sign))\b"
    r"|\b(?:there (?:is|are|was|were) no|without any) (?:\w+ )?(?:errors?|lines?|output|traces?|messages?|warnings?)\b"
    r"|\b(?:is|was|were|stayed|remained) silent\b"
)
_DENIES = re.compile(
    r"(?i)\b(?:no|not|none|nothing|never|without|missing|absent|silent|empty|un\w+ed|lacks?|cannot|failed to)\b"
)
BEFORE = ("before", "earlier than")


def unordered(sentence: str, lines: Iterable[Evidence], rows: Iterable[str]) -> str | None:
    """What a sentence says of order that its evidence does not show; None where it shows it.

    Args:
        lines: the log lines that are cited.
        rows: what the cited tools have said.
    """
    known = list(lines)
    for found in _TWO.finditer(sentence):
        if (wrong := _against(found, known)) is not None:
            return wrong
    said = _FIRST.search(sentence)
    if said is None or any(_ORDERED.search(row) for row in rows) or any(_ORDERED.search(one.text) for one in known):
        return None
    return None if _spread(known) else said[0]


def _spread(lines: list[Evidence]) -> bool:
    """Whether the lines stand at two places and have times that can be compared."""
    timed = {(one.rank, one.node, one.source) for one in lines if one.time}
    return len(timed) > 1


def _against(found: re.Match[str], lines: list[Evidence]) -> str | None:
    one, other = _time_of(int(found[1]), lines), _time_of(int(found[4]), lines)
    if one is None or other is None or one == other or found[1] == found[4]:
        return None
    claimed = found["word"].lower() in BEFORE
    return None if (one < other) is claimed else f"{found['word']} rank {found[4]}"


def _time_of(rank: int, lines: list[Evidence]) -> str | None:
    return min((one.time for one in lines if one.rank == rank and one.time), default=None)


def unlooked(sentence: str, lines: Iterable[Evidence], rows: Iterable[str]) -> str | None:
    """What a sentence says is absent although nothing that it cites has looked; None where something has."""
    said = _ABSENT.search(sentence)
    if said is None or any(map(_DENIES.search, _texts(lines, rows))):
        return None
    return said[0]


def _texts(lines: Iterable[Evidence], rows: Iterable[str]) -> Iterator[str]:
    yield from (one.text for one in lines)
    yield from rows
