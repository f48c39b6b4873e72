"""Asks every question and holds the answer against its facts and forbidden claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from assistant.answers.meaning import SecondOpinion
from assistant.answers.models import AnswerEvent, Failed, Question, Standing, Text, Turn
from assistant.answers.offline import OfflineAnswerer
from evals.desks import Opened, opened
from evals.offline.questions import Asked, QuestionFile, facts_of, forbidden_of

_FENCED = re.compile(r"(`{3,})\n.*?\n\1", re.DOTALL)
_ASKED = re.compile(r"^- [^\n]*\?$", re.MULTILINE)
"""A question that is suggested claims nothing."""
_QUOTED = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True, slots=True)
class Mark:
    """How one answer did."""

    job: str
    asked: Asked
    held: bool
    answer: str = field(repr=False)
    missing: tuple[str, ...] = ()
    """Facts that it lacks."""
    said: tuple[str, ...] = ()
    """Forbidden claims that it makes."""
    broken: tuple[str, ...] = ()
    """Sentences that its own check does not accept, and failures."""

    @property
    def right(self) -> bool:
        """All facts, nothing forbidden, every sentence sound."""
        return not (self.missing or self.said or self.broken)


def marks(
    file: QuestionFile,
    *,
    tune: bool = True,
    held: bool = True,
    jobs: Sequence[str] = (),
    second: SecondOpinion | None = None,
) -> Iterator[Mark]:
    """The marks of all questions, case by case."""
    for case in file.cases:
        if jobs and case.job not in jobs:
            continue
        with opened(case.job) as job:
            for half, questions in ((False, case.tune if tune else ()), (True, case.held if held else ())):
                for asked in questions:
                    facts, forbidden = facts_of(file, case, asked), forbidden_of(file, case, asked)
                    yield marked(job, asked, half, facts, forbidden, second)


def marked(
    job: Opened,
    asked: Asked,
    held: bool,
    facts: Iterable[str],
    forbidden: Iterable[str],
    second: SecondOpinion | None = None,
) -> Mark:
    """One question in a conversation of its own."""
    answerer = job.answerer(second=second)
    history: tuple[Turn, ...] = ()
    for earlier in asked.after:
        question = Question(text=earlier)
        history += (Turn(question=question, answer=text_of(list(answerer.events(question, history)))),)
    events = list(answerer.events(Question(text=asked.ask), history))
    answer = text_of(events)
    prose = _ASKED.sub(" ", _QUOTED.sub(" ", _FENCED.sub(" ", answer)))
    return Mark(
        job.name, asked, held, answer,
        missing=tuple(fact for fact in facts if not re.search(fact, answer)),
        said=tuple(claim for claim in forbidden if re.search(claim, prose)),
        broken=tuple(_broken(events)),
    )  # fmt: skip


def text_of(events: Iterable[AnswerEvent]) -> str:
    """The answer as it is read."""
    return "".join(event.text for event in events if isinstance(event, Text))


def _broken(events: Iterable[AnswerEvent]) -> Iterator[str]:
    for event in events:
        if isinstance(event, Text) and event.standing is Standing.UNSUPPORTED:
            yield f"{event.text.strip()[:160]} ({'; '.join(event.problems)})"
        if isinstance(event, Failed):
            yield f"failed: {event.message}"


def first_token(answerer: OfflineAnswerer, question: str, clock: object) -> float:
    """Seconds until the first piece of text."""
    assert callable(clock)
    started = float(clock())
    for event in answerer.events(Question(text=question)):
        if isinstance(event, Text):
            break
    return float(clock()) - started
