"""Runs every example of the library, so that an entry that does not do what it claims cannot ship."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from assistant.faults.library import Library
from assistant.faults.matcher import Matcher
from assistant.faults.models import Fault, FaultRole
from assistant.faults.regexes import RegexSet, compile_set


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an entry."""

    fault: str
    what: str
    text: str = ""
    """The example or regex it shows on."""


def check_library(library: Library, healthy_lines: Iterable[str] = ()) -> list[Problem]:
    """Everything wrong with the library; an empty list means it keeps its promises.

    `healthy_lines` are lines of runs that ended well: none may match an entry that stands for a root cause.
    """
    matcher = Matcher(library)
    problems = [problem for fault in library for problem in check_fault(matcher, fault)]
    problems += _gate_problems(matcher)
    return problems + [problem for line in healthy_lines for problem in _healthy(matcher, line)]


def check_fault(matcher: Matcher, fault: Fault) -> list[Problem]:
    """What is wrong with one entry's examples."""
    gate = compile_set(matcher.gate())
    wrong = [problem for text in fault.examples.match for problem in _fires(matcher, fault, text, gate)]
    return wrong + [problem for text in fault.examples.no_match for problem in _silent(matcher, fault, text)]


def _fires(matcher: Matcher, fault: Fault, text: str, gate: RegexSet) -> Iterator[Problem]:
    ids = matcher.match(text)
    if fault.id not in ids:
        yield Problem(fault.id, "does not match its own example", text)
        return
    before = [other for other in ids[: ids.index(fault.id)] if matcher.library[other].role is FaultRole.ROOT]
    if before:
        yield Problem(fault.id, f"comes after the root entry {before[0]}", text)
    if fault.role is not FaultRole.BENIGN and not any(gate.Match(line) for line in text.split("\n")):
        yield Problem(fault.id, "no line of the example passes the gate", text)


def _silent(matcher: Matcher, fault: Fault, text: str) -> Iterator[Problem]:
    if fault.id in matcher.match(text):
        yield Problem(fault.id, "matches an example that it must not match", text)


def _healthy(matcher: Matcher, line: str) -> Iterator[Problem]:
    for fault_id in matcher.match(line):
        if matcher.library[fault_id].role is FaultRole.ROOT:
            yield Problem(fault_id, "matches a line of a healthy run", line)


def _grave(library: Library) -> Iterator[Fault]:
    """Entries that must not be missed; a benign line may stay outside the gate."""
    return (fault for fault in library if fault.role is not FaultRole.BENIGN)


def _gate_problems(matcher: Matcher) -> list[Problem]:
    examples = [text for fault in _grave(matcher.library) for text in fault.examples.match]
    lines = pl.Series(examples, dtype=pl.String).str.split("\n")
    gate = matcher.gate()
    try:
        passed = lines.list.eval(pl.any_horizontal(pl.element().str.contains(regex) for regex in gate))
    except pl.exceptions.PolarsError as error:
        return [Problem("*", "the gate is not valid in Rust", str(error)[:300])]
    silent = [text for text, ok in zip(examples, passed.list.any(), strict=True) if not ok]
    return [Problem("*", "Rust's gate misses an example", text) for text in silent]
