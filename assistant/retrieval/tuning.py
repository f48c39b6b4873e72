"""Reads `knowledge/retrieval.yaml`: how codes are spelled, weights and thresholds."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from assistant.case.models import Model
from assistant.errors import KnowledgeError
from assistant.intake.regexes import RegexError, compile_regex
from assistant.paths import locate

FILE = "retrieval.yaml"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HINT = "correct the file, or take it out of the folder"


class CodeRule(Model):
    """One way a code is written."""

    regex: str
    """RE2 with named groups."""
    code: str
    """How the code is spelled, with the groups in braces."""


class Fusion(Model):
    """How ranked lists are put together; an engine of weight 0 takes no part."""

    constant: float = Field(default=20.0, gt=0)
    exact: float = Field(default=4.0, ge=0)
    words: float = Field(default=1.0, ge=0)
    meaning: float = Field(default=1.0, ge=0)


class Threshold(Model):
    """When something fits: likeness of the nearest passage + share of the query's words, each weighed, is enough."""

    meaning: float = Field(default=1.0, ge=0)
    """Weight of the cosine likeness, -1 to 1, of the nearest passage."""
    words: float = Field(default=1.0, ge=0)
    """Weight of the share of the query's words, by rarity, that the best passage holds, 0 to 1."""
    unknown: float = Field(default=0.0, ge=0)
    """Weight of the share of the query's words that no passage holds; taken off."""
    strange: float = Field(default=0.3, ge=0)
    """What is taken off where the query asks for a code that no passage holds."""
    least: float
    """What the sum must reach."""


class Tuning(Model):
    """The whole file."""

    codes: tuple[CodeRule, ...] = ()
    aliases: tuple[tuple[str, ...], ...] = ()
    synonyms: tuple[tuple[str, ...], ...] = ()
    """Rows of phrases that mean the same; the first is how this knowledge says it."""
    fusion: Fusion = Fusion()
    stopwords: frozenset[str] = frozenset()
    """Words that say nothing."""
    thresholds: dict[str, Threshold] = Field(default_factory=lambda: {"default": Threshold(least=0.8)})

    def threshold(self, embedder: str) -> Threshold:
        """That of an embedder, by the part of its id before the first `/`."""
        return self.thresholds.get(embedder.partition("/")[0]) or self.thresholds["default"]


@cache
def tuning() -> Tuning:
    """The file of the strongest knowledge folder that has one."""
    found = [folder / FILE for folder in locate("knowledge") if (folder / FILE).is_file()]
    return read_tuning(found[-1]) if found else Tuning()


def read_tuning(path: Path) -> Tuning:
    """One such file; KnowledgeError, naming it and the key, where it is none."""
    try:
        read = Tuning.model_validate(yaml.load(path.read_text("utf-8"), Loader=_LOADER) or {})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise KnowledgeError(f"{path}: {where}: {first['msg']}", hint=_HINT) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise KnowledgeError(f"{path}: {' '.join(str(error).split())}", hint=_HINT) from None
    for rule in read.codes:
        _usable(rule, path)
    if (twice := _twice(read.synonyms)) is not None:
        raise KnowledgeError(f"{path}: synonyms: {twice!r} stands in two rows, or is empty", hint=_HINT)
    if "default" not in read.thresholds:
        raise KnowledgeError(f"{path}: thresholds: no `default`", hint=_HINT)
    return read


def _twice(synonyms: tuple[tuple[str, ...], ...]) -> str | None:
    """A phrase that cannot be told to its row."""
    phrases = ["", *(phrase.lower().strip() for row in synonyms for phrase in row or ("",))]
    return next((phrase for place, phrase in enumerate(phrases) if phrase in phrases[:place]), None)


def _usable(rule: CodeRule, path: Path) -> None:
    try:
        rule.code.format(**dict.fromkeys(compile_regex(rule.regex).groupindex, "0"))
    except (RegexError, KeyError, ValueError, IndexError) as error:
        raise KnowledgeError(f"{path}: code {rule.code!r}: {error}", hint=_HINT) from None
