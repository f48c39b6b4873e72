"""The theory that ranks waited for one that did not come."""

from __future__ import annotations

from assistant.case.vocabulary import Confidence, EvidenceClass
from assistant.diagnosis.models import Exhibit, Group, Place
from assistant.diagnosis.order import CLOCK_TOLERANCE
from assistant.diagnosis.silence import Silent
from assistant.diagnosis.theory import Bench, Blamed, Theory
from assistant.faults.library import Library
from assistant.faults.models import Fault

TELLING = 0.8
"""Weight of silence from which on a rank is blamed."""
CONVINCING = 1.5
MISSING = (
    "a stack dump of the silent rank taken while it hangs (py-spy dump --pid PID)",
    "the collective library's flight recorder (TORCH_NCCL_TRACE_BUFFER_SIZE) of all ranks",
    "kernel messages of the silent rank's node around the last progress",
)


def hang_theory(bench: Bench) -> Theory | None:
    """A collective in which most ranks waited, or a stall that nobody reports; None where nothing waited."""
    victims = [g for g in bench.groups if g.waits]
    if not victims:
        return None
    guilty = _guilty(bench.silent)
    cause, title = _nature(victims, bool(guilty), bench.findings.library)
    return Theory(
        cause=cause,
        title=title,
        confidence=_confidence(guilty),
        evidence_class=EvidenceClass.NEEDS_MEASUREMENT,
        blamed=tuple(_blamed(silent, bench) for silent in guilty),
        nobody="" if guilty else "no rank stands out by silence or lag",
        group=None,
        reasons=tuple(dict.fromkeys(reason for silent in guilty for reason in silent.reasons)),
        missing=MISSING,
    )


def _guilty(silent: tuple[Silent, ...]) -> list[Silent]:
    telling = [s for s in silent if s.weight >= TELLING]
    if not telling:
        return []
    return [s for s in telling if s.weight >= 0.75 * telling[0].weight]


def _confidence(guilty: list[Silent]) -> Confidence:
    if not guilty:
        return Confidence.LOW
    return Confidence.MEDIUM if guilty[0].weight >= TELLING else Confidence.LOW


def _nature(victims: list[Group], found: bool, library: Library) -> tuple[str, str]:
    """Timeouts mean a rank that did not come; connections lost before any timeout a network, or a peer gone away."""
    if found:
        return "collective.hang", "did not take part in a collective that the others waited for"
    hang = ("collective.hang", "ranks waited in a collective, and the logs do not show for whom")
    lost = [group for group in victims if _cause(group, library, "network.")]
    waited = [group for group in victims if _cause(group, library, "collective.")]
    if lost and not _came_first(waited, lost):
        fault = _cause(lost[0], library, "network.")
        return (fault.cause, fault.title) if fault else hang
    first = _cause(victims[0], library, "")
    return (first.cause, first.title) if first and first.cause.startswith("launch.") else hang


def _cause(group: Group, library: Library, layer: str) -> Fault | None:
    """The entry of that layer which a group's records match, the most specific first."""
    names = (group.first.fault.id if group.first.fault else "", *group.first.others)
    faults = (library.get(name) for name in names)
    return next((fault for fault in faults if fault is not None and fault.cause.startswith(layer)), None)


def _came_first(waited: list[Group], lost: list[Group]) -> bool:
    """Whether ranks timed out before connections broke: one that gives up closes its connections to the others."""
    began = [group.first.record.time for group in waited if group.first.record.own_time]
    broke = [group.first.record.time for group in lost if group.first.record.own_time]
    started, ended = [t for t in began if t is not None], [t for t in broke if t is not None]
    if not waited or not started or not ended:
        return bool(waited)
    return min(started) <= min(ended) + CLOCK_TOLERANCE


def _blamed(silent: Silent, bench: Bench) -> Blamed:
    place = Place(bench.people.node_of.get(silent.rank), silent.rank)
    return Blamed(place, min(0.9, 0.5 + 0.2 * silent.weight), silent.reasons, _last_words(silent.rank, bench))


def _last_words(rank: int, bench: Bench) -> tuple[Exhibit, ...]:
    return tuple(e for e in bench.exhibits if e.writer.rank == rank and not e.recovered)[-1:]
