"""Reads `knowledge/redaction.yaml`: what is masked, each rule with examples that prove it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

import re2
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import KnowledgeError
from assistant.paths import locate

FILE_NAME = "redaction.yaml"
GROUPS = ("hidden", "hidden2")
"""Groups whose text is masked; a rule without them masks its whole match."""


class Kind(StrEnum):
    """What sort of thing a pseudonym stands for; also the beginning of the pseudonym."""

    SECRET = "secret"
    EMAIL = "email"
    USER = "user"
    IP = "ip"
    HOST = "host"


class Example(BaseModel):
    """A line, and what must not be left in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    line: str
    hidden: str = Field(min_length=1)


class Rule(BaseModel):
    """One sort of text to mask, as it stands in the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    kind: Kind
    what: str
    words: tuple[str, ...] = Field(min_length=1)
    """Lower-case texts of which at least one must occur before the expression is tried."""
    regex: str
    unless: str | None = None
    """Values (whole) that are left alone."""
    match: tuple[Example, ...] = Field(min_length=1)
    no_match: tuple[str, ...] = ()


class RuleFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.redaction/1"] = Field(alias="schema")
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule ready to run. RE2 takes linear time on any input."""

    rule: Rule
    regex: re.Pattern[str]
    unless: re.Pattern[str] | None

    def spans(self, text: str, lowered: str) -> Iterable[tuple[int, int]]:
        """Where it hides something in `text`; `lowered` is the same text in lower case."""
        if not any(word in lowered for word in self.rule.words):
            return
        for found in self.regex.finditer(text):
            start, end = self._span(found)
            if start < end and not self._spared(text[start:end]):
                yield start, end

    def _span(self, found: re.Match[str]) -> tuple[int, int]:
        for name in GROUPS:
            number = self.regex.groupindex.get(name)
            if number is not None and found.start(number) >= 0:
                return found.span(number)
        return found.span()

    def _spared(self, value: str) -> bool:
        return self.unless is not None and self.unless.fullmatch(value) is not None


def load_rules(folders: Sequence[Path] | None = None) -> tuple[CompiledRule, ...]:
    """The rules of all folders, weakest first; a rule in a later folder replaces the one of the same id.

    Raises KnowledgeError, naming file and rule, for a file that cannot work: redaction never runs with half its rules.
    """
    rules: dict[str, CompiledRule] = {}
    for folder in locate("knowledge") if folders is None else folders:
        path = folder / FILE_NAME
        if path.is_file():
            rules |= {rule.id: _compiled(path, rule) for rule in _read(path).rules}
    if not rules:
        raise KnowledgeError(f"no {FILE_NAME} found: nothing may leave this machine", hint="Reinstall Rootrank.")
    return tuple(rules.values())


def _read(path: Path) -> RuleFile:
    hint = "Correct the file, or take it out of the folder."
    try:
        return RuleFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise KnowledgeError(f"{path}: {' '.join(str(error).split())}", hint=hint) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise KnowledgeError(f"{path}: {place}: {first['msg']}", hint=hint) from error


def _compiled(path: Path, rule: Rule) -> CompiledRule:
    try:
        regex = re2.compile(rule.regex)
        unless = re2.compile(rule.unless) if rule.unless else None
    except re2.error as error:
        raise KnowledgeError(f"{path}: rule {rule.id}: {error}", hint="Write it in the RE2 subset.") from error
    return CompiledRule(rule, regex, unless)
