"""Further failures that the first one does not explain."""

from __future__ import annotations

from assistant.case.models import Failure
from assistant.case.vocabulary import Confidence, EvidenceClass
from assistant.diagnosis.blame import judge
from assistant.diagnosis.initiating import Weighed
from assistant.diagnosis.ledger import Ledger
from assistant.diagnosis.models import Group
from assistant.diagnosis.order import earlier
from assistant.diagnosis.theory import Bench, Theory
from assistant.diagnosis.verdict import failed, suspects
from assistant.faults.models import FaultRole, Specificity

MOST = 3


def further_failures(theory: Theory, bench: Bench, ledger: Ledger) -> tuple[Failure, ...]:
    """Independent roots: well known, elsewhere, of another layer, and before any consequence could reach them."""
    if theory.group is None:
        return ()
    independent = [w for w in bench.weighed if _independent(w.group, theory, bench)]
    return tuple(_failure(weighed, bench, ledger) for weighed in independent[:MOST])


def _independent(group: Group, theory: Theory, bench: Bench) -> bool:
    fault, first = group.fault, theory.group
    if fault is None or first is None or group is first or fault.role is not FaultRole.ROOT:
        return False
    if fault.specificity is Specificity.GENERIC or fault.cause.split(".")[0] == theory.cause.split(".")[0]:
        return False
    if theory.fault is not None and fault.id in theory.fault.explains:
        return False
    if group.ranks & first.ranks or not group.ranks:
        return False
    return _before_consequences(group, bench)


def _before_consequences(group: Group, bench: Bench) -> bool:
    victims = [g for g in bench.groups if g.role in (FaultRole.CASCADE, FaultRole.TEARDOWN)]
    return all(earlier(group.first.record, victim.first.record) is not False for victim in victims)


def _failure(weighed: Weighed, bench: Bench, ledger: Ledger) -> Failure:
    fault = weighed.group.fault
    assert fault is not None
    judgement = judge(weighed.group, bench, weighed.reasons)
    theory = Theory(
        cause=fault.cause,
        title=fault.title,
        confidence=Confidence.MEDIUM,
        evidence_class=EvidenceClass.NEEDS_MEASUREMENT if fault.settles else EvidenceClass.LOGS,
        blamed=judgement.blamed,
        nobody=judgement.nobody,
        group=weighed.group,
        fault=fault,
        reasons=weighed.reasons,
        missing=fault.settles,
    )
    return Failure(verdict=failed(theory, bench, ledger), suspects=suspects(theory, ledger))
