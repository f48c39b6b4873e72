"""Try all theories and keep the best founded one; say how the job ended."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from assistant.case.vocabulary import Confidence, EvidenceClass, Status
from assistant.diagnosis.exit_theory import HARD, exit_theory
from assistant.diagnosis.exits import exits
from assistant.diagnosis.exhibits import exhibits, last_attempt
from assistant.diagnosis.groups import group
from assistant.diagnosis.hang_theory import hang_theory
from assistant.diagnosis.initiating import EARLIEST, TERMINAL, TIER, weigh
from assistant.diagnosis.models import Findings
from assistant.diagnosis.population import population
from assistant.diagnosis.root_theory import root_theory
from assistant.diagnosis.scheduler_theory import is_stop, scheduler_theory, stopped_first
from assistant.diagnosis.silence import silent_ranks
from assistant.diagnosis.theory import Bench, Theory
from assistant.faults.models import FaultRole, Specificity
from assistant.intake.models import MarkKind

HARD_DEATH = TIER[Specificity.GENERIC] + TERMINAL + EARLIEST + 1.1
"""A native death of one rank outweighs a program error that only other ranks show, unless that error is specific."""
SPOILS_A_SUCCESS = ("storage.", "checkpoint.", "memory.", "hardware.")
"""Failures after the goal that still cost something: the last save, or a machine."""


def prepare(findings: Findings) -> Bench:
    """Gather what all theories are judged on."""
    people = population(findings.scan, findings.topology)
    shown = exhibits(findings, people)
    attempt = last_attempt(findings.scan)
    current = [e for e in shown if e.record.attempt == attempt]
    groups = group(e for e in current if e.stands)
    ends = exits(findings.signals, people, attempt)
    weighed = weigh(groups, findings, people, ends)
    silent = silent_ranks(findings, people, groups, ends)
    goal = _goal(findings, attempt)
    return Bench(findings, people, tuple(current), tuple(groups), ends, tuple(weighed), tuple(silent), goal)


def _goal(findings: Findings, attempt: int) -> bool:
    marks = findings.scan.marks
    goals = marks.filter((pl.col("kind") == MarkKind.GOAL.value) & (pl.col("attempt") == attempt))
    return goals.height > 0


def choose(bench: Bench) -> Theory | None:
    """The verdict's theory; None where nothing failed."""
    if bench.goal:
        return _after_the_goal(bench)
    inside = _inside(bench)
    stop = scheduler_theory(bench)
    if inside is None:
        return stop or exit_theory(bench) or _unexplained(bench)
    if stop is not None and stopped_first(bench, inside):
        return stop
    return inside


def _inside(bench: Bench) -> Theory | None:
    """What failed inside the job: an error, a death, or a hang."""
    root = root_theory(_without_stops(bench))
    death = exit_theory(bench)
    if root is None:
        return _death_or_hang(bench, death)
    if death is not None and _outweighs(bench, death, root):
        return death
    if root.fault is not None and root.fault.role is FaultRole.CONFIRMATION:
        return _confirmed(bench, root, death)
    return root


def _death_or_hang(bench: Bench, death: Theory | None) -> Theory | None:
    hang = hang_theory(bench)
    if death is None or hang is None:
        return death or hang
    silent = {b.place.rank for b in hang.blamed}
    dead = {b.place.rank for b in death.blamed}
    return death if dead or not silent else hang


def _outweighs(bench: Bench, death: Theory, root: Theory) -> bool:
    hard = any(end.number in HARD for blamed in death.blamed for end in blamed.ends)
    if not hard or root.group is None:
        return False
    dead = {b.place.rank for b in death.blamed}
    weight = next(w.weight for w in bench.weighed if w.group is root.group)
    return not (root.group.ranks & dead) and weight < HARD_DEATH


def _confirmed(bench: Bench, root: Theory, death: Theory | None) -> Theory:
    """A confirmation stands in for its root where nothing better is found."""
    hang = hang_theory(bench)
    if death is not None:
        return death
    return hang if hang is not None and hang.blamed and not root.blamed else root


def _without_stops(bench: Bench) -> Bench:
    return replace(bench, weighed=tuple(w for w in bench.weighed if not is_stop(w)))


def _after_the_goal(bench: Bench) -> Theory | None:
    late = root_theory(_without_stops(bench))
    if late is None or late.fault is None or late.fault.role is not FaultRole.ROOT:
        return None
    spoils = late.cause.startswith(SPOILS_A_SUCCESS) and late.fault.specificity is not Specificity.GENERIC
    return late if spoils else None


def _unexplained(bench: Bench) -> Theory | None:
    """Something ended the job, but no record says what."""
    signs = [end for end in bench.ends if end.by_itself] or [g for g in bench.groups if g.role is FaultRole.TEARDOWN]
    if not signs:
        return None
    return Theory(
        cause="unknown",
        title="the job failed, but its logs do not show why",
        confidence=Confidence.LOW,
        evidence_class=EvidenceClass.NOT_IN_LOGS,
        nobody="no line points at a rank or node",
        missing=("the standard error of every rank", "kernel messages and scheduler records of the nodes"),
    )


def status(bench: Bench, theory: Theory | None) -> Status:
    """How the job ended."""
    if theory is not None:
        return Status.FAILED
    if bench.goal:
        return Status.HEALTHY
    if bench.findings.scan.marks.filter(pl.col("kind") == MarkKind.ITERATION.value).height:
        return Status.INCOMPLETE
    return Status.UNKNOWN
