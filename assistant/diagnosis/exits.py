"""How each process ended: by itself, or ended by its launcher."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from assistant.diagnosis.models import Exhibit, Place, Population
from assistant.faults.models import FaultRole
from assistant.signals.models import Signal, SignalKind

CAUSE_OF_SIGNAL: dict[int, str] = {
    4: "process.illegal_instruction",
    6: "process.abort",
    7: "process.bus_error",
    9: "process.killed",
    11: "process.segfault",
}
"""Linux signal numbers (x86 and Arm) that end a process, as cause classes."""

NAME_OF_SIGNAL: dict[int, str] = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}
TERMINATED = 15


@dataclass(frozen=True, slots=True)
class Exit:
    """One process's end."""

    place: Place
    signal: Signal
    number: int | None
    """Signal number that ended it, None for an ordinary exit."""
    by_itself: bool
    """Nobody is known to have ended it."""

    @property
    def cause(self) -> str:
        """The cause class that the way of ending proves."""
        if self.number is None:
            return "process.exit"
        return CAUSE_OF_SIGNAL.get(self.number, "process.exit")

    @property
    def words(self) -> str:
        """The end in words: "SIGSEGV" or "exit code 3"."""
        if self.number is not None:
            return NAME_OF_SIGNAL.get(self.number, f"signal {self.number}")
        return f"exit code {self.signal.exitcode}"


def exits(signals: Iterable[Signal], people: Population, attempt: int) -> tuple[Exit, ...]:
    """The ends of the given attempt, the earliest first; one for each place, a self-inflicted one before another."""
    ended = [
        _exit(s, people) for s in signals if s.kind in (SignalKind.EXIT, SignalKind.CLOSED) and s.attempt == attempt
    ]
    closed = {e.place for e in ended if e.signal.kind is SignalKind.CLOSED}
    best: dict[Place, Exit] = {}
    for end in sorted(ended, key=_order):
        if end.place in closed and end.number == TERMINATED:
            continue
        best.setdefault(end.place, end)
    return tuple(best.values())


def without_stopped(ends: Iterable[Exit], exhibits: Iterable[Exhibit]) -> tuple[Exit, ...]:
    """The ends, those not counted as self-inflicted whose process had only said that it was being stopped."""
    said: dict[int, set[bool]] = {}
    for exhibit in exhibits:
        if exhibit.writer.rank is not None and exhibit.fault is not None and exhibit.stands:
            said.setdefault(exhibit.writer.rank, set()).add(exhibit.role is FaultRole.TEARDOWN)
    stopped = {rank for rank, roles in said.items() if roles == {True}}
    return tuple(replace(end, by_itself=False) if end.place.rank in stopped else end for end in ends)


def _order(end: Exit) -> tuple[bool, float, tuple[int, int]]:
    time = end.signal.time if end.signal.time is not None else float("inf")
    place = end.signal.evidence[0] if end.signal.evidence else None
    return (not end.by_itself, time, (place.source, place.line) if place else (0, 0))


def _exit(signal: Signal, people: Population) -> Exit:
    number = _signal_number(signal.exitcode)
    node = signal.node or (people.node_of.get(signal.rank) if signal.rank is not None else None)
    place = Place(node if signal.rank is None else people.node_of.get(signal.rank, node), signal.rank)
    by_itself = signal.kind is SignalKind.EXIT and number != TERMINATED
    return Exit(place, signal, number, by_itself)


def _signal_number(code: int | None) -> int | None:
    if code is None:
        return None
    if code < 0:
        return -code
    return code - 128 if 128 < code < 160 else None
