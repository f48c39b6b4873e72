"""Try all theories and keep the best founded one; say how the job ended."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from assistant.case.vocabulary import Confidence, EvidenceClass, Stage, Status
from assistant.diagnosis.exhibits import exhibits, last_attempt
from assistant.diagnosis.exit_theory import HARD, exit_theory
from assistant.diagnosis.exits import exits, without_stopped
from assistant.diagnosis.groups import group
from assistant.diagnosis.hang_theory import hang_theory
from assistant.diagnosis.initiating import EARLIEST, TAIL, TERMINAL, TIER, weigh
from assistant.diagnosis.models import Findings, Group
from assistant.diagnosis.population import population
from assistant.diagnosis.root_theory import root_theory
from assistant.diagnosis.scheduler_theory import is_stop, scheduler_theory, stopped_first
from assistant.diagnosis.settings_theory import settings_theory
from assistant.diagnosis.silence import silent_ranks
from assistant.diagnosis.theory import Bench, Theory
from assistant.faults.models import FaultRole, Specificity
from assistant.intake.models import MarkKind

HARD_DEATH = TIER[Specificity.GENERIC] + TERMINAL + EARLIEST + 1.1
"""A native death of one rank outweighs a program error that only other ranks show, unless that error is specific."""
GRAVE = re.compile(r"(?i)\b(?:fatal|critical|panic|abort(?:ed|ing)?|error|exception|traceback)\b")
"""Words with which programs announce their end."""
LONGEST = 4000
"""Characters beyond which a record is a dump of data, not a message."""
FOUNDED = 1.5
"""Weight below which a root stands behind a death or a hang: it is unspecific, late, or a victim's."""
WINDING_UP = (Stage.SHUTDOWN.value, Stage.CHECKPOINT_SAVE.value)
"""Stages that may follow the goal without a new beginning."""
SPOILS_A_SUCCESS = ("storage.", "checkpoint.", "memory.", "hardware.")
"""Failures after the goal that still cost something: the last save, or a machine."""


def prepare(findings: Findings) -> Bench:
    """Gather what all theories are judged on."""
    people = population(findings.scan, findings.topology, findings.signals)
    shown = exhibits(findings, people)
    attempt = last_attempt(findings.scan)
    current = [e for e in shown if e.record.attempt == attempt]
    groups = group(e for e in current if e.stands)
    ends = without_stopped(exits(findings.signals, people, attempt), current)
    weighed = weigh(groups, findings, ends)
    silent = silent_ranks(findings, people, groups)
    goal = _goal(findings, attempt)
    return Bench(findings, people, tuple(current), tuple(groups), ends, tuple(weighed), tuple(silent), goal)


def _goal(findings: Findings, attempt: int) -> bool:
    """The run says that it reached its goal, and did not go on to something else afterwards."""
    marks = findings.scan.marks.filter(pl.col("attempt") == attempt)
    goals = marks.filter(pl.col("kind") == MarkKind.GOAL.value)
    if not goals.height:
        return False
    last = {int(stream): int(order) for stream, order in goals.select("stream", "order").iter_rows()}
    reached: dict[int, int] = {}
    later = marks.filter(pl.col("stage").is_not_null() & ~pl.col("stage").is_in(WINDING_UP)).sort("stream", "order")
    for stream, order, iteration in later.select("stream", "order", "iteration").iter_rows():
        if order <= last.get(stream, order):
            reached[stream] = max(reached.get(stream, -1), -1 if iteration is None else iteration)
        elif iteration is None or iteration > reached.get(stream, -1):  # a progress bar is drawn once more at the end
            return False
    return True


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
    root = root_theory(_only(bench, FaultRole.ROOT))
    death, hang = exit_theory(bench), _waiting(bench)
    if root is not None and _weight(root, bench) >= FOUNDED:
        return death if death is not None and _outweighs(bench, death, root) else root
    confirmed = root_theory(_only(bench, FaultRole.CONFIRMATION))
    specific = confirmed is not None and confirmed.fault and confirmed.fault.specificity is not Specificity.GENERIC
    plain = death is None and not (hang and (hang.blamed or not specific))
    if plain and confirmed is not None and _weight(confirmed, bench) >= FOUNDED:
        return confirmed
    return _death_or_hang(death, hang) or root or confirmed


def _waiting(bench: Bench) -> Theory | None:
    """Why ranks waited: for one that is silent, else for one that works otherwise than they, else not known."""
    hang = hang_theory(bench)
    return hang if hang is None or hang.blamed else settings_theory(bench) or hang


def _death_or_hang(death: Theory | None, hang: Theory | None) -> Theory | None:
    """A death explains the waiting of others, unless only a silent rank can be named."""
    if death is None or hang is None:
        return death or hang
    return hang if hang.blamed and not death.blamed else death


def _outweighs(bench: Bench, death: Theory, root: Theory) -> bool:
    hard = any(end.number in HARD for blamed in death.blamed for end in blamed.ends)
    if not hard or root.group is None:
        return False
    dead = {b.place.rank for b in death.blamed}
    return not (root.group.ranks & dead) and _weight(root, bench) < HARD_DEATH


def _only(bench: Bench, role: FaultRole) -> Bench:
    """The bench with roots of one role only, stops from outside left out."""
    return replace(bench, weighed=tuple(w for w in bench.weighed if w.group.role is role and not is_stop(w)))


def _weight(theory: Theory, bench: Bench) -> float:
    return next(w.weight for w in bench.weighed if w.group is theory.group)


def _after_the_goal(bench: Bench) -> Theory | None:
    late = root_theory(_only(bench, FaultRole.ROOT))
    if late is None or late.fault is None:
        return None
    spoils = late.cause.startswith(SPOILS_A_SUCCESS) and late.fault.specificity is not Specificity.GENERIC
    return late if spoils or _never_took_part(late, bench) else None


def _never_took_part(late: Theory, bench: Bench) -> bool:
    """A node that ended with an error before the goal, while another reached it alone."""
    marks = bench.findings.scan.marks
    busy = set(marks.filter(pl.col("kind").is_in(["iteration", "goal"]))["stream"].to_list())
    first = late.group.first if late.group else None
    return first is not None and first.record.stream not in busy and first.left == 0 and bool(late.blamed)


def _unexplained(bench: Bench) -> Theory | None:
    """Something ended the job, but no record says what."""
    torn_down = any(g.role is FaultRole.TEARDOWN for g in bench.groups)
    if not torn_down and not any(end.by_itself for end in bench.ends) and not any(_grave(g) for g in bench.groups):
        return None
    return Theory(
        cause="unknown",
        title="the job failed, but its logs do not show why",
        confidence=Confidence.LOW,
        evidence_class=EvidenceClass.NOT_IN_LOGS,
        nobody="no line points at a rank or node",
        missing=("the standard error of every rank", "kernel messages and scheduler records of the nodes"),
    )


def _grave(group: Group) -> bool:
    """An error that no entry knows, with which its writer ended."""
    last = group.exhibits[-1]
    text = last.record.text
    return group.fault is None and last.left <= TAIL and len(text) <= LONGEST and bool(GRAVE.search(text))


def status(bench: Bench, theory: Theory | None) -> Status:
    """How the job ended."""
    if theory is not None:
        return Status.FAILED
    if bench.goal:
        return Status.HEALTHY
    if bench.findings.scan.marks.height or bench.findings.scan.facts:
        return Status.INCOMPLETE
    return Status.UNKNOWN
