"""A query out of a Case: what its evidence shows, not only the words of its verdict."""

from __future__ import annotations

from assistant.case.models import Case, EventReport
from assistant.case.vocabulary import Role
from assistant.retrieval.models import Filters, Query

EVENTS = 8
"""Failure-indicating events whose texts are taken."""
LINES = 12
"""Evidence lines that are taken."""
LONGEST = 4_000
"""Characters of the text."""
_GROUPS = {
    "tp": "tensor parallel",
    "pp": "pipeline parallel",
    "dp": "data parallel",
    "ep": "expert parallel",
    "cp": "context parallel",
}
_VENDORS = (
    ("nvidia", ("nvrm", "xid", "nccl", "cuda", "nvlink", "cublas", "cudnn")),
    ("amd", ("rccl", "hip error", "rocm", "amdgpu")),
    ("huawei", ("hccl", "ascend", "npu", "cann", "acl error")),
)


def query_of(case: Case, words: str = "", filters: Filters | None = None, limit: int = 5) -> Query:
    """What to look for to understand a case; `words` are a person's own, and come first.

    The fault entries and templates of the initiating events come before those of their consequences.
    """
    events = sorted(case.events, key=_order)[:EVENTS]
    by_id = {evidence.id: evidence.text for evidence in case.evidence}
    cited = [by_id[name] for name in case.verdict.evidence if name in by_id] or list(by_id.values())
    groups = [_GROUPS[name] for name, size in sorted(case.job.topology.items()) if size > 1 and name in _GROUPS]
    texts = [words, case.verdict.statement, *cited[:LINES], *(event.template for event in events), *groups]
    text = "\n".join(dict.fromkeys(part for part in texts if part))[:LONGEST]
    faults = [case.verdict.fault, *(event.fault for event in events if event.role is not Role.CONTEXT)]
    return Query(
        text=text,
        filters=filters or Filters(),
        limit=limit,
        faults=tuple(dict.fromkeys(fault for fault in faults if fault)),
        templates=tuple(dict.fromkeys(event.id for event in events)),
        stage=case.verdict.stage.value if case.verdict.stage else "",
        framework=case.job.framework or "",
        vendor=_vendor(text),
    )


def _order(event: EventReport) -> tuple[int, float, str]:
    return list(Role).index(event.role), -event.score, event.id


def _vendor(text: str) -> str:
    """The vendor whose words the evidence speaks; empty where none or several do."""
    lowered = text.lower()
    found = [vendor for vendor, words in _VENDORS if any(word in lowered for word in words)]
    return found[0] if len(found) == 1 else ""
