"""The peak of this process's memory, from a moment on."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def fresh_peak() -> None:
    """Start measuring the peak of memory anew, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak() -> int:
    """Most resident bytes of this process since `fresh_peak`, the interpreter and its libraries included."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return size if sys.platform == "darwin" else size * 1024
