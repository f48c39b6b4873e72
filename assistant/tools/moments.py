"""timeline: what happened when, from the first attempt to the last line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl
from pydantic import Field

from assistant.case.models import Case, Evidence
from assistant.case.text import clean, place, plural
from assistant.case.vocabulary import Role
from assistant.diagnosis.ledger import iso
from assistant.errors import RootrankError
from assistant.events.models import Scan
from assistant.intake.models import MarkKind
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found, limited, nothing
from assistant.tools.models import Arguments


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened. `time` is ISO 8601 and sorts as text."""

    time: str
    text: str
    evidence: Evidence | None = None


class TimelineArguments(Arguments):
    """How much to show."""

    limit: int = Field(default=40, ge=5, le=200)


def timeline(desk: Desk, arguments: Arguments) -> Finding:
    """The moments that matter, in order of time."""
    assert isinstance(arguments, TimelineArguments)
    moments = sorted(moments_of(desk), key=lambda moment: (moment.time, moment.text))
    if not moments:
        return nothing("The logs hold no readable time; within a file, the order of lines is the order of time.")
    rows, rest = limited([_row(moment) for moment in moments], arguments.limit, "raise `limit`")
    return found(rows, (m.evidence for m in moments[: arguments.limit] if m.evidence), omitted=rest)


def moments_of(desk: Desk) -> list[Moment]:
    """All moments that are known; those of the case alone where its logs are gone."""
    found = [*_cited(desk.case), *_attempts(desk.case), *_ends(desk.case)]
    try:
        scan = desk.examination.reading.scan
    except RootrankError:
        return found
    return [*found, *_marks(scan)]


def _cited(case: Case) -> Iterator[Moment]:
    roles = {name: event.role for event in reversed(case.events) for name in event.evidence}
    for item in case.evidence:
        if item.time:
            role = roles.get(item.id, Role.CONTEXT).value
            yield Moment(item.time, f"{role}: {place(item)} [{item.id}] {clean(item.text)[:160]}", item)


def _attempts(case: Case) -> Iterator[Moment]:
    for attempt in case.attempts:
        if attempt.started:
            yield Moment(attempt.started, f"attempt {attempt.number} starts")
        if attempt.ended:
            yield Moment(attempt.ended, f"attempt {attempt.number} ends: {attempt.outcome}")


def _ends(case: Case) -> Iterator[Moment]:
    """The node that fell silent first and the one that wrote last."""
    timed = sorted((node.last_time, node.node) for node in case.nodes if node.last_time)
    for when, node in dict.fromkeys([*timed[:1], *timed[-1:]]):
        if when:
            yield Moment(when, f"last line of node {clean(node)}")


def _marks(scan: Scan) -> Iterator[Moment]:
    timed = scan.marks.filter(pl.col("time").is_not_null()).sort("time", "stream", "order")
    for kind, word in ((MarkKind.ITERATION, "iteration"), (MarkKind.CHECKPOINT, "checkpoint saved, iteration")):
        own = timed.filter(pl.col("kind") == kind.value)
        for end, row in (("first", own.head(1)), ("last", own.tail(1))):
            for when, number in row.select("time", "iteration").iter_rows():
                known = "unknown" if number is None else number
                yield Moment(iso(when) or "", f"{end} {word} {known} ({plural(own.height, 'line')})")
    for when in timed.filter(pl.col("kind") == MarkKind.GOAL.value)["time"].head(1):
        yield Moment(iso(when) or "", "the run says that it ended normally")


def _row(moment: Moment) -> str:
    return f"{moment.time}  {moment.text}"


TIMELINE = Tool(
    "timeline",
    "What happened when: attempts, iterations, checkpoints, the initiating event, the cascade, the last lines.",
    TimelineArguments,
    timeline,
)
