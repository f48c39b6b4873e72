"""One case on the table: its verdict, its logs where they are still there, and what has been shown of them.

The logs are read only when a question needs them. A case whose logs are gone still answers from what it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from assistant.case.models import Case, Evidence
from assistant.case.text import clean
from assistant.errors import InputError, NothingFound
from assistant.faults.library import Library
from assistant.faults.matcher import Matcher
from assistant.intake.models import Source
from assistant.pipeline import Examination
from assistant.retrieval.models import Answer, Query
from assistant.tools.commands import Commands, commands_of
from assistant.tools.words import Glossary

Opener = Callable[[], Examination]
"""Reads the logs of the case; raises RootrankError where they cannot be read."""
Search = Callable[[Query], Answer]
"""Searches knowledge and incidents."""


def logs_gone() -> Examination:
    """The opener of a case whose logs cannot be read again."""
    raise InputError(
        "the logs of this case are not at hand",
        hint="the lines that the case cites are kept with it; run `rootrank diagnose` on the logs to see more",
    )


@dataclass(slots=True)
class Shown:
    """The log lines that tools have shown: a statement may rest on these only."""

    by_id: dict[str, Evidence] = field(default_factory=dict)

    def add(self, items: Iterable[Evidence]) -> None:
        """Remembers lines under their id and under their place."""
        for item in items:
            self.by_id[item.id] = item
            self.by_id[place_id(item.source, item.line)] = item

    def get(self, name: str) -> Evidence | None:
        """The line cited as `E7` or `n03/rank-7.err:118`, if it was shown."""
        return self.by_id.get(name)


class Desk:
    """What tools work with. Not safe in threads: one conversation has one desk."""

    spilled: dict[str, tuple[str, ...]]
    """Whole results that were too large to show at once, by id."""

    def __init__(
        self, case: Case, library: Library, glossary: Glossary, *, open_logs: Opener = logs_gone,
        search: Search | None = None,
    ) -> None:  # fmt: skip
        self.case = case
        self.library = library
        self.glossary = glossary
        self.search = search
        self.shown = Shown()
        self.spilled = {}
        self.reread = open_logs
        """Reads the logs, for a desk of another conversation."""

    @cached_property
    def examination(self) -> Examination:
        """The job's logs, read when first asked for. Raises RootrankError where they cannot be read."""
        return self.reread()

    @cached_property
    def matcher(self) -> Matcher:
        """All signatures of the library, compiled when first asked for."""
        return Matcher(self.library)

    @cached_property
    def commands(self) -> Commands:
        """The command lines that may be advised."""
        return commands_of(self.library, self.case)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources of the job."""
        return self.examination.reading.discovery.sources

    def source(self, name: str) -> Source:
        """The source of that name, or the only one whose name ends with it. Raises NothingFound."""
        exact = [source for source in self.sources if source.name == name]
        ending = exact or [source for source in self.sources if source.name.endswith(f"/{name}")]
        if len(ending) == 1:
            return ending[0]
        known = ", ".join(clean(source.name) for source in (ending or self.sources)[:8])
        what = "several sources end with" if ending else "there is no source"
        raise NothingFound(f"{what} {clean(name)!r}", hint=f"sources: {known}")

    def evidence(self, name: str) -> Evidence | None:
        """Evidence of the case by id, or any line that was shown by id or place."""
        return next((item for item in self.case.evidence if item.id == name), None) or self.shown.get(name)

    def at(self, source: str, line: int) -> Evidence | None:
        """The case's evidence at a place."""
        return next((item for item in self.case.evidence if (item.source, item.line) == (source, line)), None)


def place_id(source: str, line: int) -> str:
    """How a log line is cited that has no id of its own."""
    return f"{source}:{line}"
