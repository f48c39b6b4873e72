"""Whom or what a matching record speaks of: the named groups of an entry's signatures, read as values."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from functools import lru_cache

from assistant.faults.models import Fault
from assistant.intake.numerals import LONGEST, whole
from assistant.intake.regexes import Regex, compile_regex

_NUMBERS = ("rank", "local_rank", "task", "pid", "iteration", "exitcode")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a record names besides its writer. A field is None where the text does not tell."""

    rank: int | None = None
    local_rank: int | None = None
    task: int | None = None
    node: str | None = None
    device: str | None = None
    pid: int | None = None
    peer: str | None = None
    exitcode: int | None = None
    signal: int | None = None
    """Number of the signal, from its own group or from an exit code below 0 or of 129 to 192."""
    iteration: int | None = None


def subjects(fault: Fault, record: str) -> Subject:
    """The subject of the first match of each signature of `fault`; earlier signatures win field by field."""
    values: dict[str, str] = {}
    for signature in fault.signatures:
        found = _compiled(signature.regex).search(record)
        for name, text in (found.groupdict() if found else {}).items():
            if text:
                values.setdefault(name, text)
    return _subject(values)


@lru_cache(maxsize=4096)
def _compiled(regex: str) -> Regex:
    return compile_regex(regex)


def _subject(values: dict[str, str]) -> Subject:
    numbers = {name: _number(values.get(name)) for name in _NUMBERS}
    subject = Subject(
        node=values.get("node"),
        device=values.get("device"),
        peer=values.get("peer"),
        signal=_signal(values.get("signal")),
        **numbers,
    )
    return subject if subject.signal else replace(subject, signal=_signal_of_exit(subject.exitcode))


def _number(text: str | None) -> int | None:
    bare = whole((text or "").removeprefix("-"), 10**LONGEST)
    return -bare if bare is not None and text and text.startswith("-") else bare


def _signal(text: str | None) -> int | None:
    name = (text or "").upper()
    if (number := whole(name)) is not None:
        return number
    known = signal.Signals.__members__.get(name if name.startswith("SIG") else f"SIG{name}")
    return int(known) if known else None


def _signal_of_exit(exitcode: int | None) -> int | None:
    if exitcode is None:
        return None
    if -65 < exitcode < 0:
        return -exitcode
    return exitcode - 128 if 128 < exitcode < 193 else None
