"""How long patterns take on hostile text: each is tried in a process of its own kind, which is ended at a limit.

A pattern that RE2 reads is linear in the text, but a large counted repetition can still make it slow; Python's `re`
backtracks, and there a harmless looking pattern can take years. No engine can be stopped from inside, so the measuring
is done in a child.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Literal

from assistant.faults.attacks import LENGTH, attacks
from assistant.faults.regexes import compile_regex
from assistant.paths import PACKAGE

Engine = Literal["re2", "re"]
LIMIT = 2.0
"""Seconds that one pattern may take on all its attacks together."""
_START = 30.0
"""Seconds that a child may take until it answers at all."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An expression, the engine it is run by, and where it comes from."""

    name: str
    regex: str
    engine: Engine = "re2"
    flags: int = 0
    """Of Python's `re`."""
    anchored: bool = False
    """Tried at the start of the text alone."""
    length: int = LENGTH
    """Characters of the longest text it meets."""


def slow_patterns(patterns: Sequence[Pattern], limit: float = LIMIT) -> list[Pattern]:
    """Those that take longer than `limit` seconds on hostile text, or end their process."""
    found: list[Pattern] = []
    at = 0
    while at < len(patterns):
        done = _run(patterns[at:], limit)
        at += done
        if at < len(patterns):
            found.append(patterns[at])
            at += 1
    return found


def _run(patterns: Sequence[Pattern], limit: float) -> int:
    """How many of the patterns a child got through, before one of them took too long."""
    command = [sys.executable, "-P", "-m", "assistant.faults.hostile"]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=_environment()) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with child.stdin:
                child.stdin.write(json.dumps([astuple(one) for one in patterns]).encode())
            return _answers(child.stdout.fileno(), len(patterns), limit)
        except BrokenPipeError:
            return 0
        finally:
            child.kill()


def _environment() -> dict[str, str]:
    """One in which the child finds this very package."""
    paths = (str(PACKAGE.parent), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _answers(stream: int, expected: int, limit: float) -> int:
    """How many patterns the child finishes, each in time; its first byte only says that it is up."""
    for number in range(expected + 1):
        ready, _, _ = select.select([stream], [], [], limit if number else _START)
        if not ready or not os.read(stream, 1):
            return max(number - 1, 0)
    return expected


def seconds(pattern: Pattern) -> float:
    """Seconds that a pattern takes on all its attacks; does not come back where it explodes."""
    texts = list(attacks(pattern.regex, pattern.length))
    tried = _tried(pattern)
    started = time.monotonic()
    for text in texts:
        tried(text)
    return time.monotonic() - started


def _tried(pattern: Pattern) -> Callable[[str], object]:
    if pattern.engine == "re2":
        return compile_regex(pattern.regex).search
    compiled = re.compile(pattern.regex, pattern.flags)
    return compiled.match if pattern.anchored else compiled.search


def main() -> None:
    """The child: reads patterns from standard input, writes a byte when ready and one after each."""
    given = [Pattern(*fields) for fields in json.load(sys.stdin)]
    _say_done()
    for pattern in given:
        seconds(pattern)
        _say_done()


def _say_done() -> None:
    sys.stdout.write(".")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
