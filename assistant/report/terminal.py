"""The report for a terminal: by default one screen, with `-v` everything.

Log text is shown as it is: it is put into plain `Text`, never parsed as markup, so that `[rank0]` stays visible and
nothing in a log can move the cursor or colour the screen.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import IO, Literal

from rich.console import Console
from rich.text import Text

from assistant.case.models import Case
from assistant.case.vocabulary import Status
from assistant.report.rows import LIMIT, Detail, Row, details, headline, summary

WIDTH, HEIGHT = 80, 24
WIDEST = 1000
MARGIN = 10
"""Columns of the labels at the left."""
SPARE = 2
"""Screen rows left for the prompt and the line that tells where the case is kept."""

FULL = Detail(LIMIT, LIMIT, LIMIT, LIMIT, LIMIT, alternatives=LIMIT, lines=12, line_rows=12, complete=True)
PROFILES = (
    Detail(why=8, suspects=8, steps=4, evidence=8, missing=4, alternatives=3, lines=4, line_rows=2),
    Detail(why=5, suspects=4, steps=2, evidence=4, missing=2, alternatives=2, lines=3, line_rows=2),
    Detail(why=4, suspects=3, steps=1, evidence=3, missing=2, alternatives=1, lines=2, line_rows=2),
    Detail(why=3, suspects=3, steps=1, evidence=3, missing=1, alternatives=1, lines=2),
    Detail(why=3, suspects=2, steps=1, evidence=3, missing=1, lines=2),
    Detail(why=3, suspects=2, steps=1, evidence=2, missing=1, lines=2),
    Detail(why=2, suspects=2, steps=1, evidence=2, missing=1, lines=2),
    Detail(why=2, suspects=1, steps=1, evidence=2, missing=1, states=False, lines=1),
)
"""From generous to tight; the first that fits the screen is used."""

_UNCUT = 10_000
_STYLES = {Status.FAILED: "bold red", Status.HEALTHY: "bold green"}

Colour = Literal["auto", "always", "never"]


def console_for(stream: IO[str], colour: Colour = "auto") -> Console:
    """A console on `stream`. Where that is no terminal: 80 columns (or COLUMNS), and no colour unless `always`."""
    width, height = size_of(stream)
    plain = colour == "never" or (colour == "auto" and not _colourful(stream))
    return Console(
        file=stream,
        width=width,
        height=height,
        color_system=None if plain else "standard",
        force_terminal=not plain,
        no_color=False,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=True,
    )


def _colourful(stream: IO[str]) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")


def styled(case: Case, console: Console, *, verbose: bool = False) -> str:
    """The report as what the console would write, for a writer that handles closed pipes itself."""
    with console.capture() as written:
        for line in render(case, console.width, console.height, verbose=verbose):
            console.print(line)
    return written.get()


def render(case: Case, width: int = WIDTH, height: int = HEIGHT, *, verbose: bool = False) -> list[Text]:
    """The lines of the report. Not verbose: at most `height` less two, where the terminal has at least 80x24."""
    width = max(width, 40)
    if verbose:
        rows = [*summary(case, FULL, width - MARGIN), *_failures(case), *details(case)]
        return _layout(case, rows, width, spaced=True)
    for detail in PROFILES:
        lines = _layout(case, summary(case, detail, width - MARGIN), width)
        if len(lines) <= height - SPARE:
            break
    return lines


def _failures(case: Case) -> Iterable[Row]:
    for number, failure in enumerate(case.failures, 2):
        part = case.model_copy(update={"verdict": failure.verdict, "suspects": failure.suspects})
        yield Row(f"Failure {number}", headline(part), "bold", lines=2)
        for row in summary(part, FULL, _UNCUT):
            yield Row(
                f"Failure {number}", f"{row.label}: {row.text}" if row.label else row.text, row.style, row.indent, 12
            )


def _layout(case: Case, rows: Iterable[Row], width: int, *, spaced: bool = False) -> list[Text]:
    lines = [_head(case, width)]
    label = ""
    for row in rows:
        if not row.text:
            continue
        if row.joins and lines[-1].cell_len + len(row.text) + 2 <= width:
            lines[-1].append(f"  {row.text}", row.style)
            continue
        if spaced and row.label != label:
            lines.append(Text())
        lines += _wrapped(row, "" if row.label == label else row.label, width)
        label = row.label
    return lines


def _head(case: Case, width: int) -> Text:
    name = case.case if case.revision == 1 else f"{case.case} rev {case.revision}"
    text = headline(case)
    gap = max(2, width - len(text) - len(name))
    head = Text(text, _STYLES.get(case.status, "bold yellow"), no_wrap=True)
    if len(text) + gap + len(name) > width:
        head.truncate(width, overflow="ellipsis")
        return head
    return head.append(" " * gap + name, "dim")


def _wrapped(row: Row, label: str, width: int) -> list[Text]:
    margin = MARGIN if row.label else 0
    room = width - margin - row.indent
    pieces = list(Text(row.text, row.style).wrap(_RULER, room, overflow="fold"))
    if len(pieces) > row.lines:
        rest = pieces[row.lines - 1]
        rest.append("…" if rest.cell_len < room else " " * room)
        rest.truncate(room, overflow="ellipsis")
        pieces = [*pieces[: row.lines - 1], rest]
    lines = [Text(" " * (margin + row.indent)).append_text(piece) for piece in pieces]
    if label and lines:
        lines[0] = Text(label.ljust(margin)[:margin], "bold").append(" " * row.indent).append_text(pieces[0])
    for line in lines:
        line.rstrip()
    return lines


def size_of(stream: IO[str]) -> tuple[int, int]:
    """Columns and rows of a terminal; 80x24 (or COLUMNS) where the stream is none."""
    width, height = WIDTH, HEIGHT
    if stream.isatty():
        try:
            size = os.get_terminal_size(stream.fileno())
            width, height = size.columns or width, size.lines or height
        except (OSError, ValueError):
            pass
    return _asked_width(os.environ.get("COLUMNS", "")) or width, height


def _asked_width(text: str) -> int | None:
    return min(int(text), WIDEST) if text.isascii() and text.isdecimal() and len(text) < 20 else None


_RULER = Console(file=sys.__stderr__, width=WIDTH, color_system=None, force_terminal=False)
"""Only measures text while it is wrapped; nothing is ever printed to it."""
