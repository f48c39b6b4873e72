"""The real command in a pseudo-terminal, and waiting for what it does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping

import pexpect

PATIENCE = 90
"""Seconds after which something is taken to have failed."""


def started(
    *arguments: str, rows: int = 40, columns: int = 140, more: Mapping[str, str] | None = None
) -> pexpect.spawn:
    """`rootrank chat` in a pseudo-terminal; `more` is added to its environment."""
    environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORTERM": "truecolor", **(more or {})}
    return pexpect.spawn(
        sys.executable, ["-m", "assistant.cli", "chat", *arguments], dimensions=(rows, columns), env=environment,
        encoding="utf-8", codec_errors="replace", timeout=PATIENCE,
    )  # fmt: skip


def wait_for(holds: Callable[[], object]) -> None:
    """Looks until something holds."""
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < PATIENCE
        time.sleep(0.05)


def ask(child: pexpect.spawn, question: str) -> None:
    """Types a question and sends it once it stands in the prompt."""
    child.send(question)
    child.expect_exact(question[-8:])
    child.send("\r")


def ended(child: pexpect.spawn) -> int | None:
    """Quits; the exit code."""
    child.send("\x11")
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus  # type: ignore[no-any-return]
