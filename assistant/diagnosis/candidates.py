"""All places worth a look, the blamed ones first, then what silence, comparison and errors point at."""

from __future__ import annotations

from assistant.case.models import Candidate
from assistant.diagnosis.ledger import Ledger
from assistant.diagnosis.models import Place, Population
from assistant.diagnosis.theory import Bench
from assistant.faults.models import FaultRole

AT_LEAST = 8
"""L4 recommends eight nodes by default: peers of a faulty node look odd too, so it is not always the first."""
BELOW_BLAME = 0.6
"""No unblamed place scores above this."""


def candidates(blamed: tuple[Candidate, ...], bench: Bench, ledger: Ledger) -> tuple[Candidate, ...]:
    """The blamed places first, then others by score; at least eight where there are that many places to rank."""
    taken = {_place(c) for c in blamed}
    found: dict[Place, Candidate] = {}
    for candidate in [*_silent(bench), *_spatial(bench), *_shown(bench, ledger), *_rest(bench)]:
        place = _place(candidate)
        if place in taken:
            continue
        known = found.get(place)
        if known is None or known.score < candidate.score:
            found[place] = located(candidate, bench.people)
    ranked = sorted(found.values(), key=lambda c: (-c.score, c.rank is None, c.rank or 0, c.node or ""))
    telling = [c for c in ranked if c.score > 0.05]
    room = max(AT_LEAST - len(blamed), len(telling))
    return blamed + tuple(ranked[:room])


def located(candidate: Candidate, people: Population) -> Candidate:
    """The candidate with the node that its rank runs on, where only other lines than its own tell it."""
    node = people.node_of.get(candidate.rank) if candidate.rank is not None and candidate.node is None else None
    return candidate.model_copy(update={"node": node}) if node else candidate


def _place(candidate: Candidate) -> Place:
    """What makes a candidate another one than the rest: a rank is the same whether or not its node is known."""
    return Place(None if candidate.rank is not None else candidate.node, candidate.rank)


def _silent(bench: Bench) -> list[Candidate]:
    return [
        Candidate(
            node=bench.people.node_of.get(s.rank),
            rank=s.rank,
            score=round(min(BELOW_BLAME, 0.3 * s.weight), 3),
            reasons=s.reasons,
        )
        for s in bench.silent
    ]


def _spatial(bench: Bench) -> list[Candidate]:
    return [
        Candidate(node=p.node, rank=p.rank, score=round(BELOW_BLAME * p.score, 3), reasons=p.reasons)
        for p in bench.findings.spatial.places
    ]


def _shown(bench: Bench, ledger: Ledger) -> list[Candidate]:
    found = []
    for weighed in bench.weighed:
        for exhibit in weighed.group.exhibits[:AT_LEAST]:
            if exhibit.place.known and weighed.group.role is FaultRole.ROOT:
                title = weighed.group.fault.title if weighed.group.fault else "an error"
                score = round(min(BELOW_BLAME, 0.08 * max(0.0, weighed.weight)), 3)
                place = exhibit.place
                evidence = (ledger.cite_exhibit(exhibit),)
                found.append(
                    Candidate(node=place.node, rank=place.rank, score=score, reasons=(title,), evidence=evidence)
                )
    return found


def _rest(bench: Bench) -> list[Candidate]:
    reason = ("nothing points here",)
    ranks = [
        Candidate(node=bench.people.node_of.get(r), rank=r, score=0.0, reasons=reason)
        for r in sorted(bench.people.ranks)
    ]
    if ranks:
        return ranks
    return [Candidate(node=node, rank=None, score=0.0, reasons=reason) for node in sorted(bench.people.nodes)]
