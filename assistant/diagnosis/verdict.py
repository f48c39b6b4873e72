"""Write the verdict of a theory, citing as it goes."""

from __future__ import annotations

from assistant.case.models import Alternative, Candidate, Verdict
from assistant.case.vocabulary import EvidenceClass
from assistant.diagnosis.actions import action_for, plain_action
from assistant.diagnosis.exits import Exit
from assistant.diagnosis.initiating import Weighed
from assistant.diagnosis.ledger import Ledger
from assistant.diagnosis.models import Exhibit
from assistant.diagnosis.moment import moment
from assistant.diagnosis.theory import Bench, Blamed, Theory
from assistant.diagnosis.wording import place_words, sentences, statement
from assistant.events.models import Record
from assistant.faults.models import FaultRole
from assistant.signals.models import SignalPlace

CITED = 4
"""Places cited for each part of the argument; the rest is in the event's own list."""


def failed(theory: Theory, bench: Bench, ledger: Ledger) -> Verdict:
    """The verdict on a failed job."""
    stage, iteration = moment(theory, bench)
    start = _start(theory, bench, ledger)
    follow = _consequences(theory, bench, ledger)
    evidence = tuple(dict.fromkeys(start + follow))
    return Verdict(
        cause=theory.cause,
        statement=statement(theory, stage, iteration),
        confidence=theory.confidence if theory.cause != "unknown" else None,
        evidence_class=theory.evidence_class,
        evidence=evidence,
        stage=stage,
        iteration=iteration,
        action=action_for(theory, start[:CITED]),
        alternatives=tuple(_alternative(rival, ledger) for rival in theory.rivals),
        missing=theory.missing,
        why=_why(theory, bench, start, follow),
        fault=theory.fault.id if theory.fault else None,
    )


def not_failed(bench: Bench, ledger: Ledger, *, incomplete: bool) -> Verdict:
    """The verdict on a run in which nothing failed, or which has not ended."""
    temporal = bench.findings.temporal
    cited = _last_words(bench, ledger)
    if not incomplete:
        text = "Nothing failed: the run reached its goal."
        return Verdict(
            cause="none", statement=text, evidence_class=EvidenceClass.LOGS, evidence=cited, action=plain_action("none")
        )
    at = f" at iteration {temporal.last_iteration}" if temporal.last_iteration is not None else ""
    text = f"The logs end{at} without a failure and without an end: the job still runs, hangs, or its logs were cut."
    if temporal.stalled_for:
        text = f"The job made no progress for {temporal.stalled_for:.0f} s{at}; nothing says why."
    return Verdict(
        cause="none",
        statement=text,
        evidence_class=EvidenceClass.NEEDS_MEASUREMENT,
        evidence=cited,
        iteration=temporal.last_iteration,
        action=plain_action("incomplete"),
        missing=("whether the processes are alive", "the logs' continuation"),
    )


def suspects(theory: Theory, ledger: Ledger) -> tuple[Candidate, ...]:
    """The blamed places as candidates with their evidence."""
    return tuple(_suspect(blamed, theory, ledger) for blamed in theory.blamed)


def _suspect(blamed: Blamed, theory: Theory, ledger: Ledger) -> Candidate:
    place = blamed.place
    evidence = tuple(dict.fromkeys([*_cite_all(blamed.exhibits, ledger), *_cite_ends(blamed.ends, ledger)]))
    reasons = blamed.reasons or (theory.title,)
    return Candidate(
        node=place.node,
        rank=place.rank,
        device=place.device,
        score=round(blamed.score, 3),
        reasons=reasons,
        evidence=evidence,
    )


def _start(theory: Theory, bench: Bench, ledger: Ledger) -> tuple[str, ...]:
    """Evidence of the start: the initiating records, or what is known of the blamed places."""
    if theory.group is not None:
        return tuple(_cite_all(theory.group.exhibits[:CITED], ledger))
    ids = [i for b in theory.blamed for i in [*_cite_ends(b.ends, ledger), *_cite_all(b.exhibits, ledger)]]
    return tuple(dict.fromkeys(ids or _tails(theory, bench, ledger)))[: 2 * CITED]


def _tails(theory: Theory, bench: Bench, ledger: Ledger) -> list[str]:
    ranks = {b.place.rank for b in theory.blamed if b.place.rank is not None}
    streams = [s for s in bench.findings.scan.streams if s.rank in ranks]
    return [ledger.cite(bench.findings.scan.tails[s.id][-1]) for s in streams if bench.findings.scan.tails.get(s.id)]


def _consequences(theory: Theory, bench: Bench, ledger: Ledger) -> tuple[str, ...]:
    victims = [g for g in bench.groups if g.role is FaultRole.CASCADE and g is not theory.group]
    return tuple(ledger.cite_exhibit(group.first) for group in victims[:CITED])


def _why(theory: Theory, bench: Bench, start: tuple[str, ...], follow: tuple[str, ...]) -> tuple[str, ...]:
    parts: list[tuple[str, tuple[str, ...]]] = []
    for text in dict.fromkeys(theory.reasons):
        parts.append((text[:1].upper() + text[1:], start[:CITED] if not parts else ()))
    if theory.nobody:
        parts.append((f"Nobody is blamed: {theory.nobody}", ()))
    if follow:
        parts.append((_victim_words(theory, bench), follow))
    return sentences(parts)


def _victim_words(theory: Theory, bench: Bench) -> str:
    blamed = {b.place.rank for b in theory.blamed}
    waits = [g for g in bench.groups if g.role is FaultRole.CASCADE]
    victims = {e.writer.rank for g in waits for e in g.exhibits if e.writer.rank is not None} - blamed
    titles = list(dict.fromkeys(g.fault.title for g in waits if g.fault))
    who = f"{len(victims)} other ranks report" if len(victims) > 1 else "What others report"
    return f"{who}{':' if len(victims) > 1 else ' follows from it:'} {'; '.join(titles[:3])}"


def _alternative(rival: Weighed, ledger: Ledger) -> Alternative:
    fault = rival.group.fault
    where = place_words(rival.group.first.place) if rival.group.first.place.known else "the logs"
    assert fault is not None
    why = f"{fault.title} ({where}); " + ("; ".join(rival.reasons) or "it weighs less than the verdict's own start")
    return Alternative(cause=fault.cause, why=why, evidence=(ledger.cite_exhibit(rival.group.first),))


def _cite_all(exhibits: tuple[Exhibit, ...], ledger: Ledger) -> list[str]:
    return [ledger.cite_exhibit(exhibit) for exhibit in exhibits[: 2 * CITED]]


def _cite_ends(ends: tuple[Exit, ...], ledger: Ledger) -> list[str]:
    return [ledger.cite(_as_record(place, end)) for end in ends for place in end.signal.evidence[:1]]


def _as_record(place: SignalPlace, end: Exit) -> Record:
    return Record(
        source=place.source,
        line=place.line,
        offset=place.offset,
        text=place.text,
        raw=place.text,
        stream=-1,
        time=end.signal.time,
    )


def _last_words(bench: Bench, ledger: Ledger) -> tuple[str, ...]:
    goals = bench.findings.scan.marks.filter(bench.findings.scan.marks["kind"] == "goal")
    tails = bench.findings.scan.tails
    if goals.height:
        stream = int(goals["stream"][-1])
        return (ledger.cite(tails[stream][-1]),) if tails.get(stream) else ()
    best = sorted(tails.values(), key=lambda records: records[-1].time or 0.0 if records else 0.0)
    return (ledger.cite(best[-1][-1]),) if best and best[-1] else ()
