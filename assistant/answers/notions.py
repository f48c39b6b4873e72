"""What a sentence says in words and may say only where its evidence does too: `knowledge/notions.yaml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import KnowledgeError
from assistant.paths import locate

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _compiles(text: str) -> str:
    try:
        re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None
    return text


Expression = Annotated[str, AfterValidator(_compiles)]


class Entry(BaseModel):
    """One notion as it stands in the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"[a-z][a-z_]{0,40}")
    said: tuple[Expression, ...] = Field(min_length=1)
    seen: tuple[Expression, ...] = ()
    as_: str = Field(alias="as")
    line: str


class NotionFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["rootrank.notions/1"] = Field(alias="schema")
    notions: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Notion:
    """How sentences say a thing, and what evidence of it looks like, which is compiled when first asked for."""

    said: re.Pattern[str]
    shown: tuple[str, ...]

    @property
    def seen(self) -> re.Pattern[str]:
        """What evidence of it looks like."""
        return _any(self.shown)


def read_notions(path: Path) -> tuple[Entry, ...]:
    """One file. Raises KnowledgeError, naming it."""
    try:
        return NotionFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)).notions
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        problem = " ".join(str(error).split())[:300]
        raise KnowledgeError(f"{path}: {problem}", hint="its form is told at the top of the shipped file") from error


@cache
def load_notions() -> dict[str, Notion]:
    """The notions by id, those of a user's own file over ours. Raises KnowledgeError."""
    paths = [path for folder in locate("knowledge") if (path := folder / "notions.yaml").is_file()]
    if not paths:
        raise KnowledgeError("no knowledge/notions.yaml", hint="Reinstall Rootrank.")
    entries = {entry.id: entry for path in paths for entry in read_notions(path)}
    return {name: _notion(entry) for name, entry in entries.items()}


def _notion(entry: Entry) -> Notion:
    return Notion(_any(entry.said), (*entry.said, *entry.seen))


@cache
def _any(expressions: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(expressions), re.IGNORECASE)
