"""What differs between two revisions of a case, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from assistant.case.models import Case, Evidence
from assistant.case.text import clean, place, plural

MOST = 8


def changes(before: Case, after: Case) -> list[str]:
    """One sentence a difference; says so where there is none."""
    found = [
        *_verdict(before, after),
        *_suspects(before, after),
        *_events(before, after),
        *_nodes(before, after),
        *_missing(before, after),
    ]
    return found or ["The verdict, the suspects and the events are the same as before."]


def _verdict(before: Case, after: Case) -> Iterator[str]:
    old, new = before.verdict, after.verdict
    if old.cause != new.cause:
        yield f"The cause was {old.cause} and is now {new.cause}: {clean(new.statement)}"
    elif old.statement != new.statement:
        yield f"The cause is still {new.cause}; it now reads: {clean(new.statement)}"
    if old.confidence != new.confidence:
        yield f"The confidence was {_or_none(old.confidence)} and is now {_or_none(new.confidence)}."
    if old.iteration != new.iteration and new.iteration is not None:
        yield f"The failure is now placed at iteration {new.iteration}."
    if old.action.kind != new.action.kind:
        yield f"What to do was {old.action.kind} and is now {new.action.kind}: {clean(new.action.text)}"


def _suspects(before: Case, after: Case) -> Iterator[str]:
    old, new = [place(one) for one in before.suspects], [place(one) for one in after.suspects]
    if old != new:
        yield f"Blamed was {_listed(old)}; now it is {_listed(new)}."


def _events(before: Case, after: Case) -> Iterator[str]:
    old = {event.id: event for event in before.events}
    new = {event.id: event for event in after.events}
    added = [event for name, event in new.items() if name not in old]
    for event in added[:MOST]:
        yield f"New event ({event.role}, {plural(event.count, 'time')}): {clean(event.template)[:200]}"
    if len(added) > MOST:
        yield f"{len(added) - MOST} more events are new."
    gone = [name for name in old if name not in new]
    if gone:
        yield f"{plural(len(gone), 'event')} of before {'is' if len(gone) == 1 else 'are'} no longer reported."
    moved = [event for name, event in new.items() if name in old and old[name].role != event.role]
    for event in moved[:MOST]:
        yield f"An event is now {event.role} instead of {old[event.id].role}: {clean(event.template)[:200]}"


def _nodes(before: Case, after: Case) -> Iterator[str]:
    old = {node.node: node.state for node in before.nodes}
    for node in after.nodes:
        if node.node in old and old[node.node] != node.state:
            yield f"Node {clean(node.node)} was {_state(old[node.node])} and is now {_state(node.state)}."
    added = [clean(node.node) for node in after.nodes if node.node not in old]
    if added:
        yield f"New in the logs: {_listed(added)}."


def _missing(before: Case, after: Case) -> Iterator[str]:
    settled = [item for item in before.verdict.missing if item not in after.verdict.missing]
    for item in settled[:MOST]:
        yield f"No longer missing: {clean(item)}"


def new_evidence(before: Case, after: Case) -> tuple[Evidence, ...]:
    """The log lines that only the later revision cites."""
    old = {(item.source, item.line, item.text) for item in before.evidence}
    return tuple(item for item in after.evidence if (item.source, item.line, item.text) not in old)


def _or_none(value: object) -> str:
    return "none" if value is None else str(value)


def _state(state: object) -> str:
    return str(state).replace("_", " ")


def _listed(names: list[str]) -> str:
    if not names:
        return "nobody"
    return ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
