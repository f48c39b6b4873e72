"""Does the library keep its promises? Schema, references, examples against all entries, healthy logs, hostile text.

An entry that does not do what it claims cannot ship: `rootrank knowledge check` and the tests run all of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from assistant.errors import InputError
from assistant.faults.hostile import LIMIT, Pattern, slow_patterns
from assistant.faults.library import Library, load_library
from assistant.faults.matcher import Matcher
from assistant.faults.models import Fault, FaultRole, Specificity
from assistant.faults.problems import Problem
from assistant.intake.discover import discover
from assistant.intake.reader import read_many
from assistant.intake.regexes import RegexSet, compile_set
from assistant.paths import locate

LONGEST_LINE = 4096
"""Characters of a healthy line that are looked at."""

_NARROW = "Narrow the regex, or use `requires` and `excludes`."
_ORDER = "Make one of the two narrower or more specific, or name the other in `explains` or `beside`."


def check_library(
    library: Library | None = None,
    healthy_lines: Iterable[str] | None = None,
    *,
    healthy: Sequence[Path] | None = None,
    limit: float | None = None,
) -> list[Problem]:
    """Everything wrong with the library; an empty list means it keeps its promises.

    Args:
        library: by default that of `knowledge/faults`, a user's own folder over it, read leniently.
        healthy_lines: lines of runs that ended well: none may match an entry that stands for a root cause.
        healthy: files and folders of such runs; by default the bundled ones where no library is given.
        limit: seconds that each pattern may take on hostile text; None tries that only where no library is given.

    Raises KnowledgeError where there is no entry at all.
    """
    whole = library is None
    library = library or load_library(strict=False)
    matcher = Matcher(library)
    problems = list(library.left_out)
    problems += [problem for fault in library for problem in check_fault(matcher, fault)]
    problems += [*_gate_problems(matcher), *_twins(library), *_unsorted(library)]
    problems += [problem for line in healthy_lines or () for problem in _healthy(matcher, line)]
    places = bundled_healthy() if healthy is None and whole else healthy or ()
    problems += [problem for place in places for problem in check_healthy(matcher, place)]
    if whole or limit is not None:
        problems += check_speed(library, LIMIT if limit is None else limit)
    return [_placed(library, problem) for problem in problems]


def check_fault(matcher: Matcher, fault: Fault) -> list[Problem]:
    """What is wrong with one entry's examples, held against all entries."""
    gate = compile_set(matcher.gate())
    wrong = [problem for text in fault.examples.match for problem in _fires(matcher, fault, text, gate)]
    return wrong + [problem for text in fault.examples.no_match for problem in _silent(matcher, fault, text)]


def check_healthy(matcher: Matcher, place: Path) -> Iterator[Problem]:
    """Roots that fire in a file, folder or archive of a run that ended well, each entry once a file."""
    said: set[tuple[str, str]] = set()
    for source, number, line in _lines(place):
        for problem in _healthy(matcher, line):
            if (problem.fault, source) not in said:
                said.add((problem.fault, source))
                yield replace(problem, message=f"matches line {number} of {source} in the healthy run {place}")


def _lines(place: Path) -> Iterator[tuple[str, int, str]]:
    """Source, number and text of every line; a place without a readable log has none."""
    try:
        sources = discover([str(place)]).sources
    except InputError:
        return
    for block in read_many(sources, lambda unread: None):
        for number, line in enumerate(block.data.decode("utf-8", "replace").split("\n"), start=block.line):
            yield block.source.name, number, line.rstrip("\r")


def check_speed(library: Library, limit: float = LIMIT) -> list[Problem]:
    """Patterns that take more than `limit` seconds on hostile text."""
    patterns = [Pattern(fault.id, regex) for fault in library for regex in _regexes(fault)]
    remedy = "Write its counted repetitions smaller."
    message = f"takes more than {limit:g} s on hostile text"
    return [Problem(slow.name, message, slow.regex, remedy=remedy) for slow in slow_patterns(patterns, limit)]


def bundled_healthy() -> list[Path]:
    """The healthy runs among the examples that ship, and in a user's own folder."""
    return [path for folder in locate("knowledge") for path in sorted((folder / "examples").glob("*healthy*"))]


def _regexes(fault: Fault) -> Iterator[str]:
    for signature in fault.signatures:
        yield from (signature.regex, *signature.requires, *signature.excludes)


def _placed(library: Library, problem: Problem) -> Problem:
    """The problem with the place of its entry, where it names none itself."""
    place = library.places.get(problem.fault)
    return problem if problem.file or place is None else replace(problem, file=place.file, line=place.line)


def _fires(matcher: Matcher, fault: Fault, text: str, gate: RegexSet) -> Iterator[Problem]:
    ids = matcher.match(text)
    if fault.id not in ids:
        remedy = "Widen the regex until it matches, or correct the example."
        yield Problem(fault.id, "does not match its own example", text, remedy=remedy)
        return
    before = ids[: ids.index(fault.id)]
    for other in ids:
        if _contests(matcher.library[other], fault, first=other in before):
            order = "comes after" if other in before else "shares its example with"
            yield Problem(fault.id, f"{order} the root entry {other}", text, remedy=_ORDER)
    if fault.role is not FaultRole.BENIGN and not any(gate.Match(line) for line in text.split("\n")):
        yield Problem(
            fault.id, "no line of the example passes the gate", text, remedy="Give the signature a fixed word."
        )


def _contests(other: Fault, fault: Fault, *, first: bool) -> bool:
    """Whether `other` may not match an example of `fault`; a generic root may, as long as it does not come first."""
    if other.id == fault.id or other.role is not FaultRole.ROOT:
        return False
    if other.id in (*fault.explains, *fault.beside) or fault.id in (*other.explains, *other.beside):
        return False
    return first or other.specificity is not Specificity.GENERIC


def _silent(matcher: Matcher, fault: Fault, text: str) -> Iterator[Problem]:
    if fault.id in matcher.match(text):
        yield Problem(fault.id, "matches an example that it must not match", text, remedy=_NARROW)


def _healthy(matcher: Matcher, line: str) -> Iterator[Problem]:
    for fault_id in matcher.match(line[:LONGEST_LINE]):
        if matcher.library[fault_id].role is FaultRole.ROOT:
            yield Problem(fault_id, "matches a line of a healthy run", line[:LONGEST_LINE], remedy=_NARROW)


def _twins(library: Library) -> Iterator[Problem]:
    """Roots that would match exactly the same."""
    seen: dict[tuple[str, tuple[str, ...], tuple[str, ...]], str] = {}
    for fault in library:
        for signature in fault.signatures:
            first = seen.setdefault((signature.regex, signature.requires, signature.excludes), fault.id)
            if first != fault.id:
                remedy = "Take the signature out of one of the two."
                yield Problem(fault.id, f"has a signature of the entry {first} too", signature.regex, remedy=remedy)


def _unsorted(library: Library) -> Iterator[Problem]:
    for fault in library:
        if fault.axes is None:
            yield Problem(fault.id, "has no `axes`", remedy="Sort it by the words of assistant/faults/axes.py.")


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
