"""Write the verdict of a theory, citing as it goes."""

from __future__ import annotations

from collections.abc import Iterable

from assistant.case.models import Alternative, Candidate, Verdict
from assistant.case.vocabulary import EvidenceClass, Stage
from assistant.diagnosis.actions import action_for, plain_action
from assistant.diagnosis.initiating import Weighed
from assistant.diagnosis.ledger import Ledger
from assistant.diagnosis.models import Exhibit
from assistant.diagnosis.moment import last_stage_of_the_job, moment
from assistant.diagnosis.theory import Bench, Blamed, Theory
from assistant.diagnosis.wording import place_words, sentences, statement
from assistant.events.models import Record
from assistant.faults.models import FaultRole
from assistant.signals.models import Signal, SignalPlace

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
    if not incomplete:
        return Verdict(
            cause="none",
            statement="Nothing failed: the run reached its goal.",
            evidence_class=EvidenceClass.LOGS,
            evidence=_last_words(bench, ledger),
            action=plain_action("none"),
        )
    doings = last_doings(bench, ledger)
    stages = last_stage_of_the_job(bench)
    return Verdict(
        cause="none",
        statement=_unfinished(bench),
        evidence_class=EvidenceClass.NEEDS_MEASUREMENT,
        evidence=tuple(name for _, names in doings for name in names) or _last_words(bench, ledger),
        stage=Stage(stages[0]) if stages else None,
        iteration=bench.findings.temporal.last_iteration,
        action=plain_action("incomplete"),
        missing=("whether the processes are alive", "the logs' continuation"),
        why=sentences(doings),
    )


def _unfinished(bench: Bench) -> str:
    temporal = bench.findings.temporal
    at = f" at iteration {temporal.last_iteration}" if temporal.last_iteration is not None else ""
    if temporal.stalled_for:
        return f"The job made no progress for {temporal.stalled_for:.0f} s{at}; nothing says why."
    return f"The logs end{at} without a failure and without an end: the job still runs, hangs, or its logs were cut."


def last_doings(bench: Bench, ledger: Ledger) -> list[tuple[str, tuple[str, ...]]]:
    """What ranks did last, those that fell silent or behind first, each with its last line."""
    progress = [p for p in bench.findings.temporal.progress if p.rank is not None]
    tails = bench.findings.scan.tails
    odd_first = sorted(progress, key=lambda p: (not (p.lagging or p.silent), p.rank or 0))
    doings: list[tuple[str, tuple[str, ...]]] = []
    for one in odd_first[: 2 * CITED]:
        last = tails.get(one.stream)
        if last:
            reached = f" reached iteration {one.last_iteration}" if one.last_iteration is not None else ""
            state = ", behind its peers" if one.lagging else ", silent before its peers" if one.silent else ""
            doings.append((f"Rank {one.rank}{reached}{state}; its last line", (ledger.cite(last[-1]),)))
    return doings


def suspects(theory: Theory, ledger: Ledger) -> tuple[Candidate, ...]:
    """The blamed places as candidates with their evidence."""
    return tuple(_suspect(blamed, theory, ledger) for blamed in theory.blamed)


def _suspect(blamed: Blamed, theory: Theory, ledger: Ledger) -> Candidate:
    place = blamed.place
    evidence = tuple(dict.fromkeys([*_cite_all(blamed.exhibits, ledger), *_cite_signals(_signals(blamed), ledger)]))
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
    ids = [i for b in theory.blamed for i in [*_cite_signals(_signals(b), ledger), *_cite_all(b.exhibits, ledger)]]
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


def _signals(blamed: Blamed) -> list[Signal]:
    return [*(end.signal for end in blamed.ends), *blamed.signals]


def _cite_signals(signals: Iterable[Signal], ledger: Ledger) -> list[str]:
    return [ledger.cite(_as_record(place, signal.time)) for signal in signals for place in signal.evidence[:1]]


def _as_record(place: SignalPlace, time: float | None) -> Record:
    return Record(
        source=place.source,
        line=place.line,
        offset=place.offset,
        text=place.text,
        raw=place.text,
        stream=-1,
        time=time,
    )


def _last_words(bench: Bench, ledger: Ledger) -> tuple[str, ...]:
    goals = bench.findings.scan.marks.filter(bench.findings.scan.marks["kind"] == "goal")
    tails = bench.findings.scan.tails
    if goals.height:
        stream = int(goals["stream"][-1])
        return (ledger.cite(tails[stream][-1]),) if tails.get(stream) else ()
    best = sorted(tails.values(), key=lambda records: records[-1].time or 0.0 if records else 0.0)
    return (ledger.cite(best[-1][-1]),) if best and best[-1] else ()
