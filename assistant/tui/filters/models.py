"""Filters of log lines: several at once, each can be switched off. All that are on must hold. Knows no screen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from assistant.tui.filters.levels import LEVELS
from assistant.tui.logs.writing import Writer

MOST = 9
"""Filters at once: as many as there are digits to switch them."""


class Kind(StrEnum):
    """What a filter looks at."""

    RANK = "rank"
    NODE = "node"
    LEVEL = "level"
    TIME = "time"
    EVENT = "event"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition; only the fields of its kind are set."""

    kind: Kind
    spelled: str
    """As it is written and shown."""
    negated: bool = False
    ranks: tuple[tuple[int, int], ...] = ()
    """From, to."""
    nodes: tuple[str, ...] = ()
    """Names, in which `*` and `?` stand for others."""
    level: int = 0
    """The least level that passes, by its place in `levels.LEVELS`."""
    since: float | None = None
    until: float | None = None
    """UTC epoch seconds on the common clock; both ends pass."""
    pattern: str | None = None
    """In the RE2 subset."""
    records: bool = False
    """Those records of the file that the diagnosis took to indicate a failure."""

    def takes(self, writer: Writer) -> bool:
        """Whether lines of a writer pass, for a filter of nodes or ranks."""
        node, rank = writer
        if self.kind is Kind.RANK:
            return (rank is not None and any(low <= rank <= high for low, high in self.ranks)) != self.negated
        return any(fnmatchcase(node or "", name) for name in self.nodes) != self.negated

    @property
    def simple(self) -> bool:
        """Whether one expression says it all."""
        return self.kind is Kind.TEXT and not self.negated


@dataclass(slots=True)
class Switch:
    """A filter and whether it is on."""

    filter: Filter
    on: bool = True


@dataclass(slots=True)
class FilterList:
    """The filters of one viewer."""

    switches: list[Switch] = field(default_factory=list)
    paused: bool = False
    """All are off for the moment; each keeps whether it is on."""

    @property
    def active(self) -> tuple[Filter, ...]:
        """Those that must hold now."""
        return () if self.paused else tuple(one.filter for one in self.switches if one.on)

    @property
    def written(self) -> str:
        """All in one line, as they can be typed again."""
        return " ".join(one.filter.spelled for one in self.switches)

    def replace(self, filters: Iterable[Filter]) -> None:
        """Other filters; those that were there before stay on or off."""
        before = {one.filter.spelled: one.on for one in self.switches}
        self.switches = [Switch(one, before.get(one.spelled, True)) for one in filters]
        self.paused = False

    def flip(self, number: int) -> bool:
        """Switches a filter, counted from 1; whether there is one."""
        if not 1 <= number <= len(self.switches):
            return False
        self.switches[number - 1].on = not self.switches[number - 1].on
        self.paused = False
        return True

    def flip_all(self) -> None:
        """Switches all off, or those that were on back on; where none was, all."""
        if self.switches and not any(one.on for one in self.switches):
            for one in self.switches:
                one.on = True
            self.paused = False
            return
        self.paused = not self.paused

    def flip_text(self, one: Filter) -> None:
        """Switches the filter of a search; adds it where it is not in the list."""
        for number, switch in enumerate(self.switches, 1):
            if switch.filter.spelled == one.spelled:
                if self.paused:
                    switch.on = False
                self.flip(number)
                return
        self.switches = [*self.switches[: MOST - 1], Switch(one)]
        self.paused = False


def text_filter(pattern: str) -> Filter:
    """The filter that an expression makes."""
    return Filter(Kind.TEXT, f"/{pattern.replace('/', chr(92) + '/')}/", pattern=pattern)


def told(filters: Sequence[Filter]) -> str:
    """As JSON."""
    return json.dumps([asdict(one) for one in filters])


def heard(text: str) -> tuple[Filter, ...]:
    """From JSON."""
    return tuple(
        Filter(**{**data, "kind": Kind(data["kind"]), "ranks": tuple((low, high) for low, high in data["ranks"]),
                  "nodes": tuple(data["nodes"])})
        for data in json.loads(text)
    )  # fmt: skip


def level_said(level: int) -> str:
    """`error or worse`."""
    return LEVELS[level] if level == len(LEVELS) - 1 else f"{LEVELS[level]} or worse"
