"""The failure-indicating events, each with its role and the reason it is reported."""

from __future__ import annotations

from assistant.case.models import EventReport
from assistant.case.vocabulary import Role
from assistant.diagnosis.ledger import Ledger
from assistant.diagnosis.models import Exhibit, Group
from assistant.diagnosis.theory import Bench, Theory
from assistant.events.miner import parameters
from assistant.faults.models import FaultRole
from assistant.patterns.models import EventScore

MOST = 60
"""Events reported at most; the initiating one always is."""
CITED = 3
FACETED = 5
"""Occurrences of an event whose parameter values are reported."""
KEY_LINES = 20
"""Last lines of a record among which its key line is looked for."""
TELLING = 0.9
"""Score from which on a pattern's event is reported although the library does not know it."""

ROLES = {
    FaultRole.ROOT: Role.INITIATING,
    FaultRole.CONFIRMATION: Role.CONTEXT,
    FaultRole.CASCADE: Role.CASCADE,
    FaultRole.TEARDOWN: Role.TEARDOWN,
}


def event_reports(theory: Theory | None, bench: Bench, ledger: Ledger) -> tuple[EventReport, ...]:
    """Events in order of their first occurrence, the initiating one first."""
    if theory is None:
        return ()
    known = [_from_group(group, theory, bench, ledger) for group in bench.groups if group.fault is not None]
    reported = {report.id for report in known}
    novel = [r for r in _from_patterns(bench, ledger) if r.id not in reported]
    ordered = sorted(known + novel, key=lambda report: report.role is not Role.INITIATING)
    return tuple(ordered[:MOST])


def _from_group(group: Group, theory: Theory, bench: Bench, ledger: Ledger) -> EventReport:
    template = bench.findings.scan.templates[group.first.record.template]
    fault = group.fault
    return EventReport(
        id=template.id if group.first.record.template >= 0 else group.key,
        template=template.text,
        role=_role(group, theory),
        count=group.count,
        nodes=tuple(sorted(group.nodes)),
        ranks=tuple(sorted(group.ranks)),
        evidence=tuple(ledger.cite_exhibit(exhibit) for exhibit in _telling(group.exhibits)),
        parameters=_facets(template.text, group.exhibits),
        why=fault.title if fault else "",
        fault=fault.id if fault else None,
        score=1.0,
    )


def _role(group: Group, theory: Theory) -> Role:
    if group is theory.group:
        return Role.INITIATING
    if group.fault is None:
        return Role.CONTEXT
    if group.fault.role is FaultRole.ROOT:
        same = theory.fault is not None and group.fault.cause == theory.cause
        return Role.INITIATING if same else Role.CASCADE
    return ROLES.get(group.fault.role, Role.CONTEXT)


def _facets(template: str, exhibits: tuple[Exhibit, ...]) -> tuple[tuple[str, ...], ...]:
    """The values behind the masks: which device, size or path. The template is that of the record's key line."""
    found = (_values(template, exhibit.record.text) for exhibit in exhibits[:FACETED])
    return tuple(dict.fromkeys(values for values in found if values))


def _values(template: str, text: str) -> tuple[str, ...]:
    lines = text.splitlines()
    return next((values for line in reversed(lines[-KEY_LINES:]) if (values := parameters(template, line))), ())


def _telling(exhibits: tuple[Exhibit, ...]) -> tuple[Exhibit, ...]:
    """First exhibits of different ranks, so that the evidence shows the spread."""
    seen: dict[tuple[int | None, str | None], Exhibit] = {}
    for exhibit in exhibits:
        seen.setdefault((exhibit.writer.rank, exhibit.writer.node), exhibit)
    return tuple(list(seen.values())[:CITED])


def _from_patterns(bench: Bench, ledger: Ledger) -> list[EventReport]:
    scores = {e.template: e for e in bench.findings.cross_job.events if e.score >= TELLING}
    unexplained = [g for g in bench.groups if g.fault is None and g.first.record.template in scores]
    return [_novel(group, scores[group.first.record.template], bench, ledger) for group in unexplained]


def _novel(group: Group, score: EventScore, bench: Bench, ledger: Ledger) -> EventReport:
    template = bench.findings.scan.templates[score.template]
    return EventReport(
        id=template.id,
        template=template.text,
        role=Role.CONTEXT,
        count=group.count,
        nodes=tuple(sorted(group.nodes)),
        ranks=tuple(sorted(group.ranks)),
        evidence=tuple(ledger.cite_exhibit(exhibit) for exhibit in _telling(group.exhibits)),
        parameters=_facets(template.text, group.exhibits),
        why=score.why,
        score=round(score.score, 3),
    )
