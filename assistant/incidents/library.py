"""Reads `knowledge/incidents/*.yaml`. A broken file is reported and the others are served."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from assistant.errors import KnowledgeError
from assistant.incidents.models import Incident
from assistant.paths import locate

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HINT = "correct the entry, or take its file out of the folder"


@dataclass(frozen=True, slots=True)
class Filed:
    """An incident and the file it stands in."""

    incident: Incident
    file: str


def load_incidents(folders: Sequence[Path] | None = None) -> tuple[list[Filed], list[KnowledgeError]]:
    """The incidents of all YAML files, by default those of `knowledge/incidents`, and what could not be read.

    Folders come weakest first: an entry in a later one replaces the one of the same id.
    """
    chosen = [folder / "incidents" for folder in locate("knowledge")] if folders is None else folders
    kept: dict[str, Filed] = {}
    problems: list[KnowledgeError] = []
    for folder in chosen:
        seen: dict[str, str] = {}
        for filed in _folder(folder, problems):
            name = filed.incident.id
            if name in seen:
                problems.append(_wrong(filed.file, name, f"this id is taken already in {seen[name]}"))
                continue
            seen[name] = filed.file
            kept[name] = filed
    return list(kept.values()), problems


def _folder(folder: Path, problems: list[KnowledgeError]) -> Iterator[Filed]:
    for path in sorted(folder.glob("*.yaml")):
        try:
            entries = _entries(path)
        except KnowledgeError as error:
            problems.append(error)
            continue
        yield from _valid(path, entries, problems)


def _entries(path: Path) -> list[Any]:
    try:
        loaded = yaml.load(path.read_text("utf-8"), Loader=_LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        what = getattr(error, "problem", None) or " ".join(str(error).split())
        raise KnowledgeError(f"{where}: {what}", hint=_HINT) from None
    if not isinstance(loaded, list | None):
        raise KnowledgeError(f"{path}, line 1: expected a list of entries", hint=_HINT)
    return loaded or []


def _valid(path: Path, entries: Iterable[Any], problems: list[KnowledgeError]) -> Iterator[Filed]:
    for number, raw in enumerate(entries, start=1):
        try:
            yield Filed(Incident.model_validate(raw), str(path))
        except ValidationError as error:
            name = raw.get("id") if isinstance(raw, dict) else None
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "entry"
            problems.append(_wrong(str(path), str(name or f"number {number}"), f"{where}: {first['msg']}"))


def _wrong(file: str, name: str, why: str) -> KnowledgeError:
    return KnowledgeError(f"{file}, entry {name}: {why}", hint=_HINT)
