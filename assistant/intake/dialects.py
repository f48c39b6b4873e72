"""Ways of writing, as data: loads, checks and sorts `knowledge/dialects/*.yaml`, one entry a file.

Every regex stays in the subset that RE2 and Rust's engine (Polars) read alike, because both run it. The scan decides on
digit-folded text first, so a progress pattern must match its lines with every digit turned into `0` as well.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl
import re2
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from assistant import paths
from assistant.case.vocabulary import Stage
from assistant.errors import KnowledgeError
from assistant.intake.models import Dialect, MarkKind, MarkPattern
from assistant.intake.regexes import ascii_classes

GENERIC = 60
"""Progress dialects from this priority on are guesses: they count only where no framework's own lines were seen."""
EPOCHS = 90
"""Progress dialects from this priority on count epochs, which stand in for iterations only where there are none."""

FORMATS: dict[str, frozenset[str | None]] = {
    "prefix": frozenset({"outer", "own", "mention"}),
    "time": frozenset({"calendar", "epoch", "uptime", "clock"}),
    "envelope": frozenset({"json", "text"}),
    "progress": frozenset({None}),
}
"""Legal `format` values. prefix: `outer` = put around each line by a launcher or tool, `own` = written by the process
and stripped, `mention` = written by the process, names it, and stays. envelope: `json` = one object a line, `text` =
`pattern`."""


@dataclass(frozen=True, slots=True)
class Dialects:
    """All dialects by kind, each sorted by priority, then id."""

    prefixes: tuple[Dialect, ...]
    times: tuple[Dialect, ...]
    envelopes: tuple[Dialect, ...]
    progress: tuple[Dialect, ...]
    left_out: tuple[str, ...] = ()
    """Files that could not be used and why, where they were read leniently."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _MarkEntry(_Strict):
    mark: MarkKind
    pattern: str
    stage: Stage | None = None
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...] = ()

    def build(self) -> MarkPattern:
        stage = str(self.stage) if self.stage else None
        return MarkPattern(self.mark, ascii_classes(self.pattern), stage, self.examples, self.counter_examples)


class _Entry(_Strict):
    id: str
    title: str
    kind: Literal["progress", "prefix", "time", "envelope"]
    framework: str | None = None
    pattern: str | None = None
    format: str | None = None
    priority: int = 50
    fields: dict[str, tuple[str, ...]] = {}
    marks: tuple[_MarkEntry, ...] = ()
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _fits_its_kind(self) -> _Entry:
        if self.format not in FORMATS[self.kind]:
            raise ValueError(f"format {self.format!r} does not belong to kind {self.kind!r}")
        if bool(self.marks) != (self.kind == "progress"):
            raise ValueError("`marks` belong to kind 'progress', and only there")
        if self.kind != "progress" and not self.examples:
            raise ValueError("at least one example is needed")
        return self

    def build(self) -> Dialect:
        values = {name: getattr(self, name) for name in type(self).model_fields if name != "marks"}
        values["pattern"] = self.pattern and ascii_classes(self.pattern)
        return Dialect(**values, marks=tuple(mark.build() for mark in self.marks))


def fold_digits(text: str) -> str:
    """The text with every ASCII digit turned into `0`, as the scan sees it first."""
    return _DIGIT.sub("0", text)


_DIGIT = re.compile("[0-9]")
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.lru_cache(maxsize=4096)
def compiled(pattern: str) -> re2._Regexp[str]:
    """The pattern compiled by RE2, kept.

    Raises:
        re2.error: RE2 cannot read the pattern.
    """
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


@functools.lru_cache(maxsize=16_384)
def named_groups(pattern: str, text: str, *, anchored: bool) -> tuple[dict[str, str | None], int] | None:
    """The named groups of a pattern's match in a short text and where the match ends, kept for texts asked about again.

    Args:
        anchored: match at the start only. The end is that of the group `rest`'s start where the pattern has one.
    """
    regex = compiled(pattern)
    match = regex.match(text) if anchored else regex.search(text)
    if match is None:
        return None
    numbers = _group_numbers(pattern)
    groups = {name: match[number] for name, number in numbers.items()}
    return groups, match.start(numbers["rest"]) if "rest" in numbers else match.end()


@functools.lru_cache(maxsize=4096)
def _group_numbers(pattern: str) -> dict[str, int]:
    return dict(compiled(pattern).groupindex)


def _engine_problem(pattern: str) -> str | None:
    try:
        compiled(pattern)
        pl.Series([""]).str.contains(pattern, strict=True)
    except (re2.error, pl.exceptions.PolarsError) as error:
        return f"pattern {pattern!r} is not readable by both engines: {error}"
    return None


def _matches(pattern: str, text: str) -> bool:
    by_rust = bool(pl.Series([text]).str.contains(pattern)[0])
    return by_rust and compiled(pattern).search(text) is not None


def _example_problems(pattern: str, good: Iterable[str], bad: Iterable[str], *, folded: bool) -> list[str]:
    problem = _engine_problem(pattern)
    if problem:
        return [problem]
    found = [f"example not matched: {text!r}" for text in good if not _matches(pattern, text)]
    found += [f"counter-example matched: {text!r}" for text in bad if _matches(pattern, text)]
    if folded:
        found += [f"not matched once digits are folded: {t!r}" for t in good if not _matches(pattern, fold_digits(t))]
    return found


def problems_of(dialect: Dialect) -> list[str]:
    """What is wrong with an entry, judged by its own examples; empty if nothing is."""
    found = []
    if dialect.pattern is not None:
        found += _example_problems(dialect.pattern, dialect.examples, dialect.counter_examples, folded=False)
    for mark in dialect.marks:
        found += _example_problems(mark.pattern, mark.examples, mark.counter_examples, folded=True)
    return found


def _read_entry(path: Path) -> Dialect:
    hint = "Compare the entry with its neighbours in knowledge/dialects; `rootrank config validate` checks them all."
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # a safe loader, the faster one if built
        dialect = _Entry.model_validate(raw).build()
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise KnowledgeError(f"{path}: {error}", hint=hint) from error
    if dialect.id != path.stem:
        raise KnowledgeError(f"{path}: its entry is called {dialect.id!r}", hint="Name the file after its entry's id.")
    for pattern in (dialect.pattern, *(mark.pattern for mark in dialect.marks)):
        problem = _engine_problem(pattern) if pattern else None
        if problem:
            raise KnowledgeError(f"{path}, entry {dialect.id!r}: {problem}", hint=hint)
    return dialect


def load_dialects(folders: Sequence[Path] | None = None, *, strict: bool = True) -> Dialects:
    """Read all entries; one in a later folder replaces one of the same id.

    Args:
        strict: refuse wrong entries; else they are left out and named in `Dialects.left_out`.

    Raises:
        KnowledgeError: a file cannot be read or an entry is wrong, where `strict`; names the file and the entry.
    """
    places = [folder / "dialects" for folder in paths.locate("knowledge")] if folders is None else folders
    entries: dict[str, Dialect] = {}
    left_out: list[str] = []
    for path in (path for place in places for path in sorted(place.glob("*.yaml"))):
        try:
            entries[path.stem] = _read_entry(path)
        except KnowledgeError as error:
            if strict:
                raise
            left_out.append(" ".join(error.message.split()))
    ordered = sorted(entries.values(), key=lambda entry: (entry.priority, entry.id))
    by_kind = {kind: tuple(e for e in ordered if e.kind == kind) for kind in FORMATS}
    return Dialects(by_kind["prefix"], by_kind["time"], by_kind["envelope"], by_kind["progress"], tuple(left_out))
