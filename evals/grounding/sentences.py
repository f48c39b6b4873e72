"""Reads `evals/data/grounding.yaml` and makes answers of its sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import BadTruth
from evals.jobset import DATA

FILE = DATA / "grounding.yaml"


class Planted(BaseModel):
    """A sentence with a claim that its evidence does not carry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    say: str


class CaseSentences(BaseModel):
    """The sentences about one job."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    job: str
    sound: tuple[str, ...] = Field(min_length=4)
    planted: tuple[Planted, ...]
    mute: tuple[str, ...]


class SentenceFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.grounding/1"] = Field(alias="schema")
    tools: tuple[str, ...]
    cases: tuple[CaseSentences, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence of an answer, with what it is: `sound`, `mute`, or the kind of what is planted."""

    text: str
    kind: str
    held: bool


@dataclass(frozen=True, slots=True)
class MadeAnswer:
    """An answer of a few sentences."""

    job: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """As a model would write it."""
        return "".join(f"{part.text.rstrip()}\n\n" for part in self.parts)


def load_sentences(path: Path = FILE) -> SentenceFile:
    """All sentences. Raises BadTruth, naming the file."""
    try:
        return SentenceFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        problem = " ".join(str(error).split())[:300]
        raise BadTruth(f"{path}: {problem}", hint="its form is that of evals/grounding/sentences.py") from error


def answers(case: CaseSentences) -> Iterator[MadeAnswer]:
    """One answer for each planted and each mute sentence: it stands between two sound ones, another pair each time."""
    sound = [Part(text, "sound", at % 2 == 1) for at, text in enumerate(case.sound)]
    planted = [Part(one.say, one.kind, at % 2 == 1) for at, one in enumerate(case.planted)]
    mute = [Part(text, "mute", at % 2 == 1) for at, text in enumerate(case.mute)]
    for at, part in enumerate([*planted, *mute]):
        first, second = sound[at % len(sound)], sound[(at + len(sound) // 2) % len(sound)]
        yield MadeAnswer(case.job, (first, part, second))
