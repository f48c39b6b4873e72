"""Words of a verdict that every report uses."""

from __future__ import annotations

from assistant.case.models import Case, Evidence
from assistant.case.text import clean, plural
from assistant.case.vocabulary import Confidence, EvidenceClass

CONFIDENCE = {
    Confidence.HIGH: "high (established)",
    Confidence.MEDIUM: "medium (supported)",
    Confidence.LOW: "low (a hypothesis)",
}
"""How sure a verdict is, in words."""

EVIDENCE_CLASS = {
    EvidenceClass.LOGS: "the logs show it",
    EvidenceClass.NEEDS_MEASUREMENT: "one more measurement needed",
    EvidenceClass.NOT_IN_LOGS: "the logs do not show it",
}
"""Whether the logs close a case, in words."""


def context(case: Case) -> list[str]:
    """Where and when it happened: stage, iteration, size of the job, framework, id, attempt."""
    verdict, job = case.verdict, case.job
    size = [plural(job.world_size, "rank")] if job.world_size else []
    size += [plural(job.nodes, "node")] if job.nodes else []
    parts = [
        None if verdict.evidence_class is EvidenceClass.LOGS else EVIDENCE_CLASS[verdict.evidence_class],
        verdict.stage.value.replace("_", " ") if verdict.stage else None,
        f"iteration {verdict.iteration}" if verdict.iteration is not None else None,
        " on ".join(size),
        job.framework,
        f"job {job.id}" if job.id else None,
        f"attempt {len(case.attempts)} of {len(case.attempts)}" if len(case.attempts) > 1 else None,
    ]
    return [clean(part) for part in parts if part]


def cited(case: Case) -> list[Evidence]:
    """The evidence of the verdict in the order it is cited; all of it where the verdict cites none."""
    by_id = {evidence.id: evidence for evidence in case.evidence}
    found = [by_id[name] for name in case.verdict.evidence if name in by_id]
    return found or list(case.evidence)
