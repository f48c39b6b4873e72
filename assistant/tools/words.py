"""The glossary: what the words of the field mean, one sentence each. Read from `knowledge/glossary.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from assistant.errors import KnowledgeError
from assistant.paths import locate

FILE_NAME = "glossary.yaml"
_GAPS = re.compile(r"[\s_-]+")


class Word(BaseModel):
    """One word with what it means."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    term: str
    aliases: tuple[str, ...] = ()
    short: str
    """One sentence."""
    more: str = ""


_WORDS: TypeAdapter[list[Word]] = TypeAdapter(list[Word])


@dataclass(frozen=True, slots=True)
class Glossary:
    """All words, found under any of their names."""

    words: tuple[Word, ...] = ()
    _index: dict[str, Word] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for word in self.words:
            for name in (word.term, *word.aliases):
                self._index.setdefault(_plain(name), word)

    def get(self, name: str) -> Word | None:
        """The word of that name, whatever its case, hyphens and plural."""
        plain = _plain(name)
        return self._index.get(plain) or self._index.get(plain.removesuffix("s"))

    def inside(self, text: str) -> Iterator[Word]:
        """The words that occur in a text, each once, in the order of the glossary."""
        plain = f" {_plain(re.sub(r'[^A-Za-z0-9_-]+', ' ', text))} "
        for word in self.words:
            if any(f" {_plain(name)} " in plain for name in (word.term, *word.aliases)):
                yield word


def load_glossary(folders: Sequence[Path] | None = None) -> Glossary:
    """The words of all folders, a later folder's word in place of an earlier one's of the same name.

    Raises KnowledgeError, naming the file, where one cannot be read.
    """
    words: dict[str, Word] = {}
    for folder in locate("knowledge") if folders is None else folders:
        path = folder / FILE_NAME
        if path.is_file():
            words |= {word.term: word for word in _read(path)}
    return Glossary(tuple(words.values()))


def _read(path: Path) -> list[Word]:
    try:
        return _WORDS.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        problem = " ".join(str(error).split())[:300]
        raise KnowledgeError(f"{path}: {problem}", hint="Correct the file, or take it out of the folder.") from error


def _plain(name: str) -> str:
    return _GAPS.sub(" ", name.strip().lower())
