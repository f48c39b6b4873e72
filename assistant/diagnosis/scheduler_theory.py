"""The theory that the job was stopped from outside: time limit, preemption, a person, a lost node."""

from __future__ import annotations

from assistant.case.vocabulary import Confidence, EvidenceClass
from assistant.diagnosis.blame import judge
from assistant.diagnosis.initiating import Weighed
from assistant.diagnosis.order import earlier
from assistant.diagnosis.theory import Bench, Theory
from assistant.faults.models import FaultRole

STATED = ("scheduler.time_limit", "scheduler.preempted", "scheduler.node_fail", "scheduler.evicted")
"""Stops whose reason the log states; they outrank a bare "cancelled"."""


def is_stop(weighed: Weighed) -> bool:
    """Whether a group is a stop from outside."""
    fault = weighed.group.fault
    return fault is not None and fault.cause.startswith("scheduler.")


def scheduler_theory(bench: Bench) -> Theory | None:
    """A stop from outside that no failure preceded, or None."""
    stops = [w for w in bench.weighed if is_stop(w)]
    if not stops:
        return None
    best = min(stops, key=lambda w: (_cause(w) not in STATED, -w.weight))
    fault = best.group.fault
    assert fault is not None
    judgement = judge(best.group, bench, best.reasons)
    return Theory(
        cause=fault.cause,
        title=fault.title,
        confidence=Confidence.HIGH if fault.role is FaultRole.ROOT else Confidence.MEDIUM,
        evidence_class=EvidenceClass.LOGS,
        blamed=judgement.blamed,
        nobody=judgement.nobody,
        group=best.group,
        fault=fault,
        reasons=("no failure of the job precedes it",),
    )


def stopped_first(bench: Bench, other: Theory) -> bool:
    """Whether the stop came before whatever else failed, which then merely follows from it."""
    stops = [w.group for w in bench.weighed if is_stop(w)]
    if other.group is None:
        return _before_all_waiting(bench)
    return any(earlier(stop.first.record, other.group.first.record) is True for stop in stops)


def _before_all_waiting(bench: Bench) -> bool:
    stops = [w.group.first.record for w in bench.weighed if is_stop(w)]
    waits = [g.first.record for g in bench.groups if g.waits]
    return bool(stops) and all(any(earlier(stop, wait) is True for stop in stops) for wait in waits)


def _cause(weighed: Weighed) -> str:
    return weighed.group.fault.cause if weighed.group.fault else ""
