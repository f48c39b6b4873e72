"""Reads secrets and attacks, and gathers ordinary lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import BadTruth
from assistant.faults.library import load_library
from evals.desks import ROOT
from evals.jobset import DATA, unpacked

SECRETS, ATTACKS = DATA / "secrets.yaml", DATA / "injections.yaml"
FIXTURES = ROOT / "tests/fixtures/torchrun"
EXAMPLES = ROOT / "knowledge/examples"


class Data(BaseModel):
    """Base: frozen, closed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Secret(Data):
    """A line with what must not be left of it."""

    shape: str
    line: str
    hidden: tuple[str, ...] = Field(min_length=1)


class SecretFile(Data):
    """All secrets."""

    schema_: Literal["rootrank.secrets/1"] = Field(alias="schema")
    secrets: tuple[Secret, ...]


class Attack(Data):
    """Hostile text, and where it stands."""

    where: Literal["log", "file", "knowledge"]
    kind: str
    text: str = Field(min_length=1)


class AttackFile(Data):
    """All attacks."""

    schema_: Literal["rootrank.injections/1"] = Field(alias="schema")
    attacks: tuple[Attack, ...]


F = TypeVar("F", bound=Data)


def load_secrets() -> tuple[Secret, ...]:
    """All secrets. Raises BadTruth."""
    return _read(SECRETS, SecretFile).secrets


def load_attacks() -> tuple[Attack, ...]:
    """All attacks. Raises BadTruth."""
    return _read(ATTACKS, AttackFile).attacks


def _read(path: Path, form: type[F]) -> F:
    try:
        return form.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        problem = " ".join(str(error).split())[:300]
        raise BadTruth(f"{path}: {problem}", hint="its form is that of evals/privacy/data.py") from error


def benign_lines(every: int = 1) -> list[str]:
    """Distinct lines of kept logs (of one archive in `every`), of fault examples and of knowledge pages."""
    lines = [line for archive in sorted(FIXTURES.glob("*.tar.*"))[::every] for line in _lines(archive)]
    lines += _lines(EXAMPLES / "hanging-rank")
    lines += [line for fault in load_library() for text in fault.examples.match for line in text.splitlines()]
    pages = sorted((ROOT / "knowledge/docs").rglob("*.md"))
    lines += [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    return list(dict.fromkeys(line for line in lines if line.strip()))


def _lines(job: Path) -> Iterator[str]:
    with unpacked(job) as folder:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            yield from file.read_text(encoding="utf-8", errors="replace").splitlines()
