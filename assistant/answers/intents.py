"""Which of the known questions was asked. Deterministic: words weighed by how rare they are, no model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import KnowledgeError
from assistant.paths import locate

FILE_NAME = "intents.yaml"
THRESHOLD = 0.47
"""Likeness (cosine) to the best saying below which a question is beyond what is understood."""
UNKNOWN_WORD, UNKNOWN_SHORT, UNKNOWN_PAIR = 5.0, 1.5, 1.0
LATIN = 0x024F
"""The last letter of the extended Latin alphabet."""
_TOKEN = re.compile(r"<[a-z]+>|[a-z0-9][a-z0-9'-]*")


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
    foreign: tuple[str, ...] = ()
    """Words by which a question in another language is known."""
    same: dict[str, str] = Field(default_factory=dict)
    """Words that are read as another."""
    causes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What people call a cause: the cause classes (or layers, ending in a point) that it means."""
    intents: tuple[Intent, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """The intent that a question resembles most, and how much."""

    intent: str
    likeness: float


@dataclass(frozen=True, slots=True)
class Intents:
    """All intents, ready to be matched."""

    file: IntentFile
    _sayings: list[tuple[str, dict[str, float]]] = field(default_factory=list, repr=False)
    _rarity: dict[str, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        bags = [(intent.id, self._terms(saying)) for intent in self.file.intents for saying in intent.says]
        seen = Counter(term for _, bag in bags for term in set(bag))
        self._rarity.update({term: math.log((1 + len(bags)) / (1 + count)) + 1 for term, count in seen.items()})
        self._sayings.extend((name, self._weighed(bag)) for name, bag in bags)

    @property
    def vocabulary(self) -> set[str]:
        """All words that mean something here."""
        said = {word for intent in self.file.intents for says in intent.says for word in says.lower().split()}
        named = {word for name in self.file.causes for word in name.lower().split()}
        return {*said, *named, *self.file.same, *self.file.same.values(), *self.file.fillers, *self.file.foreign}

    def is_foreign(self, text: str) -> bool:
        """Whether a question is in another language, as far as a few words and the script tell."""
        letters = [letter for letter in text if letter.isalpha()]
        if sum(ord(letter) > LATIN for letter in letters) * 2 > len(letters):
            return True
        words = re.findall(r"[\w'-]+", text.lower())
        return sum(word in self.file.foreign for word in words) >= 2

    def match(self, plain: str) -> Match | None:
        """The best intent for a question with placeholders, or None where none resembles it."""
        asked = self._weighed(self._terms(plain))
        best = Match("", 0.0)
        for name, saying in self._sayings:
            likeness = _cosine(asked, saying)
            if likeness > best.likeness + 1e-9:
                best = Match(name, likeness)
        return best if best.likeness >= THRESHOLD else None

    def _terms(self, text: str) -> list[str]:
        """Words and pairs of neighbours, as they are compared."""
        same, fillers = self.file.same, self.file.fillers
        read = [part for word in _TOKEN.findall(text.lower()) for part in same.get(word, word).split()]
        words = [_stem(word) for word in read if word not in fillers]
        return [*words, *(f"{one} {two}" for one, two in pairwise(words))]

    def _weighed(self, terms: Iterable[str]) -> dict[str, float]:
        counted = Counter(terms)
        return {term: count * self._rarity.get(term, _unknown(term)) for term, count in counted.items()}


def load_intents(folders: Sequence[Path] | None = None) -> Intents:
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
            foreign=tuple(dict.fromkeys(word for file in read for word in file.foreign)),
            same={word: other for file in read for word, other in file.same.items()},
            causes={name: classes for file in read for name, classes in file.causes.items()},
            intents=tuple(by_id.values()),
        )
    )


def _read(path: Path) -> IntentFile:
    try:
        return IntentFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        problem = " ".join(str(error).split())[:300]
        raise KnowledgeError(f"{path}: {problem}", hint="Correct the file, or take it out of the folder.") from error


def _unknown(term: str) -> float:
    """What a term weighs that no saying holds: a long word tells that something else is asked, a pair tells little."""
    return UNKNOWN_PAIR if " " in term else UNKNOWN_WORD if len(term) >= 4 else UNKNOWN_SHORT


def _stem(word: str) -> str:
    if word.startswith("<") or len(word) < 5:
        return word
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    shared = sum(weight * other[term] for term, weight in one.items() if term in other)
    size = math.sqrt(sum(w * w for w in one.values()) * sum(w * w for w in other.values()))
    return shared / size if size else 0.0
