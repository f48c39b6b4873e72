"""A Case as Markdown, for tickets and chat rooms. Log text stays inside code, prose from logs is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assistant.case.models import Action, Case, Evidence, Step, Verdict
from assistant.case.text import clean, more, place, plural, ranges
from assistant.case.vocabulary import ActionKind
from assistant.report.rows import LIMIT, headline, states
from assistant.report.text import cited, context

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~$])")
_TRIGGERS = {"&": "&amp;", "@": "&#64;", "#": "&#35;"}
"""Would be read as a character code, call a person or link an issue where the text is pasted."""


def render(case: Case) -> str:
    """The whole report. The same case gives the same text, but for the line that tells how long reading took."""
    return "\n".join(_lines(case)).rstrip("\n") + "\n"


def prose(text: str) -> str:
    """`text` so that Markdown shows it as it is."""
    escaped = _SPECIAL.sub(r"\\\1", clean(text))
    return "".join(_TRIGGERS.get(character, character) for character in escaped)


def code(text: str) -> str:
    """`text` as inline code, whatever backquotes it holds."""
    text = clean(text)
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def block(text: str) -> list[str]:
    """`text` as a code block."""
    text = clean(text)
    fence = "`" * max(3, _longest_run(text) + 1)
    return [f"{fence}text", text, fence]


def _lines(case: Case) -> Iterator[str]:
    yield from (f"# {prose(headline(case))}", "", f"**{prose(case.verdict.statement)}**", "")
    yield from (" · ".join(prose(part) for part in context(case)), "")
    yield from _verdict(case.verdict, case)
    for number, failure in enumerate(case.failures, 2):
        yield from (f"## Failure {number}: {failure.verdict.cause}", "", prose(failure.verdict.statement), "")
        part = case.model_copy(update={"verdict": failure.verdict, "suspects": failure.suspects})
        yield from _verdict(failure.verdict, part, "###")
    yield from _nodes(case)
    yield from _events(case)
    yield from _section("Attempts", [prose(f"{item.number}: {item.outcome}") for item in case.attempts])
    yield from _section("Notes", [prose(note) for note in case.notes])
    yield from _section("Not read", [f"{code(gap.source)}: {prose(gap.why)}" for gap in case.not_read])
    revision = "" if case.revision == 1 else f" revision {case.revision}"
    yield f"Case {code(case.case)}{revision}, {case.timing.bytes:,} bytes read in {case.timing.seconds:.2f} s."


def _verdict(verdict: Verdict, case: Case, level: str = "##") -> Iterator[str]:
    yield from _section("Why", [prose(reason) for reason in verdict.why], level)
    blamed = [
        f"{code(place(suspect) or 'unknown')} ({suspect.score:.2f}): {prose('; '.join(suspect.reasons))}"
        for suspect in case.suspects
    ]
    yield from _section("Suspects", blamed or (["nobody is blamed"] if verdict.cause != "none" else []), level)
    yield from _action(verdict.action, level)
    yield from _evidence(cited(case), level)
    yield from _section("Missing", [prose(item) for item in verdict.missing], level)
    others = [f"{code(other.cause)}: {prose(other.why)}{_cites(other.evidence)}" for other in verdict.alternatives]
    yield from _section("Not ruled out", others, level)


def _action(action: Action, level: str) -> Iterator[str]:
    if action.kind is ActionKind.NONE:
        return
    yield from (f"{level} Do now: {action.kind.value.replace('_', ' ')}", "", prose(action.text), "")
    for number, step in enumerate(action.steps, 1):
        yield from _step(number, step)
    if action.steps:
        yield ""


def _step(number: int, step: Step) -> Iterator[str]:
    yield f"{number}. {prose(step.text)}" + (f": {code(step.command)}" if step.command else "")
    for word, value in (("Risk", step.risk), ("Verify", step.verify), ("Undo", step.undo)):
        if value:
            yield f"   - {word}: {prose(value)}"


def _evidence(found: Sequence[Evidence], level: str) -> Iterator[str]:
    if not found:
        return
    yield from (f"{level} Evidence", "")
    for item in found[:LIMIT]:
        known = ", ".join(prose(part) for part in (place(item), item.time) if part)
        yield from (f"**{item.id}** {code(f'{item.source}:{item.line}')}{f' ({known})' if known else ''}", "")
        yield from (*block(item.text), "")


def _nodes(case: Case) -> Iterator[str]:
    if not case.nodes:
        return
    yield from ("## Nodes", "", f"{prose(states(case.nodes))}.", "")
    yield from ("| node | ranks | state | last iteration |", "| --- | --- | --- | --- |")
    for node in case.nodes[:LIMIT]:
        last = "" if node.last_iteration is None else str(node.last_iteration)
        yield f"| {prose(node.node)} | {ranges(node.ranks)} | {node.state.value} | {last} |"
    yield from ("", *([more(case.nodes, LIMIT), ""] if len(case.nodes) > LIMIT else []))


def _events(case: Case) -> Iterator[str]:
    items = [
        f"{event.role.value}, {plural(event.count, 'time')}: {code(event.template)}{_cites(event.evidence)}"
        for event in case.events[:LIMIT]
    ]
    yield from _section("Events", items)


def _section(title: str, items: Iterable[str], level: str = "##") -> Iterator[str]:
    listed = [f"- {item}" for item in items]
    if listed:
        yield from (f"{level} {title}", "", *listed, "")


def _cites(evidence: Sequence[str]) -> str:
    return f" ({', '.join(evidence)})" if evidence else ""


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
