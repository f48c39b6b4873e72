"""New evidence in a conversation, and a conversation taken up again: results that stand before the first call."""

from __future__ import annotations

from collections.abc import Iterator

from assistant.answers.grounding import check, known_from
from assistant.answers.models import AnswerEvent, Hypothesis, Text, ToolFinished, ToolStarted
from assistant.answers.sessions import Answered, Session
from assistant.case.changes import changes, new_evidence
from assistant.case.models import Case
from assistant.case.text import clean
from assistant.tools.calls import Calls
from assistant.tools.models import ToolResult

CHANGES = "changes"
"""Name of the result that says what a new revision changed; no tool that could be asked."""
SHOWN_LINES = 10


def announced(calls: Calls, before: Case, files: tuple[str, ...]) -> Iterator[AnswerEvent]:
    """Says what the desk's case changed against an earlier revision. Every sentence is checked like any other."""
    after = calls.desk.case
    said = changes(before, after)
    added = new_evidence(before, after)[:SHOWN_LINES]
    given = ", ".join(clean(file) for file in files)
    rows = [f"Revision {after.revision} of {after.case}, with {given}.", *said]
    rows += [f"[{item.id}] {clean(item.source)}:{item.line} | {clean(item.text)[:300]}" for item in added]
    result = calls.add(CHANGES, {"files": list(files)}, "\n".join(rows), added)
    name = result.id
    yield ToolStarted(call=name, tool=CHANGES, arguments=result.arguments)
    yield ToolFinished(call=name, tool=CHANGES, status=result.status, text=result.text, evidence=added)
    lines = [f"With {given} this is revision {after.revision}: what changed [{name}].", *said]
    for number, line in enumerate(lines, start=1):
        text = f"{line}\n\n" if number == 1 else f"- {line.rstrip('.')} [{name}].\n"
        yield _checked(calls, number, text + ("\n" if number == len(lines) else ""))


def _checked(calls: Calls, number: int, text: str) -> Text:
    found = check(text, known_from(calls))
    return Text(
        number=number, text=text, standing=found.standing, citations=found.citations, problems=found.problems
    )  # fmt: skip


def restored(calls: Calls, session: Session) -> dict[str, Hypothesis]:
    """Puts the results of a session back, so that what was cited stays citable; returns its hypotheses."""
    asked: dict[str, ToolStarted] = {}
    kept: dict[str, Hypothesis] = {}
    for line in session.lines:
        event = line.event if isinstance(line, Answered) else None
        if isinstance(event, ToolStarted):
            asked[event.call] = event
            calls.taken(event.call)
        elif isinstance(event, ToolFinished):
            begun = asked.get(event.call)
            calls.results[event.call] = ToolResult(
                id=event.call, tool=event.tool, arguments=begun.arguments if begun else {}, status=event.status,
                text=event.text, evidence=event.evidence, omitted=event.omitted, seconds=event.seconds,
            )  # fmt: skip
            calls.desk.shown.add(event.evidence)
        elif isinstance(event, Hypothesis):
            kept[event.id] = event
            calls.explanations[event.id] = event.cause
    return kept
