"""What is known to be true of a laboratory job: what was done to it, and what a careful reader of its logs can prove.

Written by the injector beside each job, read by the scorers. It names no template, fault entry or other word of the
diagnosis, so that it stays true when the diagnosis changes.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from assistant.case.vocabulary import ActionKind, Role, Stage, Status


class Model(BaseModel):
    """Base: frozen, closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Injected(Model):
    """One thing that was done to the job."""

    kind: str
    """Kind of fault, of the catalogue (`sigkill`, `hang_compute`, ...)."""
    rank: int | None = None
    """Global rank it was done to; null where it was done to a node or to all."""
    node: str | None = None
    """Name of the node as its logs show it."""
    iteration: int | None = None
    stage: Stage | None = None
    time: str | None = None
    """ISO 8601, UTC."""
    detail: str = ""


class Label(Model):
    """Which raw records indicate the failure, and what part they play."""

    role: Role
    pattern: str
    """A regular expression, searched in the first line of a record."""
    source: str = "*"
    """Which sources it holds for: a glob over names inside the job's folder."""
    first_line: int | None = None
    last_line: int | None = None
    """1-based and inclusive; null is the start, or the end, of the source."""


class Provable(Model):
    """What the logs can show, whatever was done."""

    status: Status
    causes: tuple[str, ...] = ()
    """Cause classes that a careful engineer would accept; the first is the best one."""
    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    """Guilty ranks, or nodes where no rank can be told; both empty where the logs prove nobody's guilt."""
    nobody_too: bool = False
    """Blaming nobody is accepted as well: the logs hint at the guilty one rather than prove it."""
    stages: tuple[Stage, ...] = ()
    iteration: int | None = None
    """Where the initiating event happened; null where the logs do not tell."""
    actions: tuple[ActionKind, ...] = ()
    """Kinds of action that a careful engineer would accept; empty where any may be."""
    further: tuple[Provable, ...] = ()
    """Independent second failures."""


class Truth(Model):
    """One job of the set."""

    job: str
    """Neutral name, as of its archive: it tells nothing."""
    kind: str
    recipe: str
    """What trains: `ddp`, `fsdp`, `trainer`, `pipeline`, `tensor`, `deepspeed`, ..."""
    dialect: str
    """How it logs."""
    world_size: int
    nodes: tuple[str, ...] = ()
    seed: int
    twins: tuple[str, ...] = ()
    """Healthy jobs of the same recipe, dialect and size: the runs a team would compare with."""
    replica_of: str | None = None
    """The real job that a scaled replica was made from."""
    injected: tuple[Injected, ...] = ()
    provable: Provable
    labels: tuple[Label, ...] = Field(default=())
    settings: dict[str, str | int | float | bool | None] = Field(default_factory=dict)
    """How the run was started, enough to make it again."""


class TruthFile(Model):
    """All jobs of one set, in the order of their names."""

    schema_: Literal["rootrank.truth/1"] = Field(default="rootrank.truth/1", alias="schema")
    made_with: dict[str, str] = Field(default_factory=dict)
    """Versions of what the jobs ran on."""
    jobs: tuple[Truth, ...]
