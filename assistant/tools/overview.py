"""overview and list_unread: the verdict with its grounds, and what was not looked at."""

from __future__ import annotations

from collections.abc import Iterator

from assistant.case.models import Candidate, Case, Verdict
from assistant.case.text import clean, place, plural, ranges
from assistant.case.vocabulary import NodeState
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found, nothing, quoted
from assistant.tools.models import Arguments

MOST = 12


class NoArguments(Arguments):
    """Nothing to choose."""


def overview(desk: Desk, arguments: Arguments) -> Finding:
    """The case on one page."""
    case = desk.case
    rows = [*_job(case), *_verdict(case.verdict), *_suspects(case), *_nodes(case), *_further(case), *_rest(case)]
    evidence = [item for item in case.evidence if item.id in case.verdict.evidence][:MOST]
    return found([*rows, "Evidence of the verdict:", *map(quoted, evidence)], evidence)


def _job(case: Case) -> Iterator[str]:
    job = case.job
    parts = [
        plural(job.world_size, "rank") if job.world_size else "",
        plural(job.nodes, "node") if job.nodes else "",
        job.framework or "",
        f"job {job.id}" if job.id else "",
        ", ".join(f"{name}={size}" for name, size in sorted(job.topology.items())),
    ]
    yield f"Status: {case.status.value}. Job: {clean(', '.join(filter(None, parts))) or 'nothing known'}."


def _verdict(verdict: Verdict) -> Iterator[str]:
    sure = f", confidence {verdict.confidence.value}" if verdict.confidence else ""
    yield f"Cause: {verdict.cause}{sure} ({verdict.evidence_class.value}). {clean(verdict.statement)}"
    when = [f"stage {verdict.stage.value}" if verdict.stage else ""]
    when += [f"iteration {verdict.iteration}" if verdict.iteration is not None else ""]
    if any(when):
        yield "When: " + ", ".join(filter(None, when)) + "."
    yield from (f"Why: {clean(reason)}" for reason in verdict.why)
    yield f"Action: {verdict.action.kind.value}: {clean(verdict.action.text)}"
    yield from (f"Alternative: {other.cause}: {clean(other.why)}" for other in verdict.alternatives)
    yield from (f"Would settle the doubt: {clean(item)}" for item in verdict.missing)


def _suspects(case: Case) -> Iterator[str]:
    if not case.suspects:
        yield "Suspects: nobody is blamed."
    yield from (f"Suspect: {_candidate(suspect)}" for suspect in case.suspects[:MOST])
    blamed = {one.rank for one in case.suspects if one.rank is not None}
    others = [one for one in case.candidates if one not in case.suspects and one.rank not in blamed][:5]
    yield from (f"Candidate, not blamed: {_candidate(other)}" for other in others)


def _candidate(candidate: Candidate) -> str:
    grounds = f" [{', '.join(candidate.evidence)}]" if candidate.evidence else ""
    return f"{place(candidate)}, score {candidate.score:.2f}: {clean('; '.join(candidate.reasons))}{grounds}"


def _nodes(case: Case) -> Iterator[str]:
    for state in NodeState:
        named = [node.node for node in case.nodes if node.state is state]
        if named:
            rest = f" and {len(named) - MOST} more" if len(named) > MOST else ""
            yield f"Nodes {state.value}: {clean(', '.join(named[:MOST]))}{rest}"


def _further(case: Case) -> Iterator[str]:
    for failure in case.failures:
        yield f"Further failure: {failure.verdict.cause}: {clean(failure.verdict.statement)}"
    if len(case.attempts) > 1:
        yield f"Attempts: {len(case.attempts)}"
    for attempt in case.attempts if len(case.attempts) > 1 else ():
        last = "" if attempt.last_iteration is None else f", last iteration {attempt.last_iteration}"
        yield f"Attempt {attempt.number}: {attempt.outcome}{last}"


def _rest(case: Case) -> Iterator[str]:
    yield from (f"Comparison {pattern.name}: {clean(pattern.note)}" for pattern in case.patterns)
    if case.not_read:
        yield f"Not read: {plural(len(case.not_read), 'source')} (list_unread names them)."


def list_unread(desk: Desk, arguments: Arguments) -> Finding:
    """What was given but not read, which nodes and ranks wrote nothing, and remarks on the reading."""
    case = desk.case
    rows = [f"{clean(item.source)}: {clean(item.why)}" for item in case.not_read]
    rows += [f"{clean(node.node)}: not checked: {clean(node.why)}" for node in case.nodes if _unchecked(node.state)]
    rows += _silent(case)
    rows += [clean(note) for note in case.notes]
    return found(rows) if rows else nothing("Everything that was given was read.")


def _unchecked(state: NodeState) -> bool:
    return state is NodeState.NOT_CHECKED


def _silent(case: Case) -> list[str]:
    """Ranks of the job that no node report lists."""
    seen = {rank for node in case.nodes for rank in node.ranks}
    if not case.job.world_size or not seen:
        return []
    absent = set(range(case.job.world_size)) - seen
    return [f"no line of rank {ranges(absent)} was found"] if absent else []


OVERVIEW = Tool(
    "overview",
    "The whole case on one page: cause, confidence, suspects, nodes, action, alternatives, what is missing. Ask first.",
    NoArguments,
    overview,
)
LIST_UNREAD = Tool(
    "list_unread",
    "What the verdict does not rest on: files that were not read, nodes and ranks without lines, cut or broken text.",
    NoArguments,
    list_unread,
)
