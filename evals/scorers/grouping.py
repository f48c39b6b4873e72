"""From raw records to events: what the tools are scored on, as L4 does (FSE 2025, section 5.2).

An event is a template over the whole job, mined from the masked key lines of all records. Each tool is scored on the
same events, whatever it calls an event itself. An event is *failure-indicating* where at least half of its records
carry a label of the roles initiating, cascade or teardown; its role is the commonest of them. Where at least half are
labelled but not half with those roles, it is *context*: reporting it is neither right nor wrong, and leaving it out
neither. A tool reports an event if it flags any line of any of its records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assistant.case.vocabulary import Role
from assistant.events.miner import DrainMiner
from evals.scorers.labelled import matchers, roles_of
from evals.scorers.records import Record, records_of
from evals.truth import Truth

FAILING = (Role.INITIATING, Role.CASCADE, Role.TEARDOWN)


@dataclass(frozen=True)
class Events:
    """The events of one job and where their lines are. Serialisable: it is kept beside the predictions."""

    roles: tuple[Role | None, ...]
    """Of each event; None for ordinary ones."""
    names: tuple[str, ...]
    """Templates."""
    lines: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """By source: first lines of runs of lines of one event, sorted."""
    event: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """By source, parallel to `lines`: the event of each run; -1 for lines of none (blank ones)."""

    def at(self, source: str, line: int) -> int | None:
        """The event that a line belongs to; None where there is no such line."""
        starts = self.lines.get(source)
        if not starts or line < starts[0]:
            return None
        found = self.event[source][bisect_right(starts, line) - 1]
        return None if found < 0 else found

    @property
    def failing(self) -> frozenset[int]:
        """The failure-indicating events."""
        return frozenset(at for at, role in enumerate(self.roles) if role in FAILING)


def events_of(job: Path, truth: Truth) -> Events:
    """The events of one unpacked job."""
    records = records_of(job)
    return grouped(records, roles_of(records, matchers(truth)))


def grouped(records: Sequence[Record], roles: Sequence[Role | None]) -> Events:
    """Events of records whose roles are known."""
    forms = sorted({record.masked for record in records})
    template_of = dict(zip(forms, DrainMiner().mine(forms), strict=True))
    names = sorted(set(template_of.values()))
    number = {name: at for at, name in enumerate(names)}
    of_record = [number[template_of[record.masked]] for record in records]
    members: dict[int, list[Role | None]] = defaultdict(list)
    for event, role in zip(of_record, roles, strict=True):
        members[event].append(role)
    lines, owners = _runs(records, of_record)
    return Events(tuple(role_of(members[at]) for at in range(len(names))), tuple(names), lines, owners)


def role_of(roles: Sequence[Role | None]) -> Role | None:
    """The role of an event, of the roles of its records. Among equally common ones the earliest in a cascade."""
    labelled = Counter(role for role in roles if role is not None)
    failing = {role: labelled[role] for role in FAILING if labelled[role]}
    if 2 * sum(failing.values()) >= len(roles) and failing:
        return max(failing, key=lambda role: failing[role])
    return Role.CONTEXT if 2 * labelled.total() >= len(roles) and labelled else None


def _runs(
    records: Sequence[Record], of_record: Sequence[int]
) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    owner: dict[str, dict[int, int]] = defaultdict(dict)
    for record, event in zip(records, of_record, strict=True):
        owner[record.source].update(dict.fromkeys(record.lines, event))
    lines: dict[str, tuple[int, ...]] = {}
    events: dict[str, tuple[int, ...]] = {}
    for source, owned in owner.items():
        runs = _run_starts(owned)
        lines[source] = tuple(line for line, _ in runs)
        events[source] = tuple(event for _, event in runs)
    return lines, events


def _run_starts(owned: dict[int, int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    expected = 0
    for line in sorted(owned):
        if line != expected and runs:
            runs.append((expected, -1))
        if not runs or runs[-1][1] != owned[line]:
            runs.append((line, owned[line]))
        expected = line + 1
    if runs:
        runs.append((expected, -1))
    return runs
