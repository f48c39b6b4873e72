"""Numbers of the operating system in words: error numbers, signals, exit codes."""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Iterator

_ERRNO = re.compile(r"(?i)\berrno\D{0,3}(\d{1,3})\b")
_NAME = re.compile(r"\bE[A-Z0-9]{2,14}\b")
_SIGNAL = re.compile(r"(?i)\b(?:signal\D{0,2}|exit\s?code\s?:?\s{0,3}-)(\d{1,2})\b|\b(SIG[A-Z]{2,6})\b")
_EXIT = re.compile(r"(?i)\bexit(?:\s?code)?\D{0,3}(\d{1,3})\b")


def system_codes(text: str) -> Iterator[str]:
    """One row for each code of the system that `text` names."""
    for number in map(int, _ERRNO.findall(text)):
        if number in errno.errorcode:
            yield f"errno {number} ({errno.errorcode[number]}): {os.strerror(number)}"
    for name in _NAME.findall(text):
        if (code := getattr(errno, name, None)) is not None:
            yield f"{name} (errno {code}): {os.strerror(code)}"
    for number, name in _SIGNAL.findall(text):
        yield from _signal(int(number) if number else getattr(signal, name.upper(), 0))
    for exit_code in map(int, _EXIT.findall(text)):
        if exit_code > 128:
            yield from (f"exit {exit_code}: as shells report it, ended by {row}" for row in _signal(exit_code - 128))


def _signal(number: int) -> Iterator[str]:
    try:
        found = signal.Signals(number)
    except ValueError:
        return
    yield f"signal {int(found)} ({found.name}): {signal.strsignal(found) or found.name}"
