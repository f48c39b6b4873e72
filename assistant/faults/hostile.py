"""How long patterns take on hostile text: each is tried in a child, which the system ends at a limit of CPU time.

A pattern that RE2 reads is linear in the text, but a large counted repetition can still make it slow; Python's `re`
backtracks, and there a harmless looking pattern can take years. No engine can be stopped from inside, and seconds on
the wall depend on what else the machine does.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Literal

from assistant.errors import KnowledgeError
from assistant.faults.attacks import LENGTH, attacks
from assistant.intake.regexes import compile_regex
from assistant.paths import PACKAGE

Engine = Literal["re2", "re"]
LIMIT = 2.0
"""Seconds of CPU time that one pattern may take on all its attacks together."""
_PATIENCE = 600.0
"""Seconds on the wall after which a silent child counts as stuck, however busy the machine is."""


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
    """Those that take more than `limit` seconds of CPU time on hostile text, or end their process.

    Raises KnowledgeError where the child does not even start.
    """
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
    command = [sys.executable, "-P", "-m", "assistant.faults.hostile", repr(limit)]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=_environment()) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with suppress(BrokenPipeError), child.stdin:
                child.stdin.write(json.dumps([astuple(one) for one in patterns]).encode())
            return _answers(child.stdout.fileno(), len(patterns))
        finally:
            child.kill()


def _environment() -> dict[str, str]:
    """One in which the child finds this very package."""
    paths = (str(PACKAGE.parent), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _answers(stream: int, expected: int) -> int:
    """How many patterns the child finishes before it is ended; its first byte only says that it is up."""
    for number in range(expected + 1):
        ready, _, _ = select.select([stream], [], [], _PATIENCE)
        if ready and os.read(stream, 1):
            continue
        if number == 0:
            hint = "Run the check again; if it stays so, this Python cannot start itself as a child."
            raise KnowledgeError("patterns could not be tried on hostile text", hint=hint)
        return number - 1
    return expected


def seconds(pattern: Pattern) -> float:
    """Seconds of CPU time that a pattern takes on all its attacks; does not come back where it explodes."""
    texts = list(attacks(pattern.regex, pattern.length))
    tried = _tried(pattern)
    started = time.process_time()
    for text in texts:
        tried(text)
    return time.process_time() - started


def _tried(pattern: Pattern) -> Callable[[str], object]:
    if pattern.engine == "re2":
        return compile_regex(pattern.regex).search
    compiled = re.compile(pattern.regex, pattern.flags)
    return compiled.match if pattern.anchored else compiled.search


def main() -> None:
    """The child: reads patterns from standard input, writes a byte when ready and one after each.

    The timer's signal is left to its default, which ends the process in the midst of a search.
    """
    limit = float(sys.argv[1])
    given = [Pattern(*fields) for fields in json.load(sys.stdin)]
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _say_done()
    for pattern in given:
        signal.setitimer(signal.ITIMER_PROF, max(limit, 1e-6))
        seconds(pattern)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _say_done()


def _say_done() -> None:
    sys.stdout.write(".")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
