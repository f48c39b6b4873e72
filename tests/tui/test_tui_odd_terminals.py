"""The real command in odd pseudo-terminals: no colour, no UTF-8, no cursor, windows that are tiny or very wide."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pexpect
import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from assistant.answers.sessions import SessionStore
from assistant.tui.terminal import CONSOLE, SIGNS, Colourless, Spelled, Terminal, replacement, terminal
from tests.tui.terminal import PATIENCE

SGR = re.compile(rb"\x1b\[([0-9;]*)m")
LOCALES = ("LANG", "LC_ALL", "LC_CTYPE", "PYTHONUTF8", "PYTHONIOENCODING", "COLORTERM", "NO_COLOR")
QUIT = "\x11"


def start(job: Path, more: Mapping[str, str], rows: int = 30, columns: int = 100) -> pexpect.spawn:
    """`rootrank chat` in a terminal of which nothing is taken over from the developer's."""
    kept = {name: value for name, value in os.environ.items() if name not in LOCALES}
    return pexpect.spawn(
        sys.executable, ["-m", "assistant.cli", "chat", str(job)], dimensions=(rows, columns),
        env={**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", **more}, timeout=PATIENCE,
    )  # fmt: skip


def played(child: pexpect.spawn) -> bytes:
    """Asks a question and quits; all that was written to the terminal."""
    written = b""
    for key, wanted in (("", b"Evidence"), ("What failed?", b"What failed"), ("\r", b"Next:"), (QUIT, None)):
        child.send(key)
        child.expect(pexpect.EOF if wanted is None else re.escape(wanted))
        written += child.before + (child.after if wanted else b"")
    child.close()
    assert child.exitstatus == 0
    return written


def coloured(written: bytes) -> set[bytes]:
    """The colours that were set."""
    codes = {code for found in SGR.findall(written) for code in found.split(b";") if code}
    return {code for code in codes if 30 <= int(code) <= 49 or 90 <= int(code) <= 107}


def test_without_colour_none_is_sent_and_what_is_chosen_is_reversed(job: Path) -> None:
    written = played(start(job, {"NO_COLOR": "1"}))
    assert not coloured(written)
    assert b"7" in {code for found in SGR.findall(written) for code in found.split(b";")}
    assert "✗ FAILED".encode() in written


def test_without_utf8_only_ascii_is_sent_and_read_as_before(job: Path) -> None:
    written = played(start(job, {"LANG": "C"}))
    assert written.isascii()
    assert b"x FAILED" in written
    assert b"\\u" not in written
    assert coloured(written)


def test_the_linux_console_gets_signs_that_its_fonts_have(job: Path) -> None:
    text = played(start(job, {"TERM": "linux"})).decode()
    known = set(bytes(range(256)).decode("cp437")) | CONSOLE
    assert "─" in text
    assert not {letter for letter in text if not letter.isascii()} - known


def test_a_terminal_without_a_cursor_is_refused_in_one_sentence(job: Path) -> None:
    child = start(job, {"TERM": "dumb"})
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2
    assert b"TERM=dumb" in child.before
    assert b"set TERM to what it is" in child.before
    assert b"\x1b" not in child.before


def test_tiny_and_very_wide_windows_lose_nothing_that_is_typed(job: Path, own_home: Path) -> None:
    child = start(job, {})
    child.expect("Evidence")
    child.send("half")
    child.expect("half")
    child.setwinsize(5, 20)
    child.expect("too small: needs")
    child.send(" typed")
    child.expect("typed")
    for rows, columns in ((3, 10), (1, 1), (50, 500)):
        child.setwinsize(rows, columns)
    child.expect("suspects|Suspects")
    child.send(" question")
    child.expect("question")
    child.send("\r")
    child.expect("Next:")
    child.send(QUIT)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    (turn,) = SessionStore(own_home / "data").load("last").turns
    assert turn.question.text == "half typed question"


def test_the_mouse_is_given_to_the_terminal_and_taken_again(job: Path) -> None:
    child = start(job, {})
    child.expect("Evidence")
    child.send("/mouse")
    child.expect("/mouse")
    child.send("\r")
    child.expect_exact("\x1b[?1000l")
    child.send("\x1b[17~")  # F6
    child.expect_exact("\x1b[?1000h")
    child.send("\x1b[18~")  # F7: copy mode
    child.expect_exact("\x1b[?1000l")
    child.send("y")
    child.expect_exact("\x1b]52;c;")
    child.send("q")
    child.expect_exact("\x1b[?1000h")
    child.send(QUIT)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@pytest.mark.parametrize(
    ("environ", "encoding", "mode", "charset"),
    [
        ({"LANG": "de_DE.UTF-8"}, "utf-8", 0, "utf-8"),
        ({}, "utf-8", 1, "utf-8"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", 1, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", 0, "utf-8"),
        ({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, "utf-8", 1, "ascii"),
        ({"LANG": "C", "PYTHONUTF8": "1"}, "utf-8", 1, "utf-8"),
        ({"LANG": "de_DE.ISO-8859-1"}, "iso8859-1", 0, "iso8859-1"),
        ({"TERM": "linux", "LANG": "C.UTF-8"}, "utf-8", 0, "cp437"),
        ({"TERM": "linux", "LANG": "C", "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}, "ascii", 1, "utf-8"),
    ],
)
def test_what_may_be_sent_goes_by_locale_and_encoding(
    environ: dict[str, str], encoding: str, mode: int, charset: str
) -> None:
    assert terminal(environ, encoding, mode).charset == charset


def test_colours_go_by_no_color_and_the_kind_of_terminal() -> None:
    assert terminal({"TERM": "xterm"}, "utf-8", 0) == Terminal()
    assert not terminal({"TERM": "xterm", "NO_COLOR": ""}, "utf-8", 0).colours
    assert not terminal({"TERM": "vt100-am"}, "utf-8", 0).colours


def test_every_replacement_is_ascii_of_the_same_width() -> None:
    letters = [sign for signs in SIGNS.values() for sign in signs]
    for letter in [*letters, "é", "ß", "漢", "ﬁ", "\u0301", "\u200b", "½", "Ω", "🙂", "�"]:
        plain = replacement(letter)
        assert plain.isascii()
        assert cell_len(plain) == cell_len(letter)


def test_filters_change_nothing_else() -> None:
    segments = [Segment("plain"), Segment("é ● 漢", None), Segment("x", None, None)]
    ground = Color(0, 0, 0)
    assert [one.text for one in Spelled("ascii").apply(segments, ground)] == ["plain", "e * ??", "x"]
    assert [one.text for one in Spelled("latin-1").apply(segments, ground)] == ["plain", "é * ??", "x"]
    assert [one.text for one in Spelled("no such codec").apply(segments, ground)] == ["plain", "e * ??", "x"]
    assert Colourless().apply(segments, ground) == segments
