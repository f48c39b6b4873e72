"""From findings to a Case: the last room of the pre-stage."""

from __future__ import annotations

from assistant.case.models import Case, Job, NotRead, PatternReport, Timing
from assistant.case.vocabulary import Status
from assistant.diagnosis.attempts import OUTCOMES, attempts
from assistant.diagnosis.candidates import candidates, located
from assistant.diagnosis.choose import choose, prepare, status
from assistant.diagnosis.event_reports import event_reports
from assistant.diagnosis.further import further_failures
from assistant.diagnosis.ledger import Ledger
from assistant.diagnosis.models import Findings
from assistant.diagnosis.nodes import node_reports
from assistant.diagnosis.theory import Bench, Theory
from assistant.diagnosis.verdict import failed, not_failed, suspects
from assistant.patterns.models import PatternResult


def conclude(findings: Findings, *, name: str, seconds: float) -> Case:
    """The Case of one job. `name` is its stable id, `seconds` what the reading took."""
    bench = prepare(findings)
    theory = choose(bench)
    ended = status(bench, theory)
    ledger = Ledger(findings.scan)
    verdict = (
        failed(theory, bench, ledger) if theory else not_failed(bench, ledger, incomplete=ended is not Status.HEALTHY)
    )
    blamed = tuple(located(one, bench.people) for one in suspects(theory, ledger)) if theory else ()
    ranked = candidates(blamed, bench, ledger)
    events = event_reports(theory, bench, ledger)
    failures = further_failures(theory, bench, ledger) if theory else ()
    return Case(
        case=name,
        status=ended,
        job=_job(findings, bench, theory, ended),
        verdict=verdict,
        suspects=blamed,
        candidates=ranked,
        nodes=node_reports(theory, bench),
        failures=failures,
        attempts=attempts(bench, ended),
        events=events,
        evidence=ledger.entries(),
        patterns=tuple(_pattern(p) for p in (findings.cross_job, findings.spatial, findings.temporal)),
        notes=findings.scan.notes,
        not_read=tuple(NotRead(source=u.source, why=u.why) for u in findings.scan.unread),
        timing=Timing(seconds=round(seconds, 3), bytes=findings.scan.bytes),
    )


def _job(findings: Findings, bench: Bench, theory: Theory | None, ended: Status) -> Job:
    topology = findings.topology
    stopped = theory is not None and theory.cause.startswith("scheduler.")
    return Job(
        id=topology.job_id,
        world_size=bench.people.world_size or (len(bench.people.ranks) or None),
        nodes=topology.nodes or (len(bench.people.nodes) or None),
        framework=topology.framework,
        outcome=theory.cause.split(".")[1].replace("_", " ") if stopped and theory else OUTCOMES[ended],
        topology=topology.sizes,
    )


def _pattern(result: PatternResult) -> PatternReport:
    return PatternReport(name=result.name, ran=result.ran, note=result.note)
