"""What the scan of a job hands on. Everything later works on these tables and never on all lines again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from assistant.intake.clock import Skew
from assistant.intake.models import Source, Stream, Unread


class RecordMatcher(Protocol):
    """The fault library as the scan sees it: a cheap gate for lines, then ids for whole records."""

    def gate(self) -> list[str]:
        """Regexes (RE2 subset) of which at least one matches each line that can start or be an indicator."""

    def match(self, record: str) -> tuple[str, ...]:
        """Ids of the library entries whose signature matches the record's text, most specific first."""


class TemplateMiner(Protocol):
    """The port in front of Drain3."""

    def mine(self, forms: list[str]) -> list[str]:
        """The template of each masked form, in the same order. Deterministic for the same list."""


@dataclass(frozen=True, slots=True)
class Template:
    """A mined template. Its id is a hash of its text and so the same in every run."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """One logical message: a line, or a traceback or block joined from many lines of one stream."""

    source: int
    line: int
    offset: int
    text: str
    """Joined by newlines, prefixes and envelopes removed, at most 16 KiB."""
    raw: str
    """The exact text of the record's first line in the source, decoded with replacement, at most 4 KiB."""
    stream: int
    lines: int = 1
    time: float | None = None
    """UTC epoch seconds, skew-corrected, of the record itself or carried from the nearest earlier timed line."""
    own_time: bool = False
    """The time stands on the record's own first line."""
    iteration: int | None = None
    """The last iteration announced before this record in its stream, else in its job."""
    stage: str | None = None
    attempt: int = 0
    template: int = -1
    """Index into `Scan.templates`."""
    order: int = 0
    """Position among all scanned lines of its stream; orders records that have no time."""
    last_line: int = 0
    """Number of the record's last line."""
    last_offset: int = 0
    """Offset of the record's last line (for a traceback: of the exception line)."""


@dataclass(frozen=True, slots=True)
class Indicator:
    """A record that may indicate a failure: it passed the gate."""

    record: Record
    faults: tuple[str, ...]
    """Matching library entries, most specific first; empty where only a generic error word matched."""
    count: int = 1
    """How many records of the same template, stream and entries this one stands for."""


@dataclass(frozen=True, slots=True)
class Scan:
    """One pass over everything.

    counts: template i32, stream i32, count i64, iterations i32 (distinct iterations it was seen in), first_source i32,
        first_line i64, first_offset i64, last_source i32, last_line i64, last_offset i64, first_iteration i64?,
        last_iteration i64?; one row per template and stream.
    marks: stream i32, source i32, line i64, offset i64, order i64, kind str, dialect str, stage str?, iteration i64?,
        total i64?, seconds f64?, loss f64?, time f64?, attempt i32, text str?; sorted by stream and order. Iteration
        marks of very long runs are thinned evenly; the first, the last 200 and all other kinds are always kept.
    sequences: stream i32, iteration i64, sequence i32 (index into `shapes`), line i64; what happened in each iteration.
    shapes: the distinct template sequences of iterations (at most 200 templates each).
    """

    sources: tuple[Source, ...]
    streams: tuple[Stream, ...]
    templates: tuple[Template, ...]
    counts: pl.DataFrame
    marks: pl.DataFrame
    sequences: pl.DataFrame
    shapes: tuple[tuple[int, ...], ...]
    indicators: tuple[Indicator, ...]
    tails: dict[int, tuple[Record, ...]]
    """The last few records of each stream: what each rank did last."""
    facts: tuple[dict[str, str], ...]
    """FACT marks: their named groups plus `stream`, `source`, `line`, `offset`, `dialect`."""
    notes: tuple[str, ...]
    unread: tuple[Unread, ...]
    bytes: int
    lines: int
    skew: Skew = field(default_factory=Skew)
    """How far the sources' clocks ran ahead of the common clock, on which all times here are."""
