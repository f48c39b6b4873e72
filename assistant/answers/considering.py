"""An explanation that a person asks about, with what the case holds for it and against it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assistant.answers.models import Hypothesis
from assistant.case.text import clean
from assistant.case.vocabulary import Confidence
from assistant.tools.calls import Calls

CITED = 5
"""Citations for, and against, that are shown."""
NOTHING = "nothing in the logs that were read points to it"


def considered(calls: Calls, said: str, classes: Sequence[str], fits: Callable[[str], bool]) -> Hypothesis:
    """What speaks for and against a cause.

    Args:
        calls: of the conversation.
        said: how the person called the cause.
        classes: the cause classes, or layers, that it means.
        fits: whether a cause class is one of them.
    """
    verdict = calls.desk.case.verdict
    if fits(verdict.cause):
        state = "established" if verdict.confidence is Confidence.HIGH else "supported"
        return _hypothesis(calls, verdict.cause, verdict.statement, state, verdict.evidence)
    for other in verdict.alternatives:
        if fits(other.cause):
            return _hypothesis(calls, other.cause, other.why, "proposed", other.evidence, verdict.evidence)
    for failure in calls.desk.case.failures:
        if fits(failure.verdict.cause):
            return _hypothesis(
                calls, failure.verdict.cause, failure.verdict.statement, "supported", failure.verdict.evidence
            )
    signs = _signs(calls, fits)
    told = "the verdict does not rest on the lines that speak of it" if signs else NOTHING
    name = classes[0] if len(classes) == 1 and not classes[0].endswith(".") else said
    return _hypothesis(calls, name, told, "proposed", signs, verdict.evidence)


def _signs(calls: Calls, fits: Callable[[str], bool]) -> tuple[str, ...]:
    """Evidence of events whose known fault has such a cause."""
    library = calls.desk.library
    faults = ((event, library.get(event.fault or "")) for event in calls.desk.case.events)
    return tuple(name for event, fault in faults if fault is not None and fits(fault.cause) for name in event.evidence)


def _hypothesis(
    calls: Calls, cause: str, statement: str, state: str, supporting: Sequence[str], opposing: Sequence[str] = ()
) -> Hypothesis:
    return Hypothesis.model_validate({
        "id": calls.consider(cause), "cause": clean(cause), "statement": clean(statement), "state": state,
        "supporting": tuple(supporting[:CITED]),
        "opposing": tuple(name for name in opposing[:CITED] if name not in supporting),
    })  # fmt: skip
