"""submit_diagnosis: the answerer's own conclusion, in a form that can be checked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from assistant.case.models import Cause
from assistant.case.text import clean
from assistant.case.vocabulary import Confidence
from assistant.errors import UsageError
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found
from assistant.tools.models import Arguments


class DiagnosisArguments(Arguments):
    """A conclusion with its grounds."""

    cause: Cause
    """A cause class, as the case uses them: `memory.gpu_oom`, `unknown`, ..."""
    statement: str = Field(min_length=1, max_length=600)
    """One sentence."""
    confidence: Confidence | None = None
    """high = established, medium = supported, low = hypothesis."""
    rank: int | None = Field(default=None, ge=0)
    """Whom it blames; null for nobody."""
    node: str | None = None
    evidence: tuple[str, ...] = Field(min_length=1, max_length=30)
    """Ids of evidence or places that were shown."""
    argument: str = Field(default="", max_length=2000)
    """Where it departs from the verdict of the case: why, with evidence."""
    state: Literal["established", "supported", "hypothesis", "unknown"] = "hypothesis"


def submit_diagnosis(desk: Desk, arguments: Arguments) -> Finding:
    """Accepts a conclusion whose evidence was shown; says whether it agrees with the case."""
    assert isinstance(arguments, DiagnosisArguments)
    unseen = [name for name in arguments.evidence if desk.evidence(name) is None]
    if unseen:
        raise UsageError(f"not shown in this case: {clean(', '.join(unseen))}", hint="cite only what a tool has shown")
    if agrees(desk, arguments):
        return found(["Taken down; it agrees with the verdict of the case."])
    if not arguments.argument:
        raise UsageError(
            "this departs from the verdict of the case and gives no argument",
            hint="argue from evidence in `argument`; it will be shown as an alternative",
        )
    return found(["Taken down as an alternative; the verdict of the case stays."])


def agrees(desk: Desk, diagnosis: DiagnosisArguments) -> bool:
    """Whether cause and suspect are those of the case."""
    suspects = desk.case.suspects
    same_place = (
        any(diagnosis.rank in (None, s.rank) and diagnosis.node in (None, s.node) for s in suspects)
        if suspects
        else (diagnosis.rank, diagnosis.node) == (None, None)
    )
    return diagnosis.cause == desk.case.verdict.cause and same_place


SUBMIT_DIAGNOSIS = Tool(
    "submit_diagnosis",
    "Hands in the conclusion: cause, statement, confidence, whom it blames, evidence. Once, when you are done.",
    DiagnosisArguments,
    submit_diagnosis,
)
