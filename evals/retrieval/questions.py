"""The questions of the retrieval score: read, checked, and drawn into two halves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import BadTruth

DATA = Path(__file__).parents[1] / "data"
QUESTIONS = DATA / "questions.yaml"
SEED = 20_260
"""Of the draw; a changed seed would be another held half."""

HalfName = Literal["tune", "held"]
HALVES: tuple[HalfName, ...] = ("tune", "held")


class Question(BaseModel):
    """What somebody asks, and which documents answer it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    question: str = Field(min_length=5)
    answers: tuple[str, ...]
    """Ids of documents, each of which answers by itself; empty where the knowledge holds no answer."""
    has_code: bool
    """Whether it holds a code or the exact words of an error."""
    half: HalfName
    """`tune`: what the search is tuned on. `held`: only ever counted."""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.questions/1"] = Field(alias="schema")
    questions: tuple[Question, ...]


def load_questions(path: Path = QUESTIONS) -> tuple[Question, ...]:
    """All questions in the order of the file. BadTruth where it is none, or where `wrong` finds something."""
    try:
        read = _File.model_validate(yaml.safe_load(path.read_text("utf-8"))).questions
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise BadTruth(f"{path}: {error}", hint="each has id, question, answers, has_code and half") from error
    if problems := list(wrong(read)):
        raise BadTruth(f"{path}: {problems[0]}", hint="correct the file; python -m evals.retrieval.score checks it")
    return read


def halves(questions: Iterable[Question]) -> dict[str, HalfName]:
    """Which half each belongs to: a seeded draw among those alike in having a code and in having an answer."""
    strata: dict[tuple[bool, bool], list[str]] = {}
    for question in questions:
        strata.setdefault((bool(question.answers), question.has_code), []).append(question.id)
    drawn: dict[str, HalfName] = {}
    for key in sorted(strata):
        ids = sorted(strata[key])
        random.Random(f"{SEED} {key}").shuffle(ids)
        drawn |= {one: HALVES[place % 2] for place, one in enumerate(ids)}
    return drawn


def wrong(questions: Sequence[Question], known: Iterable[str] | None = None) -> Iterator[str]:
    """What is wrong, one line each; `known` are the ids of all documents, where they are at hand."""
    drawn, documents = halves(questions), frozenset(known) if known is not None else None
    for what in ("id", "question"):
        counts = Counter(getattr(question, what).lower() for question in questions)
        yield from (f"{what} twice: {value}" for value, count in sorted(counts.items()) if count > 1)
    for question in questions:
        if question.half != drawn[question.id]:
            yield f"{question.id}: the draw puts it into the half {drawn[question.id]}"
        if len(set(question.answers)) < len(question.answers):
            yield f"{question.id}: an answer is listed twice"
        absent = [] if documents is None else [one for one in question.answers if one not in documents]
        yield from (f"{question.id}: there is no document {one}" for one in absent)
