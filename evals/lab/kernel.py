"""The kernel's part: a control group that limits memory, and the kernel's own messages about one run's processes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

MEMORY = Path("/sys/fs/cgroup/memory")
LIMIT = 96 << 20
"""Bytes that a process may use after it entered the group; what it used before does not count."""
TIMEOUT = 20.0
"""Seconds that `dmesg` may take."""


def can_limit() -> str | None:
    """Why memory cannot be limited with the kernel's report; None where it can."""
    if os.geteuid() != 0:
        return "control groups need root"
    if not (MEMORY / "memory.limit_in_bytes").exists():
        return "no writable control groups of version 1"
    done = subprocess.run(["dmesg", "--time-format", "iso"], capture_output=True, check=False, timeout=TIMEOUT)
    return None if done.returncode == 0 else "dmesg may not be read"


@contextmanager
def memory_group(number: int) -> Iterator[Path]:
    """A group named as a scheduler names those of its jobs; gone afterwards."""
    folder = MEMORY / "slurm" / "uid_1000" / f"job_{number}" / "step_0"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        (folder / "memory.limit_in_bytes").write_text(str(LIMIT), encoding="ascii")
        yield folder
    finally:
        for path in (folder, folder.parent):
            with suppress(OSError):
                path.rmdir()


def kernel_messages(began: float, pids: set[int], group: str) -> list[str]:
    """What the kernel wrote since `began` (epoch seconds) about these processes or this group, in its order."""
    words = ["dmesg", "--time-format", "iso"]
    done = subprocess.run(words, capture_output=True, check=False, timeout=TIMEOUT)
    lines = [line for line in done.stdout.decode(errors="replace").splitlines() if _time(line) >= began - 1.0]
    return [line for block in _blocks(lines) if _concerns(block, pids, group) for line in block]


def _time(line: str) -> float:
    try:
        return datetime.fromisoformat(line.split(" ", 1)[0].replace(",", ".")).timestamp()
    except ValueError:
        return 0.0


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """An out-of-memory report is one block, a crash with its code line another, and any other line its own."""
    block: list[str] = []
    inside = False
    for line in lines:
        starts = "invoked oom-killer" in line
        if block and (starts or not (inside or " Code: " in line)):
            yield block
            block, inside = [], False
        block.append(line)
        inside = (inside or starts) and "Killed process" not in line
    if block:
        yield block


def _concerns(block: list[str], pids: set[int], group: str) -> bool:
    text = "\n".join(block)
    if "oom-killer" in block[0]:
        return bool(group) and group in text
    return bool({int(pid) for pid in re.findall(r"\w\[(\d+)\]: segfault", text)} & pids)
