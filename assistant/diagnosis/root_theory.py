"""The theory that an exhibit shows the start: an error that the library knows as a possible root."""

from __future__ import annotations

from assistant.case.vocabulary import Confidence, EvidenceClass
from assistant.diagnosis.blame import judge
from assistant.diagnosis.initiating import Weighed
from assistant.diagnosis.theory import Bench, Theory
from assistant.faults.models import FaultRole, Specificity

CLEAR = 1.0
"""Weight by which the first theory must lead to be beyond doubt."""


def root_theory(bench: Bench) -> Theory | None:
    """The likeliest root among the exhibits, or None where none can be a root."""
    roots = [w for w in bench.weighed if w.group.fault is not None]
    if not roots:
        return None
    best = roots[0]
    fault = best.group.fault
    assert fault is not None
    judgement = judge(best.group, bench, best.reasons)
    rivals = tuple(w for w in roots[1:] if w.group.fault and w.group.fault.cause != fault.cause)
    confidence = _confidence(best, rivals)
    settled = confidence is Confidence.HIGH or not fault.settles
    return Theory(
        cause=fault.cause,
        title=fault.title,
        confidence=confidence,
        evidence_class=EvidenceClass.LOGS if settled else EvidenceClass.NEEDS_MEASUREMENT,
        blamed=judgement.blamed,
        nobody=judgement.nobody,
        group=best.group,
        fault=fault,
        reasons=best.reasons,
        missing=() if settled else fault.settles,
        rivals=rivals[:3],
    )


def _confidence(best: Weighed, rivals: tuple[Weighed, ...]) -> Confidence:
    fault = best.group.fault
    generic = best.group.first.specificity is Specificity.GENERIC or fault is None
    lead = best.weight - rivals[0].weight if rivals else CLEAR
    if fault is not None and fault.role is FaultRole.CONFIRMATION:
        return Confidence.MEDIUM if lead >= CLEAR else Confidence.LOW
    if generic:
        return Confidence.MEDIUM if lead >= CLEAR else Confidence.LOW
    return Confidence.HIGH if lead >= CLEAR else Confidence.MEDIUM
