"""Choose the group of exhibits that started it.

Every group that can be a root gets a weight from independent observations; the heaviest one wins and the reasons go
into the verdict. Weights, not a fixed order, because each single rule has a known exception: the earliest error may be
one the rank lived on with, the most specific one may be a consequence, and the only one may be a victim's.
"""

from __future__ import annotations

from dataclasses import dataclass

from assistant.diagnosis.exits import Exit
from assistant.diagnosis.models import Exhibit, Findings, Group
from assistant.diagnosis.order import earlier
from assistant.faults.models import FaultRole, Specificity
from assistant.intake.models import WriterKind

TIER = {Specificity.DECISIVE: 3.0, Specificity.SPECIFIC: 2.0, Specificity.GENERIC: 1.0}
TERMINAL = 1.0
"""The writer ended with it."""
EARLIEST = 1.5
"""Nothing that could be a cause or a consequence came before it."""
LATE = -1.5
"""Another possible root came clearly earlier."""
DIED = 1.0
"""A process it is about is known to have ended by itself."""
NOVEL = 0.5
"""Healthy runs of the same job never show it."""
UNEXPLAINED = -1.0
"""No library entry matched; only an error word did."""
CONFIRMATION = -1.0
"""By its nature it confirms another error."""
TORN = -0.75
"""A traceback that lost its exception line says nothing."""
NEAR_LINES = 200
NEAR_SECONDS = 2.0
"""Distance within which an unspecific error and a specific one are two reports of the same thing."""
VICTIM = -5.0
"""Each rank that shows it had reported waiting for, or losing, another rank before."""
LAUNCHER = -1.0
"""Only a launcher says it, and only in general words."""
TAIL = 40
"""Lines a dying writer may still write after its last error."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A group with its weight and the observations that made it."""

    group: Group
    weight: float
    reasons: tuple[str, ...]


def weigh(groups: list[Group], findings: Findings, ends: tuple[Exit, ...]) -> list[Weighed]:
    """All groups that can be a root, the likeliest first."""
    able = [group for group in groups if can_start(group)]
    rivals = able + [g for g in groups if g.waits and any(e.stands for e in g.exhibits)]
    weighed = [_weighed(group, rivals, findings, ends) for group in able]
    return sorted(weighed, key=lambda w: -w.weight)


def can_start(group: Group) -> bool:
    """Whether a group can be a root: it stands, and the library does not call it a consequence."""
    if not any(exhibit.stands for exhibit in group.exhibits):
        return False
    return group.role in (FaultRole.ROOT, FaultRole.CONFIRMATION)


def _weighed(group: Group, rivals: list[Group], findings: Findings, ends: tuple[Exit, ...]) -> Weighed:
    clues = [
        _tier(group),
        _terminal(group),
        *_position(group, rivals),
        _death(group, ends),
        _novelty(group, findings),
        _after_waiting(group, rivals),
        _of_a_launcher(group, findings),
    ]
    held = [clue for clue in clues if clue is not None]
    return Weighed(group, sum(weight for weight, _ in held), tuple(text for _, text in held if text))


Clue = tuple[float, str]


def _tier(group: Group) -> Clue:
    weight = TIER[group.first.specificity]
    if all(_cut_short(exhibit) for exhibit in group.exhibits):
        weight += TORN
    if group.role is FaultRole.CONFIRMATION:
        return weight + CONFIRMATION, ""
    return weight, ""


def _cut_short(exhibit: Exhibit) -> bool:
    """A traceback without its exception line, as several processes leave it that write into one file at once."""
    text = exhibit.record.text
    last = text.rsplit("\n", 1)[-1]
    return "Traceback (most recent call last)" in text and (last[:1].isspace() or last.startswith("Traceback"))


def _terminal(group: Group) -> Clue | None:
    ended = any(exhibit.left <= TAIL for exhibit in group.exhibits)
    return (TERMINAL, "its log ends with it") if ended else None


def _position(group: Group, rivals: list[Group]) -> list[Clue]:
    mine = group.first.record
    others = [rival for rival in rivals if rival is not group]
    if any(_same_report(group, rival) for rival in others if can_start(rival)):
        return []
    earlier_ones = [r for r in others if earlier(r.first.record, mine) is True]
    before = [r for r in earlier_ones if not (can_start(r) and _same_report(r, group))]
    after = [r for r in others if earlier(mine, r.first.record) is True]
    if not before:
        return [(EARLIEST, "no earlier line could be its cause" if after else "")]
    return [(LATE, "")] if any(can_start(r) and r.role is FaultRole.ROOT for r in before) else []


def _same_report(word: Group, group: Group) -> bool:
    """The one error is a less specific word for the other, or one that the library says follows from it."""
    follows = word.fault is not None and group.fault is not None and word.fault.id in group.fault.explains
    if not follows and TIER[word.first.specificity] >= TIER[group.first.specificity]:
        return False
    one, other = word.first.record, group.first.record
    if one.source == other.source:
        return abs(one.line - other.line) <= NEAR_LINES
    return one.time is not None and other.time is not None and abs(one.time - other.time) <= NEAR_SECONDS


def _death(group: Group, ends: tuple[Exit, ...]) -> Clue | None:
    died = {end.place.rank for end in ends if end.by_itself and end.place.rank is not None}
    if group.ranks & died:
        return DIED, "its process ended by itself"
    return None


def _after_waiting(group: Group, rivals: list[Group]) -> Clue | None:
    waits = [e for r in rivals if r.waits for e in r.exhibits if e.stands]
    if all(is_victim(exhibit, waits) for exhibit in group.exhibits):
        return VICTIM, ""
    return None


def is_victim(exhibit: Exhibit, waits: list[Exhibit]) -> bool:
    """Whether the exhibit's rank had reported a lost or missing peer, as far as nothing shows the contrary."""
    own = [wait for wait in waits if wait.writer.rank is not None and wait.writer.rank == exhibit.place.rank]
    if exhibit.place.rank is None and _is_crash(exhibit):
        own = [wait for wait in waits if wait.record.source == exhibit.record.source]
    return any(not _before(exhibit, wait) for wait in own)


def _before(exhibit: Exhibit, wait: Exhibit) -> bool:
    known = earlier(exhibit.record, wait.record)
    if known is None:
        # The order is unknown: an unspecific error is then another word for the wait, and a crash its tear-down.
        return exhibit.specificity is not Specificity.GENERIC and not _is_crash(exhibit)
    return known


def _is_crash(exhibit: Exhibit) -> bool:
    return exhibit.fault is not None and exhibit.fault.cause.startswith("process.")


def _of_a_launcher(group: Group, findings: Findings) -> Clue | None:
    """A launcher's own exceptions tell of its workers' end, not of its reason."""
    streams = findings.scan.streams
    writers = {streams[exhibit.record.stream].kind for exhibit in group.exhibits}
    if group.first.specificity is Specificity.GENERIC and writers == {WriterKind.LAUNCHER}:
        return LAUNCHER, ""
    return None


def _novelty(group: Group, findings: Findings) -> Clue | None:
    if not findings.cross_job.ran:
        return None
    scores = {event.template: event.score for event in findings.cross_job.events}
    score = max((scores.get(e.record.template, 0.0) for e in group.exhibits), default=0.0)
    return (NOVEL * score, "healthy runs do not show it") if score >= 0.5 else None
