"""list_events: the failure-indicating events with their roles."""

from __future__ import annotations

from pydantic import Field

from assistant.case.models import EventReport
from assistant.case.text import clean, plural, ranges
from assistant.case.vocabulary import Role, Stage
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found, limited, nothing, quoted
from assistant.tools.models import Arguments


class EventArguments(Arguments):
    """Which events."""

    role: Role | None = None
    """initiating (what came first), cascade (victims), teardown, context."""
    node: str | None = None
    rank: int | None = Field(default=None, ge=0)
    stage: Stage | None = None
    """Only events that happened in this stage; needs the logs."""
    text: str | None = None
    """Only events whose template holds this text."""
    limit: int = Field(default=20, ge=1, le=200)


def list_events(desk: Desk, arguments: Arguments) -> Finding:
    """The events that fit, the most telling first."""
    assert isinstance(arguments, EventArguments)
    events = [event for event in desk.case.events if _fits(event, arguments)]
    if arguments.stage is not None:
        staged = _in_stage(desk, arguments.stage)
        events = [event for event in events if event.id in staged]
    if not events:
        return nothing("No failure-indicating event fits.")
    rows, rest = limited([_row(event) for event in events], arguments.limit, "raise `limit`, or filter")
    cited = {name for event in events[: arguments.limit] for name in event.evidence[:1]}
    evidence = [item for item in desk.case.evidence if item.id in cited]
    return found([*rows, "Their first lines:", *map(quoted, evidence)], evidence, omitted=rest)


def _fits(event: EventReport, wanted: EventArguments) -> bool:
    return (
        wanted.role in (None, event.role)
        and (wanted.node is None or wanted.node in event.nodes)
        and (wanted.rank is None or wanted.rank in event.ranks)
        and (wanted.text is None or wanted.text.lower() in event.template.lower())
    )


def _in_stage(desk: Desk, stage: Stage) -> set[str]:
    scan = desk.examination.reading.scan
    return {
        scan.templates[item.record.template].id
        for item in scan.indicators
        if item.record.stage == stage.value and item.record.template >= 0
    }


def _row(event: EventReport) -> str:
    where = [f"ranks {ranges(event.ranks)}" if event.ranks else "", ", ".join(event.nodes[:6])]
    cited = f" [{', '.join(event.evidence[:4])}]" if event.evidence else ""
    told = "; ".join(filter(None, [*where, clean(event.why)]))
    return f"{event.role.value}: {plural(event.count, 'time')}: {clean(event.template)[:240]} ({clean(told)}){cited}"


LIST_EVENTS = Tool(
    "list_events",
    "The failure-indicating events of the job with role, count, ranks and nodes; can be filtered.",
    EventArguments,
    list_events,
)
