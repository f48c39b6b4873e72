"""Labels of a finished job: the rules of `labels.yaml` made concrete for it, without those that hold for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from assistant.case.vocabulary import Role, Status
from evals.lab.job import Job
from evals.scorers.labelled import matchers
from evals.scorers.records import Record
from evals.truth import Label, Truth

FILE = Path(__file__).with_name("labels.yaml")
SUSPICIOUS = re.compile(
    r"(?i)error|fail|exception|traceback|abort|kill|timed? ?out|signal|refused|fatal|denied|cannot|terminat|mismatch"
)
"""Words of records that a person should have looked at, where no rule holds for them."""


class Rule(BaseModel):
    """One rule of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    pattern: str
    kinds: tuple[str, ...] = ()
    source: str = "*"

    def concerns(self, job: Job) -> bool:
        """Whether the rule is for jobs of this kind and flavour."""
        return not self.kinds or job.kind in self.kinds or f"{job.kind}/{job.flavour}" in self.kinds


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    schema_: Literal["rootrank.labels/1"] = Field(alias="schema")
    rules: tuple[Rule, ...]


@cache
def rules() -> tuple[Rule, ...]:
    """All rules in their order; a file that does not fit its schema is a ValueError."""
    return _File.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8"))).rules


def candidates(job: Job) -> list[Label]:
    """The labels a job may have."""
    return [label for rule in rules() if rule.concerns(job) for label in _concrete(rule, job)]


def _concrete(rule: Rule, job: Job) -> Iterator[Label]:
    role = Role.CONTEXT if job.provable.status is Status.HEALTHY else rule.role
    if "{launcher}" not in rule.source:
        yield Label(role=role, pattern=rule.pattern, source=rule.source)
        return
    for rank in sorted({one.rank for one in job.injected if one.rank is not None}):
        launcher = f"{job.hosts[job.node_of(rank)]}/launcher.log" if job.nodes > 1 else "launcher.log"
        pattern = rule.pattern.replace("{local_rank}", str(rank % job.per_node))
        yield Label(role=role, pattern=pattern, source=rule.source.replace("{launcher}", launcher))


def all_labels() -> list[Label]:
    """Every rule as a label for any file and rank: none of them may hold for a healthy job's record."""
    told = [(rule, rule.pattern.replace("{local_rank}", "[0-9]+")) for rule in rules()]
    return [
        Label(role=rule.role, pattern=pattern, source=rule.source.replace("{launcher}", "*launcher.log"))
        for rule, pattern in told
    ]


def labels_of(job: Job, records: Sequence[Record]) -> tuple[Label, ...]:
    """The labels that decide for at least one record."""
    made = candidates(job)
    ready = matchers(_only_labels(made))
    used = {next((at for at, label in enumerate(ready) if label(record)), None) for record in records}
    return tuple(label for at, label in enumerate(made) if at in used)


def unlabelled(labels: Sequence[Label], records: Sequence[Record]) -> Iterator[Record]:
    """Records with suspicious words for which no label holds: for a person to look at."""
    ready = matchers(_only_labels(labels))
    for record in records:
        told = f"{record.head}\n{record.key}"
        if SUSPICIOUS.search(told) and not any(label(record) for label in ready):
            yield record


def _only_labels(labels: Sequence[Label]) -> Truth:
    told = {"job": "", "kind": "", "recipe": "", "dialect": "", "world_size": 1, "seed": 0}
    return Truth.model_validate({**told, "provable": {"status": "unknown"}, "labels": list(labels)})
