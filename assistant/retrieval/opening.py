"""Opens the search that the settings ask for, or as much of it as there is. The one way in for commands and tools."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.case.store import data_dir
from assistant.errors import ConfigError, KnowledgeError, ModelMissing, RootrankError, StoreError
from assistant.faults.library import load_library
from assistant.faults.matcher import Matcher
from assistant.incidents.models import Incident
from assistant.incidents.store import IncidentStore
from assistant.paths import locate
from assistant.retrieval.cache import Cache
from assistant.retrieval.embedders import Embedder, chosen
from assistant.retrieval.index import Index, Progress, Wanted, in_memory, open_index
from assistant.retrieval.search import Rerank, Searcher, cross_encoder
from assistant.retrieval.tuning import Tuning, tuning
from assistant.retrieval.vectors import Server

if TYPE_CHECKING:
    from assistant.config import Retrieval, Settings

FOLDER = "retrieval"
"""Below the data folder."""


def open_search(
    settings: Settings,
    *,
    folders: Sequence[Path] | None = None,
    team: Callable[[], Iterable[Incident]] | None = None,
    progress: Progress | None = None,
) -> Searcher:
    """A search over all knowledge and incidents, a team's own included unless others are given.

    What is missing (a model, the vector server, the cache) is left out and named in `Searcher.missing`: codes and words
    are always searched.
    """
    missing: list[str] = []
    embedder = _embedder(settings.retrieval, missing)
    rules = _tuning(missing)
    own, files = _team(settings, missing) if team is None else (team, tuple)
    wanted = Wanted(rules, embedder, server_of(settings.retrieval), folders, own, files, progress)
    index, wanted = _index(cache_of(settings), wanted, missing)
    missing += index.problems
    if index.stale:
        missing.append(f"an older index is searched: {index.stale}")
    matcher = _matcher(folders, missing)
    return Searcher(index, wanted, matcher, _rerank(settings.retrieval, missing), tuple(dict.fromkeys(missing)))


def wanted_of(settings: Settings, *, progress: Progress | None = None) -> Wanted:
    """What the settings ask for, nothing left out; for `rebuild`.

    Raises:
        ModelMissing, ModelChanged: the embedder cannot be had, unless `auto` found none.
    """
    own = settings.retrieval
    embedder = _embedder(own, []) if own.embedder == "auto" else chosen(own)
    team, files = _team(settings, [])
    return Wanted(tuning(), embedder, server_of(own), None, team, files, progress)


def cache_of(settings: Settings) -> Cache:
    """Where the index is kept."""
    return Cache(data_dir(settings.storage.data_dir) / FOLDER, settings.retrieval.timeout_seconds)


def server_of(settings: Retrieval) -> Server | None:
    """The shared Chroma server, where one is set. ConfigError for a header that is none."""
    if not settings.chroma_url:
        return None
    headers = dict(_header(text) for text in settings.chroma_headers)
    return Server(settings.chroma_url, headers, settings.proxy, settings.timeout_seconds)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name.strip()):
        raise ConfigError(f"retrieval.chroma_headers: {name.strip()!r} is no header", hint="write it as Name: value")
    filled = re.sub(r"\$(\w+)", lambda found: os.environ.get(found[1], ""), value.strip())
    return name.strip(), filled


def _team(
    settings: Settings, missing: list[str]
) -> tuple[Callable[[], Iterable[Incident]], Callable[[], Iterable[Path]]]:
    """The incidents that a team confirmed, and the files that hold them."""
    folder = settings.incidents.folder or data_dir(settings.storage.data_dir) / "incidents"

    def read() -> list[Incident]:
        try:
            kept, damaged = IncidentStore(folder).all()
        except StoreError as error:
            missing.append(_said(error))
            return []
        missing.extend(damaged)
        return kept

    return read, lambda: folder.glob("*/*.json")


def _embedder(settings: Retrieval, missing: list[str]) -> Embedder | None:
    try:
        return chosen(settings)
    except RootrankError as error:
        missing.append(_said(error))
        return None


def _tuning(missing: list[str]) -> Tuning:
    try:
        return tuning()
    except KnowledgeError as error:
        missing.append(_said(error))
        return Tuning()


def _index(cache: Cache, wanted: Wanted, missing: list[str]) -> tuple[Index, Wanted]:
    """The best index there can be: with vectors, without, or in memory."""
    try:
        return open_index(cache, wanted), wanted
    except RootrankError as error:
        missing.append(_said(error))
    plain = Wanted(wanted.tuning, None, None, wanted.folders, wanted.team, wanted.team_files)
    if wanted.embedder is not None:
        try:
            return open_index(cache, plain), plain
        except RootrankError as error:
            missing.append(_said(error))
    return in_memory(plain), plain


def _matcher(folders: Sequence[Path] | None, missing: list[str]) -> Matcher | None:
    chosen_folders = [folder / "faults" for folder in (locate("knowledge") if folders is None else folders)]
    try:
        return Matcher(load_library(chosen_folders, strict=False))
    except KnowledgeError as error:
        missing.append(_said(error))
        return None


def _rerank(settings: Retrieval, missing: list[str]) -> Rerank | None:
    if not settings.cross_encoder:
        return None
    try:
        return cross_encoder(Path(os.path.expanduser(settings.cross_encoder)))
    except (ImportError, OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        lost = ModelMissing(f"the cross-encoder cannot be loaded: {reason}", hint="correct retrieval.cross_encoder")
        missing.append(_said(lost))
        return None


def _said(error: RootrankError) -> str:
    return f"{error.message} ({error.hint})"
