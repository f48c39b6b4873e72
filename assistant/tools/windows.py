"""read_window and grep_log: the log lines themselves."""

from __future__ import annotations

from fnmatch import fnmatchcase

from pydantic import Field

from assistant.case.text import clean, plural
from assistant.errors import UsageError
from assistant.intake.models import Source
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found, nothing, quoted
from assistant.tools.lines import Line, evidence_of, lines_between, matching
from assistant.tools.models import Arguments

WIDEST = 100


class WindowArguments(Arguments):
    """Where to read."""

    evidence: str | None = None
    """An evidence id (`E7`); or give `source` and `line`."""
    source: str | None = None
    """A file of the job, as citations name it."""
    line: int | None = Field(default=None, ge=1)
    before: int = Field(default=5, ge=0, le=WIDEST)
    """Lines before it."""
    after: int = Field(default=10, ge=0, le=WIDEST)
    """Lines after it."""


def read_window(desk: Desk, arguments: Arguments) -> Finding:
    """The lines around a place."""
    assert isinstance(arguments, WindowArguments)
    name, line = _place(desk, arguments)
    source = desk.source(name)
    first = max(1, line - arguments.before)
    return _lines(desk, source, lines_between(desk, source, first, line + arguments.after))


def _place(desk: Desk, arguments: WindowArguments) -> tuple[str, int]:
    if arguments.evidence:
        known = desk.evidence(arguments.evidence)
        if known is None:
            raise UsageError(f"no evidence {clean(arguments.evidence)!r}", hint="give an id that was shown, or a file")
        return known.source, known.line
    if arguments.source is None or arguments.line is None:
        raise UsageError("no place is given", hint="give `evidence`, or `source` and `line`")
    return arguments.source, arguments.line


def _lines(desk: Desk, source: Source, lines: list[Line]) -> Finding:
    evidence = [evidence_of(desk, source, line) for line in lines]
    return found(map(quoted, evidence), evidence)


class GrepArguments(Arguments):
    """What to look for."""

    pattern: str = Field(min_length=1)
    """Words, or an expression in RE2 syntax; `(?i)` in front ignores case."""
    source: str = "*"
    """Files to search: a name, or a glob over names."""
    node: str | None = None
    """Only what this node wrote."""
    rank: int | None = Field(default=None, ge=0)
    """Only what this rank wrote."""
    limit: int = Field(default=30, ge=1, le=200)
    """Lines to show; all are counted."""


def grep_log(desk: Desk, arguments: Arguments) -> Finding:
    """Lines that match, with their count."""
    assert isinstance(arguments, GrepArguments)
    sources = _sources(desk, arguments)
    if not sources:
        return nothing("No file fits that source, node and rank.")
    matches = matching(sources, arguments.pattern, arguments.limit)
    if not matches.total:
        return nothing(f"No line matches, in {plural(len(sources), 'file')}.")
    evidence = [evidence_of(desk, source, line) for source, line in matches.lines]
    rest = matches.total - len(evidence)
    rows = [f"{plural(matches.total, 'matching line')} in {plural(len(sources), 'file')}.", *map(quoted, evidence)]
    rows += [f"({rest} more; narrow the pattern, or raise `limit`)"] if rest else []
    return found(rows, evidence, omitted=rest)


def _sources(desk: Desk, arguments: GrepArguments) -> list[Source]:
    streams = desk.examination.reading.scan.streams
    groups = {
        stream.group
        for stream in streams
        if arguments.node in (None, stream.node) and arguments.rank in (None, stream.rank)
    }
    named = [source for source in desk.sources if _named(source.name, arguments.source)]
    return [source for source in named if source.group in groups or (arguments.node, arguments.rank) == (None, None)]


def _named(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith(f"/{wanted}") or fnmatchcase(name, wanted)


READ_WINDOW = Tool(
    "read_window",
    "Reads the log lines around a place: an evidence id, or a file and a line number.",
    WindowArguments,
    read_window,
)
GREP_LOG = Tool(
    "grep_log",
    "Finds the log lines that match words or an expression, in all files or in those of a node, a rank or a name.",
    GrepArguments,
    grep_log,
)
