"""From what was typed to a case on the table: logs or a stored case, files added to it, a session taken up again."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assistant.cli import narration
from assistant.cli.diagnose import keep
from assistant.cli.progress import progress_bar
from assistant.cli.request import STDIN, Request, again, options
from assistant.cli.settings import case_store
from assistant.errors import StoreError, UsageError

if TYPE_CHECKING:
    from assistant.answers.offline import OfflineAnswerer
    from assistant.answers.sessions import SessionStore
    from assistant.case.models import Case
    from assistant.case.store import Inputs, StoredCase
    from assistant.config import Settings
    from assistant.faults.library import Library
    from assistant.intake.models import ProgressHook
    from assistant.pipeline import Examination
    from assistant.retrieval.models import Answer, Query
    from assistant.retrieval.search import Searcher
    from assistant.tools.calls import Calls
    from assistant.tools.desk import Opener

_CASE = re.compile(r"c-[0-9a-f]{1,32}|last")


@dataclass(slots=True)
class LazySearch:
    """The search over knowledge and incidents, opened when a tool first asks it. Safe in threads."""

    settings: Settings
    _searcher: Searcher | None = None
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, query: Query) -> Answer:
        """What is found."""
        with self._opening:
            if self._searcher is None:
                from assistant.cli.search import opened

                self._searcher = opened(self.settings)
        return self._searcher.search(query)

    def close(self) -> None:
        """Closes it, if it was opened."""
        if self._searcher is not None:
            self._searcher.close()


@dataclass(slots=True)
class Opened:
    """A case on the table."""

    case: Case
    calls: Calls
    offline: OfflineAnswerer
    search: LazySearch
    before: Case | None = None
    """The revision before files were added."""
    added: tuple[str, ...] = field(default=())
    seen: Examination | None = None
    """What was read just now; None for a stored case."""
    inputs: Inputs | None = None
    """What the case was made from."""
    unkept: str = ""
    """Why the case could not be stored."""


def open_case(
    targets: Sequence[str], added: Sequence[str], settings: Settings, *, save: bool, bar: bool,
    hook: ProgressHook | None = None, job: str | None = None,
) -> Opened:  # fmt: skip
    """The case of some logs, or a stored one. `hook` is told how far a read is, instead of a bar.

    Raises InputError, UnknownCase, UsageError.
    """
    stored = _stored(targets, settings)
    if stored is None:
        request = Request(tuple(targets), without=settings.diagnose.without, job=job)
        return _of_logs(request, added, settings, save=save, bar=bar, hook=hook)
    if job is not None:
        raise UsageError("a stored case is one job already", hint="leave --job out, or give the folder of the logs")
    if added:
        return _added(stored.case, again(stored.inputs, ()), added, settings, save=save, bar=bar, hook=hook)
    opened = _opened(stored.case, settings, _reader(stored, settings))
    opened.inputs = stored.inputs
    return opened


def with_more(opened: Opened, added: Sequence[str], settings: Settings, *, save: bool, hook: ProgressHook) -> Opened:
    """The next revision of the case on the table, whether or not it is stored. Raises InputError."""
    assert opened.inputs is not None
    request = again(opened.inputs, ())
    return _added(opened.case, request, added, settings, save=save, bar=False, hook=hook)


def cleared(opened: Opened, settings: Settings) -> Opened:
    """The same case on a table of its own, for another conversation: nothing is read again."""
    seen = opened.calls.desk.__dict__.get("examination", opened.seen)
    reader = (lambda: seen) if seen is not None else opened.calls.desk.reread
    fresh = _opened(opened.case, settings, reader)
    fresh.seen, fresh.inputs, fresh.unkept = seen, opened.inputs, opened.unkept
    return fresh


def names_case(targets: Sequence[str]) -> bool:
    """Whether a stored case is meant: a name that looks like a case's and is no file."""
    return len(targets) == 1 and _CASE.fullmatch(targets[0]) is not None and not os.path.exists(targets[0])


def _stored(targets: Sequence[str], settings: Settings) -> StoredCase | None:
    """The stored case that is meant, if one is."""
    return case_store(settings).load(targets[0]) if names_case(targets) else None


def _of_logs(
    request: Request, added: Sequence[str], settings: Settings, *, save: bool, bar: bool, hook: ProgressHook | None
) -> Opened:
    if added and STDIN in request.paths:
        raise UsageError("standard input cannot be read again with further files", hint="give all files at once")
    case, seen = _examined(request, settings, bar=bar, hook=hook)
    unkept = keep(case, request, settings) if save else ""
    if not added:
        opened = _opened(case, settings, lambda: seen, seen.reading.library)
        opened.seen, opened.inputs, opened.unkept = seen, request.inputs(), unkept
        return opened
    return _added(case, request, added, settings, save=save, bar=bar, hook=hook)


def _added(
    before: Case, request: Request, added: Sequence[str], settings: Settings, *, save: bool, bar: bool,
    hook: ProgressHook | None,
) -> Opened:  # fmt: skip
    """The next revision, made from the same logs and some more."""
    later = again(request.inputs(), added)
    found, seen = _examined(later, settings, bar=bar, hook=hook)
    case = found.model_copy(update={"case": before.case, "revision": before.revision + 1})
    case, unkept = _stored_as_next(case, later, settings) if save else (case, "")
    opened = _opened(case, settings, lambda: seen, seen.reading.library)
    opened.before, opened.added, opened.seen = before, tuple(added), seen
    opened.inputs, opened.unkept = later.inputs(), unkept
    return opened


def _stored_as_next(case: Case, request: Request, settings: Settings) -> tuple[Case, str]:
    """The case with its number in the store, or why it is not kept: no verdict is lost over a full disk."""
    try:
        return case_store(settings).add(case, request.inputs()), ""
    except StoreError as error:
        narration.say(f"warning: the case is not kept: {error.message}; {error.hint}")
        return case, error.message


def _examined(
    request: Request, settings: Settings, *, bar: bool, hook: ProgressHook | None = None
) -> tuple[Case, Examination]:
    started = time.monotonic()
    if settings.diagnose.threads:
        os.environ.setdefault("POLARS_MAX_THREADS", str(settings.diagnose.threads))
    from assistant.pipeline import case_of, examine

    with progress_bar(bar) as meter:
        seen = examine(request.paths, options(request, settings, hook or meter))
    return case_of(seen, seconds=time.monotonic() - started), seen


def _reader(stored: StoredCase, settings: Settings) -> Opener:
    """Reads the logs of a stored case again, when a question first needs them."""

    def read() -> Examination:
        request = again(stored.inputs, ())
        narration.remark("reading the logs of the case again")
        return _examined(request, settings, bar=False)[1]

    return read


def _opened(case: Case, settings: Settings, reader: Opener, library: Library | None = None) -> Opened:
    """`library`: the one that the logs were read with, so that it is not loaded twice."""
    from assistant.cli.understanding import offline_answerer
    from assistant.faults.library import load_library
    from assistant.tools.calls import Calls
    from assistant.tools.desk import Desk
    from assistant.tools.words import load_glossary

    search = LazySearch(settings)
    library = library or load_library(strict=False)
    calls = Calls(Desk(case, library, load_glossary(), open_logs=reader, search=search))
    calls.per_turn = settings.chat.max_calls
    return Opened(case, calls, offline_answerer(calls, settings), search)


def session_store(settings: Settings) -> SessionStore:
    """Where sessions are kept."""
    from assistant.answers.sessions import SessionStore
    from assistant.case.store import data_dir

    return SessionStore(data_dir(settings.storage.data_dir))
