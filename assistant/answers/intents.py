"""The questions that are known, as they stand in `knowledge/intents.yaml`, and which of them a text is like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.answers.features import Words
from assistant.answers.learning import likeness_of
from assistant.answers.likeness import Example, Likeness
from assistant.errors import KnowledgeError
from assistant.paths import locate

FILE_NAME = "intents.yaml"
LATIN = 0x024F
"""The last letter of the extended Latin alphabet."""
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Intent(BaseModel):
    """A question that can be answered without a model."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    shows: str
    """How it is offered to a person; empty: not at all."""
    says: tuple[str, ...] = Field(min_length=1)
    """Ways to ask it, with placeholders for what is named."""


class IntentFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.intents/1"] = Field(alias="schema")
    fillers: tuple[str, ...] = ()
    """Words that tell nothing."""
    field: tuple[str, ...] = ()
    """Words that hardly occur in questions about anything else than a job."""
    foreign: tuple[str, ...] = ()
    """Words by which a question in another language is known."""
    same: dict[str, str] = Field(default_factory=dict)
    """Words that are read as another."""
    causes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What people call a cause: the cause classes (or layers, ending in a point) that it means."""
    outside: tuple[str, ...] = ()
    """Questions about something else; they keep apart what only sounds like a question about a job."""
    intents: tuple[Intent, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """An intent ("" for something else) and how much a question is like it, around 0 to 1."""

    intent: str
    likeness: float


@dataclass(frozen=True)
class Intents:
    """All intents, ready to be matched."""

    file: IntentFile
    cache: Path | None = None
    """A folder in which what is learned from the sayings may be kept."""

    @cached_property
    def words(self) -> Words:
        """How words are read."""
        return Words(self.file.same, frozenset(self.file.fillers))

    @cached_property
    def likeness(self) -> Likeness:
        """What was learned from the sayings; the first call takes a moment."""
        return likeness_of(examples_of(self.file), self.cache)

    @cached_property
    def field(self) -> frozenset[str]:
        """Words that show what a question is about, as they are compared."""
        return frozenset(self.words.of(" ".join(self.file.field)))

    @cached_property
    def vocabulary(self) -> set[str]:
        """All words that mean something here."""
        said = {word for intent in self.file.intents for says in intent.says for word in says.lower().split()}
        named = {word for name in self.file.causes for word in name.lower().split()}
        return {*said, *named, *self.file.same, *self.file.same.values(), *self.file.fillers, *self.file.foreign}

    def is_foreign_script(self, text: str) -> bool:
        """Whether most letters of a question are of another script."""
        letters = [letter for letter in text if letter.isalpha()]
        return sum(ord(letter) > LATIN for letter in letters) * 2 > len(letters)

    def is_foreign(self, text: str) -> bool:
        """Whether a question is in another language, as far as a few words tell."""
        words = re.findall(r"[\w'-]+", text.lower())
        return sum(word in self.file.foreign for word in words) >= 2

    def ranked(self, plain: str) -> tuple[Match, ...]:
        """All intents for a question with placeholders, the likeliest first."""
        words = self.words.of(plain)
        learned = self.likeness
        scored = zip(learned.intents, map(float, learned.scores(words)), strict=True) if words else ()
        return tuple(Match(*one) for one in sorted(scored, key=lambda one: (-one[1], one[0])))


def examples_of(file: IntentFile) -> tuple[Example, ...]:
    """The sayings, each form once."""
    words = Words(file.same, frozenset(file.fillers))
    said = [(intent.id, saying) for intent in file.intents for saying in intent.says]
    said += [("", saying) for saying in file.outside]
    return tuple(
        dict.fromkeys(Example(name, read, saying) for name, saying in said if (read := tuple(words.of(saying))))
    )


def load_intents(folders: Sequence[Path] | None = None, cache: Path | None = None) -> Intents:
    """The intents of all folders, a later folder's in place of an earlier one's of the same id.

    Raises KnowledgeError, naming the file, where one cannot be read.
    """
    files = [folder / FILE_NAME for folder in (locate("knowledge") if folders is None else folders)]
    read = [_read(path) for path in files if path.is_file()]
    by_id = {intent.id: intent for file in read for intent in file.intents}
    return Intents(
        IntentFile(
            schema="rootrank.intents/1",
            fillers=tuple(dict.fromkeys(word for file in read for word in file.fillers)),
            field=tuple(dict.fromkeys(word for file in read for word in file.field)),
            foreign=tuple(dict.fromkeys(word for file in read for word in file.foreign)),
            same={word: other for file in read for word, other in file.same.items()},
            causes={name: classes for file in read for name, classes in file.causes.items()},
            outside=tuple(dict.fromkeys(saying for file in read for saying in file.outside)),
            intents=tuple(by_id.values()),
        ),
        cache,
    )


def _read(path: Path) -> IntentFile:
    try:
        return IntentFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        problem = " ".join(str(error).split())[:300]
        raise KnowledgeError(f"{path}: {problem}", hint="Correct the file, or take it out of the folder.") from error
