"""The theory that a process simply died: killed, crashed in native code, or left without a word."""

from __future__ import annotations

from collections.abc import Callable

from assistant.case.vocabulary import Confidence, EvidenceClass
from assistant.diagnosis.exits import Exit
from assistant.diagnosis.groups import MOST
from assistant.diagnosis.models import Group
from assistant.diagnosis.theory import Bench, Blamed, Theory
from assistant.faults.models import FaultRole
from assistant.signals.models import SignalKind

HARD = frozenset({4, 7, 9, 11})
"""Signals that no collective library raises in a victim (SIGABRT is how NCCL's watchdog ends its process)."""
SIGABRT = 6
TITLES = {
    "process.killed": "the process was killed (SIGKILL, sender unproven)",
    "process.segfault": "the process crashed in native code (SIGSEGV)",
    "process.bus_error": "the process died of a bus error (SIGBUS)",
    "process.illegal_instruction": "the process hit an illegal instruction (SIGILL)",
    "process.abort": "the process aborted itself (SIGABRT)",
    "process.exit": "the process left without an error message",
}


def exit_theory(bench: Bench) -> Theory | None:
    """A death that no exhibit explains, or None."""
    dead = _unexplained(bench)
    if not dead:
        return None
    hard = [end for end in dead if end.number in HARD] or [end for end in dead if end.number == SIGABRT]
    chosen = _earliest_alike(hard or dead)
    cause = chosen[0].cause
    alike = len(chosen) > 1 and len(chosen) >= MOST * max(2, bench.people.size)
    words = chosen[0].words
    return Theory(
        cause=cause,
        title=TITLES[cause] + (f", {words}" if cause == "process.exit" else ""),
        confidence=Confidence.HIGH if hard else Confidence.MEDIUM,
        evidence_class=EvidenceClass.NEEDS_MEASUREMENT,
        blamed=() if alike else tuple(_blamed(end) for end in chosen if end.place.known),
        nobody="all ranks die alike" if alike else "",
        reasons=(f"its launcher reports {words}", "no error of its own precedes the end"),
    )


def _blamed(end: Exit) -> Blamed:
    return Blamed(end.place, 0.9, (f"ended by itself with {end.words}",), (), (end,))


def _unexplained(bench: Bench) -> list[Exit]:
    """Ends by itself of ranks that told nothing before: who first reports a lost peer and then crashes is a victim."""
    ends = [end for end in bench.ends if end.by_itself]
    victims = _ranks_that_told(bench, lambda g: g.waits)
    hard = [end for end in ends if end.number in HARD and end.place.rank not in victims]
    if hard:
        return hard
    told = _ranks_that_told(bench, lambda g: g.waits or g.role is FaultRole.ROOT)
    return [end for end in ends if end.place.rank is not None and end.place.rank not in told]


def _ranks_that_told(bench: Bench, telling: Callable[[Group], bool]) -> set[int]:
    told = {e.writer.rank for g in bench.groups if telling(g) for e in g.exhibits if e.stands}
    filed = {s.rank for s in bench.findings.signals if s.kind is SignalKind.ERROR_FILE}
    return {rank for rank in told | filed if rank is not None}


def _earliest_alike(dead: list[Exit]) -> list[Exit]:
    return [end for end in dead if end.cause == dead[0].cause]
