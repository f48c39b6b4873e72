"""Stored cases: one folder a case, one JSON file a revision, kept after the logs themselves are gone.

Files are written beside their final name and moved into place, so that a reader never sees half a file; a new revision
first claims its number, so that two runs at the same time cannot take the same one. Log lines may hold private text:
folders are 0700, files 0600. Reading a case back needs none of the analysis libraries.
"""

from __future__ import annotations

import contextlib
import difflib
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from assistant.case.models import Case
from assistant.disk import claim, folder_for, replace_file, reported
from assistant.errors import StoreError, UnknownCase

STORE_VERSION = 1
LATEST = "last"
"""Stands for the case that was saved most recently."""

_ID = re.compile(r"c-[0-9a-f]{1,32}")
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a case was made from, so that it can be made again with a file more."""

    paths: tuple[str, ...]
    """Absolute, or `-` for standard input."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the run that change its result."""


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case as it was stored."""

    case: Case
    inputs: Inputs
    saved: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One line of `rootrank cases list`."""

    id: str
    revision: int
    saved: str
    status: str
    cause: str
    who: str
    job: str
    paths: tuple[str, ...]


def data_dir(configured: Path | None) -> Path:
    """The configured data folder, else the platform's."""
    if configured is not None:
        return configured
    from platformdirs import user_data_path

    return user_data_path("rootrank")


@dataclass(frozen=True, slots=True)
class CaseStore:
    """The cases under `root`/cases. Safe to use from several processes at once."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where the cases lie."""
        return self.root / "cases"

    def save(self, case: Case, inputs: Inputs) -> Path:
        """Stores a case under its own revision, in place of an earlier run on the same input.

        Raises:
            StoreError: the data folder cannot be written.
        """
        with reported(f"cannot write to the data folder {self.root}"):
            return self._write(self._revision(case.case, case.revision), case, inputs)

    def add(self, case: Case, inputs: Inputs) -> Case:
        """Stores a case as the next free revision and returns it with that number."""
        with reported(f"cannot write to the data folder {self.root}"):
            number = case.revision
            while not claim(path := self._revision(case.case, number)):
                number += 1
            numbered = case.model_copy(update={"revision": number})
            self._write(path, numbered, inputs)
            return numbered

    def load(self, name: str, revision: int | None = None) -> StoredCase:
        """The newest revision of a case, or the given one. `name` may be a unique beginning of the id, or `last`.

        Raises:
            UnknownCase: no such case or revision.
            StoreError: the file is damaged or from a newer version.
        """
        case_id = self.resolve(name)
        numbers = self._revisions(case_id)
        if revision is not None and revision not in numbers:
            known = ", ".join(map(str, numbers))
            raise UnknownCase(f"case {case_id} has no revision {revision}", hint=f"it has {known}")
        return _read(self._revision(case_id, revision or numbers[-1]))

    def resolve(self, name: str) -> str:
        """The id that `name` stands for; UnknownCase if none or several."""
        known = self.ids()
        if name == LATEST and known:
            return max(known, key=lambda case_id: (self._age_key(case_id), case_id))
        found = [case_id for case_id in known if case_id == name] or [
            case_id for case_id in known if len(name) > 2 and case_id.startswith(name)
        ]
        if len(found) == 1:
            return found[0]
        raise _unknown(name, found, known)

    def ids(self) -> list[str]:
        """Ids of all cases, sorted."""
        with reported(f"cannot read the data folder {self.root}"):
            if not self.folder.exists():
                return []
            return sorted(path.name for path in self.folder.iterdir() if _ID.fullmatch(path.name))

    def summaries(self) -> Iterator[Summary]:
        """What is stored, the newest first; damaged cases come last with the status `unreadable`."""
        found = [self._summary(case_id) for case_id in self.ids() if self._revisions(case_id)]
        yield from sorted(found, key=lambda summary: (summary.saved, summary.id), reverse=True)

    def remove(self, name: str) -> str:
        """Removes a case with all its revisions and returns its id."""
        case_id = self.resolve(name)
        with reported(f"cannot write to the data folder {self.root}"):
            shutil.rmtree(self.folder / case_id)
        return case_id

    def prune(self, days: float, *, dry_run: bool = False, now: float | None = None) -> list[str]:
        """Removes the cases last saved more than `days` ago; returns their ids."""
        limit = (time.time() if now is None else now) - days * _DAY
        old = [case_id for case_id in self.ids() if self._age_key(case_id) < limit]
        for case_id in old if not dry_run else ():
            with reported(f"cannot write to the data folder {self.root}"):
                shutil.rmtree(self.folder / case_id, ignore_errors=True)
        return old

    def _revision(self, case_id: str, number: int) -> Path:
        if not _ID.fullmatch(case_id):
            raise UnknownCase(f"{case_id!r} is not a case id", hint="ids look like c-0123456789")
        return self.folder / case_id / f"{number}.json"

    def _revisions(self, case_id: str) -> list[int]:
        with reported(f"cannot read the data folder {self.root}"):
            names = [path.stem for path in (self.folder / case_id).glob("*.json") if path.stat().st_size]
        return sorted(int(name) for name in names if name.isdecimal())

    def _age_key(self, case_id: str) -> float:
        times = [0.0]
        for path in (self.folder / case_id).glob("*.json"):
            with contextlib.suppress(OSError):
                times.append(path.stat().st_mtime)
        return max(times)

    def _write(self, path: Path, case: Case, inputs: Inputs) -> Path:
        document = {
            "store": STORE_VERSION,
            "saved": datetime.now(UTC).isoformat(timespec="microseconds"),
            "inputs": _portable(asdict(inputs)),
            "case": case.model_dump(mode="json"),
        }
        folder_for(path)
        replace_file(path, orjson.dumps(document))
        return path

    def _summary(self, case_id: str) -> Summary:
        number = self._revisions(case_id)[-1]
        try:
            return _summary(self._revision(case_id, number), number)
        except (StoreError, KeyError, TypeError, AttributeError, ValueError):
            return Summary(case_id, number, "", "unreadable", "", "", "", ())


_RAW = "\0"
"""Begins a stored text that is not valid Unicode, as a file name may be: its bytes follow in hexadecimal."""


def _portable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """`value` with such texts in a form that JSON can hold."""
    if isinstance(value, dict):
        return {key: _portable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_portable(item) for item in value]
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        return _RAW + value.encode("utf-8", "surrogatepass").hex()
    return value


def _restored(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The opposite of `_portable`."""
    if isinstance(value, dict):
        return {key: _restored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, str) and value.startswith(_RAW):
        return bytes.fromhex(value[1:]).decode("utf-8", "surrogatepass")
    return value


def _document(path: Path) -> dict[str, Any]:
    try:
        document = orjson.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}", hint="check the rights of the data folder") from None
    except orjson.JSONDecodeError:
        raise _damaged(path) from None
    if not isinstance(document, dict) or not isinstance(document.get("store"), int):
        raise _damaged(path)
    if document["store"] > STORE_VERSION:
        raise StoreError(f"{path} was written by a newer version", hint="update Rootrank, or remove the case")
    return document


def _read(path: Path) -> StoredCase:
    document = _document(path)
    try:
        stored = _restored(document["inputs"])
        inputs = Inputs(tuple(stored["paths"]), dict(stored["options"]))
        return StoredCase(Case.model_validate_json(orjson.dumps(document["case"])), inputs, str(document["saved"]))
    except (ValidationError, KeyError, TypeError, ValueError):
        raise _damaged(path) from None


def _summary(path: Path, revision: int) -> Summary:
    document = _document(path)
    case = document["case"]
    places = [_place(suspect) for suspect in case["suspects"]]
    who = ", ".join(places[:3]) + (f" +{len(places) - 3}" if len(places) > 3 else "")
    job = case["job"].get("id") or ""
    paths = tuple(path.encode(errors="backslashreplace").decode() for path in _restored(document["inputs"])["paths"])
    return Summary(case["case"], revision, document["saved"], case["status"], case["verdict"]["cause"], who, job, paths)


def _place(suspect: dict[str, Any]) -> str:
    rank = None if suspect["rank"] is None else f"rank {suspect['rank']}"
    return " ".join(part for part in (suspect["node"], rank, suspect["device"]) if part)


def _damaged(path: Path) -> StoreError:
    return StoreError(f"{path} is damaged", hint=f"remove it: rootrank cases remove {path.parent.name}")


def _unknown(name: str, found: list[str], known: list[str]) -> UnknownCase:
    if found:
        return UnknownCase(f"{name} fits several cases", hint=f"one of {', '.join(found[:5])}")
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "run `rootrank cases list` for the cases there are"
    return UnknownCase(f"no stored case {name!r}", hint=hint)
