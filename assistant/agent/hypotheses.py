"""note_hypothesis: an explanation under consideration, kept with what speaks for and against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError

from assistant.agent.conversation import Conversation
from assistant.answers.claims import citations
from assistant.answers.grounding import check, known_from
from assistant.answers.models import Hypothesis, Standing, VerdictGiven
from assistant.answers.sentences import split
from assistant.case.models import Cause
from assistant.case.text import clean
from assistant.tools.calls import Calls
from assistant.tools.models import Arguments
from assistant.tools.submission import DiagnosisArguments, agrees

NAME = "note_hypothesis"
SUMMARY = "Keeps an explanation under consideration, with evidence for and against it; the same id replaces it."
MOST = 40


class HypothesisArguments(Arguments):
    """An explanation and where it stands."""

    id: str | None = Field(default=None, pattern=r"H[1-9][0-9]{0,2}")
    """Id of an earlier one that this replaces; else a new one is given."""
    cause: Cause
    """A cause class: `memory.gpu_oom`, ..."""
    statement: str = Field(min_length=1, max_length=400)
    """One sentence."""
    state: Literal["proposed", "supported", "refuted", "established"]
    supporting: tuple[str, ...] = Field(default=(), max_length=20)
    """Evidence for it: ids or places that were shown."""
    opposing: tuple[str, ...] = Field(default=(), max_length=20)
    """Evidence against it."""


def noted(talk: Conversation, arguments: Mapping[str, Any]) -> tuple[str, Hypothesis | None]:
    """What the model is told, and the hypothesis if it was taken down."""
    try:
        given = HypothesisArguments.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        return f"Wrong arguments: {'.'.join(map(str, first['loc']))}: {clean(first['msg'])}.", None
    if (problem := unsupported(talk.calls, given.statement, (*given.supporting, *given.opposing))) is not None:
        return problem, None
    if given.id is None and len(talk.hypotheses) >= MOST:
        return f"{MOST} hypotheses are kept already; replace one by its id.", None
    name = given.id or talk.calls.consider(given.cause)
    fields = {"cause", "statement", "state", "supporting", "opposing"}
    kept = Hypothesis.model_validate({"id": name, **given.model_dump(include=fields)})
    talk.hypotheses[name] = kept
    talk.calls.explanations[name] = kept.cause
    return f"Kept as {name}.", kept


def unsupported(calls: Calls, statement: str, cited: tuple[str, ...]) -> str | None:
    """Why a statement does not stand on what it cites; None where it does."""
    desk = calls.desk
    unseen = [name for name in cited if desk.evidence(name) is None and name not in calls.results]
    if unseen:
        return f"Not shown in this case: {clean(', '.join(unseen))}. Cite only what a tool has shown."
    whole = f"{statement.rstrip('. ')} [{', '.join(cited)}]." if cited else statement
    found = check(whole, known_from(calls, bound=False))
    return (
        f"The statement does not hold: {'; '.join(found.problems)}." if found.standing is Standing.UNSUPPORTED else None
    )


def unargued(calls: Calls, argument: str, *, departs: bool) -> str | None:
    """Why an argument cannot stand: it must cite where it departs from the verdict, and carry what it cites."""
    if departs and argument and not citations(argument):
        return "It departs from the verdict of the case: cite in `argument` the evidence that it rests on."
    for sentence in split(argument):
        found = check(sentence, known_from(calls, bound=False))
        if found.standing is Standing.UNSUPPORTED:
            return f"The argument does not hold: {'; '.join(found.problems)}."
    return None


def verdict_of(calls: Calls, arguments: Mapping[str, Any]) -> VerdictGiven:
    """What submit_diagnosis has taken down."""
    given = DiagnosisArguments.model_validate(dict(arguments))
    return VerdictGiven(
        cause=given.cause, statement=given.statement, confidence=given.confidence, rank=given.rank, node=given.node,
        agrees=agrees(calls.desk, given), citations=given.evidence, argument=given.argument,
    )  # fmt: skip
