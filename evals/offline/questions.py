"""Reads `evals/data/offline.yaml`: questions about packed jobs, with what a right answer says and may never say."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import BadTruth
from evals.jobset import DATA

FILE = DATA / "offline.yaml"
PLACE = "{place}"


class Asked(BaseModel):
    """One question."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    ask: str
    after: tuple[str, ...] = ()
    """Questions of the same conversation before it."""
    facts: tuple[str, ...] = Field(min_length=1)
    """Expressions that the answer must match; `$name` stands for one of the case, or a shared one."""
    forbidden: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class CaseQuestions(BaseModel):
    """The questions about one job."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    job: str
    """Folder, or archive without its ending, from the root of the project."""
    innocent: tuple[str, ...]
    forbidden: tuple[str, ...] = ()
    known: dict[str, str] = Field(default_factory=dict)
    tune: tuple[Asked, ...]
    held: tuple[Asked, ...]
    """Not looked at while tuning."""


class QuestionFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    schema_: Literal["rootrank.offline-questions/1"] = Field(alias="schema")
    blames: tuple[str, ...]
    """Expressions by which an answer blames `{place}`."""
    beyond: str
    shared: dict[str, str] = Field(default_factory=dict)
    cases: tuple[CaseQuestions, ...]


def load_questions(path: Path = FILE) -> QuestionFile:
    """All questions. Raises BadTruth, naming the file."""
    try:
        return QuestionFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        problem = " ".join(str(error).split())[:300]
        raise BadTruth(f"{path}: {problem}", hint="its form is that of evals/offline/questions.py") from error


def facts_of(file: QuestionFile, case: CaseQuestions, asked: Asked) -> list[str]:
    """The expressions behind the facts. Raises BadTruth for a name that nobody defines."""
    known = {"beyond": file.beyond} | file.shared | case.known
    missing = [fact for fact in asked.facts if fact.startswith("$") and fact[1:] not in known]
    if missing:
        raise BadTruth(f"{FILE}: {case.job}: {asked.ask!r}: {missing[0]} is not defined", hint="add it to `known`")
    return [known[fact[1:]] if fact.startswith("$") else fact for fact in asked.facts]


def forbidden_of(file: QuestionFile, case: CaseQuestions, asked: Asked) -> list[str]:
    """The expressions that the answer must not match."""
    places = [place.removeprefix("node ") for place in case.innocent]
    blames = [blame.replace(PLACE, place) for blame in file.blames for place in places]
    return [*case.forbidden, *asked.forbidden, *blames]
