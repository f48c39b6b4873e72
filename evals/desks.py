"""Opens packed jobs for conversations: the case, its logs on disk for as long as the context lasts, and the tools."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from assistant.answers.intents import Intents, load_intents
from assistant.answers.meaning import SecondOpinion
from assistant.answers.offline import OfflineAnswerer
from assistant.case.models import Case
from assistant.errors import BadTruth
from assistant.pipeline import Examination, Options, case_of, examine
from assistant.retrieval.index import Wanted, in_memory
from assistant.retrieval.models import Answer, Query
from assistant.retrieval.search import Searcher
from assistant.retrieval.tuning import tuning
from assistant.tools.calls import Calls
from assistant.tools.desk import Desk
from assistant.tools.words import Glossary, load_glossary
from evals.jobset import ENDINGS, unpacked

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Opened:
    """One job, read once, for any number of conversations."""

    name: str
    folder: Path
    case: Case
    examination: Examination = field(repr=False)

    def calls(self, *, search: bool = True) -> Calls:
        """Tools with nothing shown yet."""
        library = self.examination.reading.library
        found = searched if search else None
        return Calls(Desk(self.case, library, glossary(), open_logs=lambda: self.examination, search=found))

    def answerer(self, *, search: bool = True, second: SecondOpinion | None = None) -> OfflineAnswerer:
        """An offline answerer at the beginning of a conversation."""
        return OfflineAnswerer(self.calls(search=search), intents(), second)


def packed(name: str) -> Path:
    """The archive or folder that a data file names, from the root of the project. Raises BadTruth."""
    for ending in ENDINGS:
        if (path := ROOT / f"{name}{ending}").exists():
            return path
    raise BadTruth(f"{name}: there is no such job", hint="name a folder or archive, without its ending, from the root")


@contextmanager
def opened(name: str) -> Iterator[Opened]:
    """The job of that name, unpacked and diagnosed."""
    with unpacked(packed(name)) as folder:
        yield read(name, folder)


def read(name: str, folder: Path) -> Opened:
    """The job whose logs stand in a folder."""
    started = time.monotonic()
    examination = examine([str(folder)], Options(threads=1))
    return Opened(name, folder, case_of(examination, seconds=time.monotonic() - started), examination)


def searched(query: Query) -> Answer:
    """Searches the knowledge by codes and words; no vectors, so that figures do not depend on a model."""
    return searcher().search(query)


@cache
def searcher() -> Searcher:
    """The search over the shipped knowledge, held in memory."""
    wanted = Wanted(tuning(), None, None)
    return Searcher(in_memory(wanted), wanted)


@cache
def glossary() -> Glossary:
    """The shipped glossary."""
    return load_glossary()


@cache
def intents() -> Intents:
    """The shipped intents."""
    return load_intents()
