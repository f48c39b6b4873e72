"""Processes that one run started: found by parentage, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path


def descendants(parent: int) -> list[int]:
    """All processes below one; ranks have sessions of their own, so no process group reaches them."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            above = int(stat.read_text(encoding="latin-1").rpartition(")")[2].split()[1])
            parents.setdefault(above, []).append(int(stat.parent.name))
    found: list[int] = []
    waiting = [parent]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def kill_tree(launcher: subprocess.Popen[bytes]) -> None:
    """SIGKILL to a launcher and everything below it, at once."""
    if launcher.poll() is None:
        below = descendants(launcher.pid)
        launcher.kill()
        kill_all(below)


def kill_all(pids: list[int]) -> None:
    """SIGKILL to those that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
