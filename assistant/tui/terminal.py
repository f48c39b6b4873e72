"""What the terminal can show, and what stands in place of what it cannot: no colours, or no signs beyond ASCII."""

# ruff: noqa: RUF001 - signs that look like ASCII are what this is about
from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

MONOCHROME = ("vt52", "vt100", "vt102", "vt220", "vt320", "vt420", "xterm-mono")
CONSOLE = frozenset("○•►◄▲▼↑↓→←↔")
"""Signs that the fonts of the Linux console have beside those of code page 437."""
SIGNS: Mapping[str, str] = {
    "-": "─━═╌┄╸╺╴╶▔‐‑‒–—−", "|": "│┃║▊▉▋▌▍▎▏▐▕╎┆", "+": "┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬▒▆",
    "_": "▁▂", "*": "●•◆■", "o": "○◦◌", ".": "·∙▃", ":": "░", "#": "▓▇", "@": "█", "=": "▄▅▀", "!": "⚠", "x": "✗✘×╳",
    "v": "✓✔▾▼↓", ">": "▸▶►→≥›»", "<": "◀◄←≤‹«⏎", "^": "▴▲↑", "0": "∅", "/": "⊘", "'": "‘’´", '"': "“”„", "~": "≈∼…",
    " ": "\xa0",
}  # fmt: skip
"""What stands in place of signs, in the same width."""
CLOSER: Mapping[str, str] = {"▔": "─", "▁": "_", "▊": "│", "▎": "│", "✓": "√"}
"""What looks more alike, where a character set has it."""
_PLAIN = {sign: plain for plain, signs in SIGNS.items() for sign in signs}


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a terminal can do."""

    colours: bool = True
    charset: str = "utf-8"
    """A codec: what it cannot encode is not sent to the terminal."""
    why: str = ""
    """Why signs are replaced, in words; empty where none are."""


def terminal(environ: Mapping[str, str], encoding: str | None = None, utf8_mode: int | None = None) -> Terminal:
    """Judges by the environment, and by the encoding of the stream that is drawn on."""
    if environ.get("TEXTUAL_DRIVER", "").endswith("WebDriver"):
        # A browser draws, whatever terminal the server was started in.
        return Terminal("NO_COLOR" not in environ)
    kind = environ.get("TERM", "")
    colours = "NO_COLOR" not in environ and not kind.startswith(MONOCHROME)
    written = encoding or getattr(sys.__stderr__, "encoding", None) or "utf-8"
    if not _is_utf8(written):
        return Terminal(colours, written, f"the terminal is written to in {written}")
    locale = _locale(environ, sys.flags.utf8_mode if utf8_mode is None else utf8_mode)
    if locale and not _is_utf8(locale) and environ.get("PYTHONUTF8") != "1":
        return Terminal(colours, "ascii", f"the locale is {locale}")
    return Terminal(colours, "cp437", "") if kind == "linux" else Terminal(colours)


def _locale(environ: Mapping[str, str], utf8_mode: int) -> str:
    """The locale that was asked for. Python sets LC_CTYPE itself where it finds none that it likes."""
    own = utf8_mode and environ.get("LC_CTYPE", "") in ("C.UTF-8", "C.utf8", "UTF-8")
    names = ("LC_ALL", "LANG") if own else ("LC_ALL", "LC_CTYPE", "LANG")
    return next((value for name in names if (value := environ.get(name))), "")


def _is_utf8(name: str) -> bool:
    return "utf8" in name.lower().replace("-", "")


class Colourless(LineFilter):
    """Takes every colour away; bold, reverse and underline stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """One line."""
        return [Segment(text, style and style.without_color, control) for text, style, control in segments]


class Spelled(LineFilter):
    """Puts signs that a character set has in place of those that it lacks, each in the same width."""

    def __init__(self, charset: str) -> None:
        super().__init__()
        self._table = _Table(charset)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """One line."""
        return [
            one if one.text.isascii() else Segment(one.text.translate(self._table), one.style, one.control)
            for one in segments
        ]


class _Table(dict[int, str]):
    """For `str.translate`; filled as letters come."""

    def __init__(self, charset: str) -> None:
        super().__init__()
        self._charset = charset
        self._more = CONSOLE if charset == "cp437" else frozenset()

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        closer = CLOSER.get(letter, letter)
        shown = letter if self._has(letter) else closer if self._has(closer) else replacement(letter)
        self[code] = shown
        return shown

    def _has(self, letter: str) -> bool:
        try:
            letter.encode(self._charset)
        except (UnicodeEncodeError, LookupError):
            return letter in self._more
        return True


def replacement(letter: str) -> str:
    """ASCII for a letter: a sign that looks like it, the letter without its accent, or a question mark a column."""
    if (sign := _PLAIN.get(letter)) is not None:
        return sign
    width = cell_len(letter)
    bare = "".join(one for one in unicodedata.normalize("NFKD", letter) if one.isascii() and one.isprintable())
    return bare if bare and len(bare) == width else "?" * width
