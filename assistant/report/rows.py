"""A Case as labelled rows of text: what a report says, before it is laid out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.case.models import Action, Candidate, Case, Evidence, NodeReport
from assistant.case.text import clean, excerpt, more, place, plural, ranges, tail
from assistant.case.vocabulary import ActionKind, NodeState, Status
from assistant.report.text import CONFIDENCE, cited, context

LIMIT = 64
"""Rows of any one list, in the longest report too; all of it is in the JSON."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item of a report. Rows of one section share its label, which is printed once."""

    label: str
    text: str
    style: str = ""
    indent: int = 0
    lines: int = 2
    """Lines it may fill before it is cut."""
    joins: bool = False
    """Goes to the end of the line before it, where there is room."""


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of each section is shown."""

    why: int
    suspects: int
    steps: int
    evidence: int
    missing: int
    alternatives: int = 0
    states: bool = True
    lines: int = 2
    """Lines that one item may fill."""
    line_rows: int = 1
    """Rows that one cited log line may fill; the first may fill two where any item may."""
    complete: bool = False
    """Nothing is left out; `details` follows and tells the rest."""


def headline(case: Case) -> str:
    """The verdict in one line."""
    verdict = case.verdict
    if case.status is Status.HEALTHY:
        return "HEALTHY · nothing failed"
    cause = "cause not determined" if verdict.cause in ("unknown", "none") else verdict.cause
    parts = [case.status.value.upper(), cause]
    parts += [f"confidence {CONFIDENCE[verdict.confidence]}"] if verdict.confidence else []
    return " · ".join(parts)


def summary(case: Case, detail: Detail, width: int) -> Iterator[Row]:
    """The sections of the report that fits one screen."""
    yield Row("", clean(case.verdict.statement), "bold", lines=detail.lines)
    yield Row("", " · ".join(context(case)), "dim", lines=detail.lines)
    yield from _listed("Why", case.verdict.why, detail.why, detail.lines)
    yield from suspects(case, detail)
    yield from action(case.verdict.action, detail)
    yield from evidence(cited(case), detail, width)
    yield from _listed("Missing", case.verdict.missing, detail.missing, detail.lines)
    yield from alternatives(case, detail)
    if not detail.complete:
        yield from _brief(case, detail, width)


def _brief(case: Case, detail: Detail, width: int) -> Iterator[Row]:
    if detail.states and case.nodes:
        yield Row("Nodes", states(case.nodes) + _behind(case.nodes), lines=1)
    if case.failures:
        first = case.failures[0].verdict
        yield Row("Also", _first_of(len(case.failures), "failure", f"{first.cause}: {clean(first.statement)}"), lines=1)
    if case.not_read:
        gap = case.not_read[0]
        named = f"{tail(gap.source, width // 2)}: {clean(gap.why)}"
        yield Row("Not read", _first_of(len(case.not_read), "source", named), "yellow", lines=detail.lines)


def _behind(nodes: Sequence[NodeReport]) -> str:
    """The nodes that came least far, where they did not all come equally far."""
    reached = {clean(node.node): node.last_iteration for node in nodes if node.last_iteration is not None}
    least, most = min(reached.values(), default=0), max(reached.values(), default=0)
    slow = [name for name, iteration in reached.items() if iteration == least]
    if least == most or len(slow) > 3:
        return ""
    return f"; last iteration {most}, but {least} on {', '.join(slow)}"


def _first_of(count: int, noun: str, first: str) -> str:
    return first if count == 1 else f"{plural(count, noun)}, the first: {first}"


def suspects(case: Case, detail: Detail) -> Iterator[Row]:
    """Who is blamed, or that nobody is."""
    if not case.suspects and case.status in (Status.FAILED, Status.INCOMPLETE):
        yield Row("Suspect", "nobody is blamed", lines=1)
    label = "Suspect" if len(case.suspects) == 1 else "Suspects"
    for candidate in case.suspects[: detail.suspects]:
        yield Row(label, blamed(candidate), lines=detail.lines)
    if rest := more(case.suspects, detail.suspects):
        yield _rest(label, rest)


def blamed(candidate: Candidate) -> str:
    """A node, rank or device with its score and reasons."""
    reasons = clean("; ".join(candidate.reasons))
    cites = f" ({', '.join(candidate.evidence)})" if candidate.evidence else ""
    return f"{place(candidate) or 'unknown'} ({candidate.score:.2f}): {reasons}{cites}"


def action(wanted: Action, detail: Detail) -> Iterator[Row]:
    """The one thing to do, with its first steps."""
    if wanted.kind is ActionKind.NONE:
        return
    kind = wanted.kind.value.replace("_", " ")
    yield Row("Do now", f"{kind}: {clean(wanted.text)}", "bold", lines=detail.lines)
    for number, step in enumerate(wanted.steps[: detail.steps], 1):
        of = f"/{len(wanted.steps)}" if detail.steps == 1 < len(wanted.steps) else "."
        yield Row("Do now", f"{number}{of} {clean(step.text)}", lines=detail.lines)
        if step.command:
            yield Row("Do now", f"$ {clean(step.command)}", "cyan", indent=3, lines=detail.lines)
        for word, value in (
            (("risk", step.risk), ("verify", step.verify), ("undo", step.undo)) if detail.complete else ()
        ):
            if value:
                yield Row("Do now", f"{word}: {clean(value)}", "dim", indent=3, lines=detail.lines)
    if detail.steps > 1 and (rest := more(wanted.steps, detail.steps)):
        yield Row("Do now", f"{rest} steps", "dim")


def evidence(found: Sequence[Evidence], detail: Detail, width: int) -> Iterator[Row]:
    """Cited lines: where each stands, and the line itself."""
    for number, item in enumerate(found[: detail.evidence]):
        where = f":{item.line}"
        known = f"  {place(item)}" if place(item) else ""
        room = max(20, width - len(item.id) - len(where) - len(known) - 1)
        yield Row("Evidence", f"{item.id} {tail(item.source, room)}{where}{known}", lines=1)
        rows = max(detail.line_rows, min(2, detail.lines)) if number == 0 else detail.line_rows
        yield Row("Evidence", excerpt(item.text, (width - 3) * rows), "cyan", indent=3, lines=rows)
    if rest := more(found, detail.evidence):
        yield _rest("Evidence", rest)


def alternatives(case: Case, detail: Detail) -> Iterator[Row]:
    """What the evidence does not rule out."""
    found = case.verdict.alternatives
    for other in found[: detail.alternatives]:
        cites = f" ({', '.join(other.evidence)})" if other.evidence else ""
        yield Row("Or else", f"{other.cause}: {clean(other.why)}{cites}", lines=detail.lines)


def states(nodes: Sequence[NodeReport]) -> str:
    """How many nodes are in which state, the affected ones by name."""
    parts = []
    for state in NodeState:
        names = [clean(node.node) for node in nodes if node.state is state]
        if names:
            named = f" ({', '.join(names[:4])}{', …' if len(names) > 4 else ''})" if state is NodeState.AFFECTED else ""
            parts.append(f"{len(names)} {state.value}{named}")
    return ", ".join(parts)


def _listed(label: str, items: Sequence[str], shown: int, lines: int) -> Iterator[Row]:
    for item in items[:shown]:
        yield Row(label, clean(item), lines=lines)
    if rest := more(items, shown):
        yield _rest(label, rest)


def _rest(label: str, text: str) -> Row:
    return Row(label, text, "dim", joins=True)


def details(case: Case) -> Iterator[Row]:
    """What `-v` adds: everything else that is known, each list bounded."""
    yield from _candidates(case)
    yield from _nodes(case)
    yield from _events(case)
    for attempt in case.attempts:
        last = "" if attempt.last_iteration is None else f", last iteration {attempt.last_iteration}"
        span = f", {attempt.started or '?'} to {attempt.ended or '?'}" if attempt.started or attempt.ended else ""
        yield Row("Attempts", clean(f"{attempt.number}: {attempt.outcome}{last}{span}"))
    for pattern in case.patterns:
        yield Row("Patterns", clean(f"{pattern.name}: {'ran' if pattern.ran else 'did not run'}; {pattern.note}"))
    yield from _listed("Notes", case.notes, LIMIT, 9)
    yield from _listed("Not read", [f"{gap.source}: {gap.why}" for gap in case.not_read], LIMIT, 9)
    size = f"{case.timing.bytes:,} bytes in {case.timing.seconds:.2f} s"
    yield Row("Read", size, "dim")


def _candidates(case: Case) -> Iterator[Row]:
    for candidate in case.candidates[:8]:
        yield Row("Ranked", blamed(candidate), lines=9)
    if rest := more(case.candidates, 8):
        yield _rest("Ranked", rest)


def _nodes(case: Case) -> Iterator[Row]:
    order = list(NodeState)
    for node in sorted(case.nodes, key=lambda node: order.index(node.state))[:LIMIT]:
        ranks = f", ranks {ranges(node.ranks)}" if node.ranks else ""
        last = "" if node.last_iteration is None else f", last iteration {node.last_iteration}"
        why = f": {node.why}" if node.why else ""
        yield Row("Nodes", clean(f"{node.node} {node.state.value}{ranks}{last}{why}"), lines=9)
    if rest := more(case.nodes, LIMIT):
        yield _rest("Nodes", rest)


def _events(case: Case) -> Iterator[Row]:
    for event in case.events[:LIMIT]:
        ranks = f", ranks {ranges(event.ranks)}" if event.ranks else ""
        why = f"; {event.why}" if event.why else ""
        yield Row("Events", clean(f"{event.role.value}, {plural(event.count, 'time')}{ranks}{why}"), lines=9)
        yield Row("Events", clean(event.template), "cyan", indent=3, lines=3)
    if rest := more(case.events, LIMIT):
        yield _rest("Events", rest)
