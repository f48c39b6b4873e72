"""Checks what people edit: pages of facts, incidents, how the search is tuned. The library has its own check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import KnowledgeError
from assistant.faults.library import load_library
from assistant.incidents.library import load_incidents
from assistant.paths import locate
from assistant.retrieval.corpus import gather, pages_in
from assistant.retrieval.documents import Document
from assistant.retrieval.tuning import FILE, read_tuning


@dataclass(frozen=True, slots=True)
class Report:
    """What is wrong, one line each, and how much there is."""

    problems: tuple[str, ...]
    counts: dict[str, dict[str, int]]
    """Kind of document -> how its facts were checked -> number; a kind's sum is its number of documents."""


def check(folders: Sequence[Path] | None = None) -> Report:
    """Checks everything in the knowledge folders but the library's own promises."""
    chosen = list(locate("knowledge") if folders is None else folders)
    corpus = gather(chosen)
    known = _fault_ids(chosen)
    problems = [f"{error.message}" for error in corpus.problems]
    for document in corpus.documents:
        problems += [f"{document.file}: {what}" for what in _wrong(document, known)]
    problems += _misplaced(chosen) + _tuned(chosen) + _unsourced(chosen)
    counts: dict[str, Counter[str]] = {}
    for document in corpus.documents:
        counts.setdefault(document.kind, Counter())[document.checked or "unstated"] += 1
    return Report(tuple(dict.fromkeys(problems)), {kind: dict(sorted(count.items())) for kind, count in counts.items()})


def _fault_ids(folders: Sequence[Path]) -> frozenset[str]:
    try:
        return frozenset(fault.id for fault in load_library([one / "faults" for one in folders], strict=False))
    except KnowledgeError:
        return frozenset()


def _wrong(document: Document, known: frozenset[str]) -> list[str]:
    """What is wrong with one document, apart from its schema."""
    found = [f"names the fault {fault}, which does not exist" for fault in document.faults if fault not in known]
    if len(set(document.codes)) < len(document.codes):
        found.append("a code is listed twice")
    if not document.sections:
        found.append("holds no text")
    if document.kind == "doc" and document.origin == "shipped":
        found += [f"{name} is missing" for name in ("layer", "source") if not getattr(document, name)]
        if document.source and not document.source.startswith(("https://", "http://")):
            found.append("source is no address")
        if not any(section.heading for section in document.sections):
            found.append("has no headings")
    return found


def _misplaced(folders: Sequence[Path]) -> list[str]:
    """Shipped pages that are not called as their id says, so that nobody would find them."""
    pages = {str(path): path.stem for folder in folders for path in pages_in(folder)}
    named = {document.file: document.id for document in gather(folders).documents if document.origin == "shipped"}
    return [f"{file}: has the id {named[file]}" for file, stem in pages.items() if named.get(file, stem) != stem]


def _unsourced(folders: Sequence[Path]) -> list[str]:
    filed, _ = load_incidents([folder / "incidents" for folder in folders])
    return [
        f"{one.file}, entry {one.incident.id}: source is missing"
        for one in filed
        if one.incident.origin == "public" and not one.incident.source
    ]


def _tuned(folders: Sequence[Path]) -> list[str]:
    problems = []
    for folder in folders:
        if (folder / FILE).is_file():
            try:
                read_tuning(folder / FILE)
            except KnowledgeError as error:
                problems.append(error.message)
    return problems
