"""Where a report goes: standard output or a file, in the form that was asked for."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from assistant.cli.narration import lead_nowhere
from assistant.errors import UsageError

if TYPE_CHECKING:
    from assistant.case.models import Case
    from assistant.report.terminal import Colour

Form = Literal["text", "json", "markdown"]


def form_of(json: bool, markdown: bool) -> Form:
    """The form that two switches ask for."""
    if json and markdown:
        raise UsageError("--json and --markdown exclude each other", hint="give one of them")
    return "json" if json else "markdown" if markdown else "text"


def emit(case: Case, form: Form, *, verbose: bool, colour: Colour, target: Path | None) -> None:
    """Writes the report. A reader that closes its end early is no error.

    Raises:
        UsageError: `target` cannot be written.
    """
    if target is not None:
        _store(target, _rendered(case, form, verbose))
        return
    with pipe():
        if form == "text":
            sys.stdout.write(_styled(case, sys.stdout, verbose, colour))
        else:
            sys.stdout.buffer.write(_rendered(case, form, verbose))


@contextlib.contextmanager
def pipe() -> Iterator[None]:
    """Around everything that writes to standard output: a closed pipe ends the writing, not the command."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        lead_nowhere(sys.stdout)
    except OSError as error:
        lead_nowhere(sys.stdout)
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot write to standard output: {reason}", hint="write to another place") from None


def print_json(value: object) -> None:
    """Any value of ours as indented JSON."""
    from assistant.report.json import dumps

    with pipe():
        sys.stdout.buffer.write(dumps(value))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their content; on a terminal, lines are cut at its edge."""
    from assistant.case.text import clean
    from assistant.report.terminal import size_of

    cells = [tuple(map(clean, row)) for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    edge = size_of(sys.stdout)[0] if sys.stdout.isatty() else None
    with pipe():
        for row in cells:
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            print(line if edge is None or len(line) <= edge else line[: edge - 1] + "…")


def _styled(case: Case, stream: IO[str], verbose: bool, colour: Colour) -> str:
    from assistant.report.terminal import console_for, styled

    return styled(case, console_for(stream, colour), verbose=verbose)


def _rendered(case: Case, form: Form, verbose: bool) -> bytes:
    if form == "json":
        from assistant.report import json

        return json.render(case)
    if form == "markdown":
        from assistant.report import markdown

        return markdown.render(case).encode()
    return _styled(case, io.StringIO(), verbose, "never").encode()


def _store(target: Path, data: bytes) -> None:
    try:
        target.write_bytes(data)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot write {target}: {reason}", hint="give another file with -o") from None
