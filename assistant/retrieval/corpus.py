"""Gathers every document there is: the library, pages of facts, incidents, a team's own. What is broken is reported."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from assistant.errors import KnowledgeError
from assistant.faults.library import Library, load_library
from assistant.incidents.library import load_incidents
from assistant.incidents.models import Incident
from assistant.paths import locate, user_folder
from assistant.retrieval.documents import Document, of_fault, of_incident
from assistant.retrieval.pages import read_page

MOST = 200_000
"""Documents in one folder; what follows is not read."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """All documents in stable order, and what could not be read."""

    documents: tuple[Document, ...]
    problems: tuple[KnowledgeError, ...] = ()

    def digest(self, *, placed: bool) -> str:
        """The same for the same content, however old its files are; and wherever they lie, where not `placed`."""
        shown = self.documents if placed else [replace(document, file="") for document in self.documents]
        return hashlib.sha256(orjson.dumps(shown)).hexdigest()

    def find(self, name: str) -> list[Document]:
        """The documents of an id, or of a key such as `fault:gpu-out-of-memory`."""
        return [document for document in self.documents if name in (document.id, document.key)]


def gather(folders: Sequence[Path] | None = None, team: Iterable[Incident] = ()) -> Corpus:
    """Everything under the knowledge folders, weakest first, and the incidents of a team.

    An entry of a later folder replaces one of the same kind and id.
    """
    chosen = locate("knowledge") if folders is None else folders
    problems: list[KnowledgeError] = []
    found = [*_faults(chosen, problems), *_pages(chosen, problems), *_incidents(chosen, problems)]
    found += [of_incident(incident) for incident in team]
    kept = {document.key: document for document in found}
    return Corpus(tuple(kept[key] for key in sorted(kept)), tuple(problems))


def stamp(folders: Sequence[Path] | None = None, more: Iterable[Path] = ()) -> str:
    """Changes whenever a file that `gather` reads may have changed: names, sizes and times, not content."""
    chosen = locate("knowledge") if folders is None else folders
    seen = hashlib.sha256()
    for path in [*_files(chosen), *sorted(more)]:
        try:
            status = path.stat()
        except OSError:
            continue
        seen.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}\n".encode("utf-8", "replace"))
    return seen.hexdigest()


def pages_in(folder: Path) -> list[Path]:
    """The pages under a knowledge folder; hidden files and `README.md` are none."""
    found = (path for path in (folder / "docs").rglob("*.md") if path.name != "README.md")
    return sorted(path for path in found if not _hidden(path.relative_to(folder)))[:MOST]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from (folder / "retrieval.yaml", *sorted((folder / "faults").glob("*.yaml")), *pages_in(folder))
        yield from sorted((folder / "incidents").glob("*.yaml"))


def _faults(folders: Sequence[Path], problems: list[KnowledgeError]) -> Iterator[Document]:
    try:
        library: Library = load_library([folder / "faults" for folder in folders], strict=False)
    except KnowledgeError as error:
        problems.append(error)
        return
    problems += [KnowledgeError(problem.said(), hint=problem.remedy) for problem in library.left_out]
    for fault in library:
        place = library.places.get(fault.id)
        yield of_fault(fault, place.file if place else "", _origin(place.file if place else ""))


def _pages(folders: Sequence[Path], problems: list[KnowledgeError]) -> Iterator[Document]:
    for folder in folders:
        seen: dict[str, str] = {}
        for path in pages_in(folder):
            try:
                page = read_page(path, _origin(str(path)))
            except KnowledgeError as error:
                problems.append(error)
                continue
            if page.id in seen:
                taken = KnowledgeError(f"{path}: the id {page.id} is taken already in {seen[page.id]}", hint=_HINT)
                problems.append(taken)
                continue
            seen[page.id] = str(path)
            yield page


def _incidents(folders: Sequence[Path], problems: list[KnowledgeError]) -> Iterator[Document]:
    filed, wrong = load_incidents([folder / "incidents" for folder in folders])
    problems += wrong
    yield from (of_incident(one.incident, one.file) for one in filed)


def _origin(file: str) -> str:
    return "user" if file and Path(file).is_relative_to(user_folder()) else "shipped"


_HINT = "give one of them another id"
