"""Who is silent. In a hung collective the victims report; the guilty rank is the one that does not.

MegaScale (NSDI 2024) and NVIDIA's NeMo skill describe the rule for single systems; here it is applied to whatever tells
ranks apart: reports of waiting, last iterations, last lines, error files, ends of processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from assistant.diagnosis.models import Exhibit, Findings, Group, Population
from assistant.faults.models import Blame
from assistant.signals.models import SignalKind

FEW = 0.25
"""Silent ranks point somewhere only while they are at most this share of the job."""


NAMED = 0.9
"""Weight of being named by the others as the one they wait for."""


@dataclass(frozen=True, slots=True)
class Silent:
    """A rank that stands out by what it did not say."""

    rank: int
    reasons: tuple[str, ...]
    weight: float


def waiting(groups: Iterable[Group]) -> list[Exhibit]:
    """Exhibits in which a rank reports that it waited for others, or lost them."""
    return [e for g in groups if g.waits for e in g.exhibits if e.stands]


def silent_ranks(findings: Findings, people: Population, groups: list[Group]) -> list[Silent]:
    """Ranks whose silence or lag points at them, the most telling first; empty where silence tells nothing."""
    victims = {e.writer.rank for e in waiting(groups) if e.writer.rank is not None}
    everyone = _everyone(findings, people)
    clues: dict[int, list[tuple[float, str]]] = {}
    for rank, clue in [
        *(_no_report(everyone, victims) or _no_report_of_a_node(everyone, victims, people)),
        *_lag(findings, everyone),
        *_no_error_file(findings, everyone),
        *_named(groups),
    ]:
        clues.setdefault(rank, []).append(clue)
    ranked = [Silent(rank, tuple(text for _, text in found), sum(w for w, _ in found)) for rank, found in clues.items()]
    return sorted(ranked, key=lambda silent: (-silent.weight, silent.rank))


def _everyone(findings: Findings, people: Population) -> set[int]:
    """All ranks of the job, those included that wrote nothing and are missing in the count of the others."""
    if people.world_size:
        return set(range(people.world_size))
    known = set(people.ranks) | {s.rank for s in findings.signals if s.rank is not None}
    gaps = set(range(max(known, default=-1) + 1)) - known
    return known | gaps if len(gaps) <= len(known) // 3 else known


def _few(some: set[int], everyone: set[int]) -> bool:
    return 0 < len(some) <= max(1, int(FEW * len(everyone)))


def _no_report(everyone: set[int], victims: set[int]) -> list[tuple[int, tuple[float, str]]]:
    quiet = everyone - victims
    if len(victims) < max(1, len(everyone) // 2) or not _few(quiet, everyone):
        return []
    text = f"the only rank that reports no waiting, while {len(victims)} others do"
    if len(quiet) > 1:
        text = f"one of {len(quiet)} ranks that report no waiting, while {len(victims)} others do"
    return [(rank, (1.0, text)) for rank in sorted(quiet)]


def _no_report_of_a_node(
    everyone: set[int], victims: set[int], people: Population
) -> list[tuple[int, tuple[float, str]]]:
    """All ranks of one node silent while all ranks elsewhere report: a node that is gone, however many it ran."""
    quiet = everyone - victims
    nodes = {people.node_of.get(rank) for rank in quiet}
    elsewhere = {people.node_of.get(rank) for rank in victims}
    if not victims or not quiet or len(nodes) != 1 or None in nodes or nodes & elsewhere:
        return []
    text = f"on the only node of which no rank reports waiting, while all {len(victims)} ranks elsewhere do"
    return [(rank, (1.0, text)) for rank in sorted(quiet)]


def _lag(findings: Findings, everyone: set[int]) -> list[tuple[int, tuple[float, str]]]:
    progress = [p for p in findings.temporal.progress if p.rank is not None]
    behind = {p.rank for p in progress if p.lagging and p.rank is not None}
    mute = {p.rank for p in progress if p.silent and p.rank is not None}
    clues: list[tuple[int, tuple[float, str]]] = []
    if _few(behind, everyone):
        last = {p.rank: p.last_iteration for p in progress}
        clues += [(r, (0.8, f"its last iteration is {last[r]}, behind its peers")) for r in sorted(behind)]
    if _few(mute, everyone):
        clues += [(rank, (0.5, "stopped writing before its peers did")) for rank in sorted(mute)]
    return clues


def _no_error_file(findings: Findings, everyone: set[int]) -> list[tuple[int, tuple[float, str]]]:
    missing = {s.rank for s in findings.signals if s.kind is SignalKind.NO_ERROR_FILE and s.rank is not None}
    if not _few(missing, everyone):
        return []
    return [(rank, (0.7, "left no error file although the others did")) for rank in sorted(missing)]


def _named(groups: list[Group]) -> list[tuple[int, tuple[float, str]]]:
    votes: Counter[int] = Counter()
    for exhibit in waiting(groups):
        named = exhibit.place.rank
        if (
            exhibit.fault
            and exhibit.fault.blame is Blame.SUBJECT
            and named is not None
            and named != exhibit.writer.rank
        ):
            votes[named] += 1
    if not votes:
        return []
    top = max(votes.values())
    return [(r, (NAMED * n / top, f"{n} reports of other ranks name it")) for r, n in sorted(votes.items())]
