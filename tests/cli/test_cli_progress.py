"""The bar of a long read: only on a terminal, only after a while, and gone at the end."""

from __future__ import annotations

import io
import sys

import pytest

from assistant.cli import progress
from assistant.intake.models import Progress


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_there_is_no_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.progress_bar(True) as hook:
        assert hook is None


def test_a_bar_that_is_not_wanted_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    with progress.progress_bar(False) as hook:
        assert hook is None


def test_a_short_read_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with progress.progress_bar(True) as hook:
        assert hook is not None
        hook(Progress(bytes=10, total=100, sources=1, finding="rank 3: out of memory"))
    assert screen.getvalue() == ""


def test_a_long_read_shows_how_far_it_is_and_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress_bar(True) as hook:
        assert hook is not None
        hook(Progress(bytes=10, total=None, sources=1, finding="[rank3]: \x1b[2J out of memory"))
        hook(Progress(bytes=50_000_000, total=100_000_000, sources=12))
    assert "[rank3]: \\x1b[2J out of memory" in screen.getvalue()
    assert "12 files" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")
