"""Reads `knowledge/faults/*.yaml` into one ordered, immutable library, and refuses data that could not work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from assistant.errors import KnowledgeError
from assistant.faults.models import Fault
from assistant.faults.regexes import Regex, RegexError, compile_regex
from assistant.paths import locate

GROUPS = frozenset({"rank", "local_rank", "task", "node", "device", "pid", "peer", "iteration", "exitcode", "signal"})
"""Names that a signature's groups may have."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HINT = "Correct the entry, or take its file out of the folder."

_Placed = tuple[str, Fault]
"""A file (as it is named in errors) and an entry of it."""


@dataclass(frozen=True, slots=True)
class Library:
    """All entries, ordered by file name and then as they stand in their file."""

    faults: tuple[Fault, ...]
    _index: dict[str, Fault] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._index.update((fault.id, fault) for fault in self.faults)

    def get(self, fault_id: str) -> Fault | None:
        """The entry of that id, or None."""
        return self._index.get(fault_id)

    def __getitem__(self, fault_id: str) -> Fault:
        return self._index[fault_id]

    def __contains__(self, fault_id: object) -> bool:
        return fault_id in self._index

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)


def load_library(folders: Sequence[Path] | None = None) -> Library:
    """The entries of all YAML files in the folders, weakest folder first; by default those of `knowledge/faults`.

    An entry in a later folder replaces the one of the same id. Raises KnowledgeError, naming file and entry, for
    anything that is not a valid library.
    """
    chosen = [folder / "faults" for folder in locate("knowledge")] if folders is None else list(folders)
    entries: dict[str, _Placed] = {}
    for folder in chosen:
        entries |= _folder(folder)
    if not entries:
        shown = ", ".join(map(str, chosen)) or "knowledge/faults"
        raise KnowledgeError(f"no fault entries in {shown}", hint="Reinstall Rootrank, or name another folder.")
    return _linked(list(entries.values()))


def build(entries: Iterable[Fault]) -> Library:
    """A library of entries that are at hand already, such as learned ones, under the same rules."""
    return _linked(list(_unique(_checked("-", fault) for fault in entries).values()))


def _folder(folder: Path) -> dict[str, _Placed]:
    return _unique(placed for path in sorted(folder.glob("*.yaml")) for placed in _read(path))


def _read(path: Path) -> Iterator[_Placed]:
    for number, raw in enumerate(_entries(path), start=1):
        name = raw.get("id") if isinstance(raw, dict) else None
        try:
            fault = Fault.model_validate(raw)
        except ValidationError as error:
            raise _wrong(str(path), str(name or f"number {number}"), _first(error)) from error
        yield _checked(str(path), fault)


def _entries(path: Path) -> list[Any]:
    try:
        loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise KnowledgeError(f"{path}: {_one_line(str(error))}", hint=_HINT) from error
    if not isinstance(loaded, list | None):
        raise KnowledgeError(f"{path}: expected a list of entries", hint=_HINT)
    return loaded or []


def _checked(file: str, fault: Fault) -> _Placed:
    for signature in fault.signatures:
        _reject_groups(file, fault.id, signature.regex)
        for regex in (signature.regex, *signature.requires, *signature.excludes):
            _compiled(file, fault.id, regex)
    return file, fault


def _reject_groups(file: str, name: str, regex: str) -> None:
    compiled = _compiled(file, name, regex)
    if compiled.search("") is not None:
        raise _wrong(file, name, f"regex {regex!r} matches the empty text")
    if unknown := sorted(set(compiled.groupindex) - GROUPS):
        raise _wrong(file, name, f"regex {regex!r} has unknown groups: {', '.join(unknown)}")


def _compiled(file: str, name: str, regex: str) -> Regex:
    try:
        return compile_regex(regex)
    except RegexError as error:
        raise _wrong(file, name, f"regex {regex!r} is not RE2: {_one_line(_text(error))}") from error


def _unique(placed: Iterable[_Placed]) -> dict[str, _Placed]:
    seen: dict[str, _Placed] = {}
    for file, fault in placed:
        if fault.id in seen:
            raise _wrong(file, fault.id, f"this id is taken already in {seen[fault.id][0]}")
        seen[fault.id] = (file, fault)
    return seen


def _linked(placed: list[_Placed]) -> Library:
    known = {fault.id for _, fault in placed}
    for file, fault in placed:
        if unknown := sorted(set(fault.explains) - known):
            raise _wrong(file, fault.id, f"`explains` names unknown entries: {', '.join(unknown)}")
    return Library(tuple(fault for _, fault in placed))


def _wrong(file: str, name: str, why: str) -> KnowledgeError:
    return KnowledgeError(f"{file}, entry {name}: {why}", hint=_HINT)


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'entry'}: {first['msg']}"


def _text(error: Exception) -> str:
    first = error.args[0] if error.args else ""
    return first.decode(errors="replace") if isinstance(first, bytes) else str(first)


def _one_line(text: str) -> str:
    return " ".join(text.split())
