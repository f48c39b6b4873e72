"""A team's memory: confirmed incidents, one folder an incident, one JSON file a revision.

Nothing is ever overwritten: a correction is a further revision, and two people who write at the same moment both keep
what they wrote, because a revision first claims its number. Folders can be shared, copied over each other and merged.
Incidents hold log lines: folders are 0700, files 0600.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from assistant.disk import claim, replace_file, reported
from assistant.errors import StoreError, UnknownIncident
from assistant.incidents.models import Incident

VERSION = 1
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,119}")
_HINT = "set incidents.folder to a folder that you can use"
_HEAD = f'{{"store":{VERSION},"incident":'


@dataclass(frozen=True, slots=True)
class Merged:
    """What an import did."""

    added: tuple[str, ...]
    """Ids that were new."""
    revised: tuple[str, ...]
    """Ids of which a further revision was taken."""
    known: int
    """Revisions that were there already."""


@dataclass(frozen=True, slots=True)
class IncidentStore:
    """The incidents under `folder`. Safe to use from several processes at once."""

    folder: Path

    def add(self, incident: Incident) -> Incident:
        """Stores an incident as the next free revision of its id, and returns it with that number.

        Raises StoreError where the folder cannot be written.
        """
        with reported(str(self.folder), _HINT):
            number = max(self._revisions(incident.id), default=0) + 1
            while not claim(path := self._path(incident.id, number)):
                number += 1
            numbered = incident.model_copy(update={"revision": number})
            replace_file(path, f"{_HEAD}{numbered.model_dump_json()}}}\n".encode("utf-8", "backslashreplace"))
            return numbered

    def get(self, name: str, revision: int | None = None) -> Incident:
        """The newest revision of an incident, or the given one. Raises UnknownIncident."""
        found = self._revisions(name)
        if not found or (revision is not None and revision not in found):
            known = ", ".join(self.ids()[:10]) or "none yet"
            raise UnknownIncident(f"no stored incident {name!r}", hint=f"stored incidents: {known}")
        return _read(self._path(name, revision or found[-1]))

    def ids(self) -> list[str]:
        """Ids of all incidents, sorted."""
        with reported(str(self.folder), _HINT):
            if not self.folder.is_dir():
                return []
            return sorted(path.name for path in self.folder.iterdir() if path.is_dir() and _ID.fullmatch(path.name))

    def all(self) -> tuple[list[Incident], list[str]]:
        """The newest revision of every incident, and one line for each that cannot be read."""
        kept, damaged = [], []
        for name in self.ids():
            try:
                kept.append(self.get(name))
            except UnknownIncident:
                continue
            except StoreError as error:
                damaged.append(error.message)
        return kept, damaged

    def history(self, name: str) -> list[Incident]:
        """All revisions of an incident, oldest first."""
        return [_read(self._path(name, number)) for number in self._revisions(name)]

    def merge(self, incidents: Iterable[Incident]) -> Merged:
        """Takes incidents of elsewhere; what is stored already in the same words is left alone."""
        added: list[str] = []
        revised: list[str] = []
        known = 0
        for incident in incidents:
            before = self.history(incident.id)
            if any(_same(incident, one) for one in before):
                known += 1
                continue
            self.add(incident)
            (revised if before else added).append(incident.id)
        return Merged(tuple(dict.fromkeys(added)), tuple(dict.fromkeys(revised)), known)

    def _revisions(self, name: str) -> list[int]:
        if not _ID.fullmatch(name):
            return []
        with reported(str(self.folder), _HINT):
            files = (self.folder / name).glob("*.json")
            return sorted(int(path.stem) for path in files if path.stem.isdecimal() and path.stat().st_size)

    def _path(self, name: str, revision: int) -> Path:
        return self.folder / name / f"{revision}.json"


def _same(one: Incident, other: Incident) -> bool:
    return one.model_copy(update={"revision": 1}) == other.model_copy(update={"revision": 1})


def _read(path: Path) -> Incident:
    with reported(str(path), _HINT):
        text = path.read_text("utf-8", "replace")
    if not text.startswith(_HEAD):
        found = re.match(r'\{"store":(\d{1,6}),', text)
        if found and int(found[1]) > VERSION:
            raise StoreError(f"{path} was written by a newer version", hint="update Rootrank")
        raise _damaged(path)
    try:
        return Incident.model_validate_json(text.strip()[len(_HEAD) : -1])
    except ValidationError:
        raise _damaged(path) from None


def _damaged(path: Path) -> StoreError:
    return StoreError(f"{path} is damaged", hint="move the file away; other revisions of the incident stay usable")
