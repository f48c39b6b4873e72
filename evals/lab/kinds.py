"""The catalogue of fault kinds, from `kinds.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

from assistant.case.vocabulary import ActionKind, Stage, Status, all_causes

FILE = Path(__file__).with_name("kinds.yaml")


class Flavour(BaseModel):
    """One way of a kind; what is null is as the kind says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    causes: tuple[str, ...] | None = None
    blame: Literal["rank", "node", "nobody"] | None = None
    nobody_too: bool | None = None
    actions: tuple[ActionKind, ...] | None = None
    stages: tuple[Stage, ...] | None = None

    @field_validator("causes")
    @classmethod
    def _known(cls, causes: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if unknown := set(causes or ()) - all_causes():
            raise ValueError(f"no such cause classes: {', '.join(sorted(unknown))}")
        return causes


class Kind(Flavour):
    """What a kind is, and what its logs can prove."""

    about: str
    status: Status = Status.FAILED
    causes: tuple[str, ...] = ()
    blame: Literal["rank", "node", "nobody"] = "rank"
    nobody_too: bool = False
    actions: tuple[ActionKind, ...] = ()
    stages: tuple[Stage, ...] = ()
    nodes: Literal["any", "several", "one"] = "any"
    runs: int = Field(default=3, ge=0)
    flavours: dict[str, Flavour] = Field(default_factory=dict)

    def flavour(self, number: int) -> str:
        """The name of the flavour of the n-th run; empty where the kind has none."""
        names = list(self.flavours)
        return names[number % len(names)] if names else ""

    def told(self, flavour: str) -> Kind:
        """The kind with what the flavour says instead."""
        own = self.flavours[flavour].model_dump(exclude_none=True) if flavour else {}
        return self.model_copy(update=own)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    schema_: Literal["rootrank.kinds/1"] = Field(alias="schema")
    kinds: dict[str, Kind]


@cache
def kinds() -> dict[str, Kind]:
    """All kinds by name; a file that does not fit its schema is a ValueError."""
    return _File.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8"))).kinds
