"""Replies about the verdict: what failed, who, why, what else it could be, what to do, what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assistant.answers.talk import Reply, Talk
from assistant.case.models import Candidate, Evidence, Step
from assistant.case.text import clean, place, ranges
from assistant.case.vocabulary import ActionKind, Confidence, EvidenceClass, NodeState, Stage, Status

SURE = {
    Confidence.HIGH: "established",
    Confidence.MEDIUM: "supported, not proven",
    Confidence.LOW: "a hypothesis",
}
LIST = 6
LONGEST = 240
"""Letters of a log line that a sentence quotes."""
BRIEF = re.compile(
    r"(?i)\b(?:one|single|a) (?:sentence|line|liner)\b|\bone-liner\b|\btl;?dr\b|\bin short\b|\bin a nutshell\b"
)
"""A question that wants a single sentence."""


def what_failed(talk: Talk) -> Reply:
    """The verdict in a few sentences, then the action."""
    case, verdict = talk.case, talk.case.verdict
    result = yield from talk.ask("overview")
    if case.status is Status.HEALTHY:
        yield from talk.say(sentence(verdict.statement), result.id)
        yield from talk.say("Nobody is to blame, and there is nothing to do.", result.id)
        return
    yield from talk.say(sentence(verdict.statement), *verdict.evidence[:2], result.id)
    if BRIEF.search(talk.question.text[:400]):
        return
    yield from telling_line(talk)
    sure = SURE[verdict.confidence] if verdict.confidence else "unknown"
    yield from talk.say(f"Cause: `{verdict.cause}` ({sure}).", result.id)
    yield from whom(talk, result.id)
    for failure in case.failures:
        yield from talk.say(f"A further, independent failure: {sentence(failure.verdict.statement)}", result.id)
    if "fix" in talk.wanted:
        return
    yield from talk.say(f"What to do now: {sentence(verdict.action.text)}", result.id)
    yield from still_open(talk)


def telling_line(talk: Talk) -> Reply:
    """The cited line that tells most: one of the suspect's own, else the first."""
    blamed = {suspect.rank for suspect in talk.case.suspects if suspect.rank is not None}
    cited = [item for item in talk.case.evidence if item.id in talk.case.verdict.evidence]
    own = [item for item in cited if item.rank in blamed and not item.text.startswith("{")] or cited
    for item in own[:1]:
        yield from talk.say(f"It shows in {quotation(item.text)}.", item.id)


def whom(talk: Talk, result: str) -> Reply:
    """Who is blamed, or that nobody is."""
    suspects = talk.case.suspects
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("Nothing failed, so nobody is to blame.", result)
        return
    if not suspects:
        yield from talk.say("The logs prove nobody's guilt, so no rank and no node is blamed.", result)
        return
    named = "; ".join(place(suspect) for suspect in suspects[:LIST])
    rest = f" and {len(suspects) - LIST} more" if len(suspects) > LIST else ""
    yield from talk.say(f"Blamed: {named}{rest}.", result, *suspects[0].evidence[:2])


def who(talk: Talk) -> Reply:
    """The suspects with their reasons, then who is only a candidate."""
    result = yield from talk.ask("overview")
    yield from whom(talk, result.id)
    if talk.case.suspects:
        yield from talk.say(sentence(talk.case.verdict.statement), result.id)
    for suspect in talk.case.suspects[:LIST]:
        yield from _reasons(talk, suspect, result.id)
    if not talk.case.suspects and talk.case.status is not Status.HEALTHY:
        yield from talk.say(_nobody(talk), result.id)
        ranked = _stands_out(talk)
        if ranked:
            listed = "; ".join(place(candidate) for candidate in ranked)
            yield from talk.say(f"If you must look at one place first: {listed}; none of them is proven.", result.id)


def _stands_out(talk: Talk) -> list[Candidate]:
    """The first candidates, where anything sets them apart from the rest and the cause lies inside the job."""
    ranked = [one for one in talk.case.candidates if one.score > 0]
    apart = bool(ranked) and (len(ranked) < len(talk.case.candidates) or ranked[0].score > ranked[-1].score)
    return ranked[:3] if apart and not talk.case.verdict.cause.startswith("scheduler.") else []


def _nobody(talk: Talk) -> str:
    if talk.case.verdict.cause.startswith("scheduler."):
        return "The job was stopped from outside."
    return "Where all ranks fail alike, or only victims speak, blaming one of them would be a guess."


def _reasons(talk: Talk, candidate: Candidate, result: str) -> Reply:
    for reason in candidate.reasons[:4]:
        yield from talk.item(f"{place(candidate)}: {clean(reason)}", *candidate.evidence[:2], result)


def why(talk: Talk) -> Reply:
    """The argument, the evidence itself, and how sure it is."""
    verdict = talk.case.verdict
    result = yield from talk.ask("overview")
    yield from talk.say(sentence(verdict.statement), result.id)
    for reason in verdict.why:
        yield from talk.item(clean(reason), result.id)
    if "what_failed" in talk.wanted:
        return
    yield from _suspect_named(talk, result.id)
    yield from evidence_lines(talk, result.evidence)
    if verdict.confidence:
        yield from talk.say(f"Confidence is {verdict.confidence.value}: {SURE[verdict.confidence]}.", result.id)
    yield from still_open(talk)


def _suspect_named(talk: Talk, result: str) -> Reply:
    blamed = {suspect.rank for suspect in talk.case.suspects}
    for rank in [rank for rank in talk.named.ranks[:3] if rank not in blamed]:
        status = yield from talk.ask("rank_status", rank=rank)
        if status.status.value == "found":
            yield from talk.note(f"Rank {rank} is not blamed.")
    for candidate in _candidates_named(talk):
        yield from _reasons(talk, candidate, result)


def _candidates_named(talk: Talk) -> list[Candidate]:
    named = talk.named
    return [c for c in talk.case.candidates if c.rank in named.ranks or (c.node in named.nodes and c.rank is None)]


def evidence_lines(talk: Talk, evidence: Iterable[Evidence], most: int = 5) -> Reply:
    """The lines themselves, each as a quotation."""
    for item in list(evidence)[:most]:
        who_wrote = place(item) or clean(item.source)
        yield from talk.item(f"{who_wrote}: {quotation(item.text)}", item.id)


def quotation(text: str) -> str:
    """A log line within a sentence; where it holds backticks, its longest piece without them, letter by letter."""
    return f"`{max(clean(text).strip()[:LONGEST].split('`'), key=len).strip()}`"


def fix(talk: Talk) -> Reply:
    """The action with its steps."""
    action = talk.case.verdict.action
    result = yield from talk.ask("overview")
    if action.kind is ActionKind.NONE and talk.case.status is Status.HEALTHY and "what_failed" in talk.wanted:
        return
    yield from talk.say(sentence(action.text), result.id)
    for number, step in enumerate(action.steps, start=1):
        yield from _step(talk, number, step)
    if not action.steps and action.kind is ActionKind.NONE:
        yield from talk.say("There is nothing to do.")
    if "what_failed" in talk.wanted:
        yield from still_open(talk)


def _step(talk: Talk, number: int, step: Step) -> Reply:
    parts = [f"{number}. {clean(step.text)}"]
    parts += [f"   Risk: {clean(step.risk)}"] if step.risk else []
    parts += [f"   Verify: {clean(step.verify)}"] if step.verify else []
    parts += [f"   Undo: {_undone(clean(step.undo))}"] if step.undo else []
    yield from talk.note("\n".join(parts))
    if step.command:
        yield from talk.block(step.command)


def _undone(text: str) -> str:
    """How a step is undone: a command as such, a sentence as it stands."""
    return text if text[:1].isupper() and text.endswith(".") else f"`{text}`"


def restart(talk: Talk) -> Reply:
    """Whether to restart, from where, and where not."""
    verdict = talk.case.verdict
    overview = yield from talk.ask("overview")
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("The run ended well; there is nothing to restart.", overview.id)
        return
    if where := _FROM_WHERE.search(talk.question.text[:400]):
        yield from _resumes(talk)
    yield from talk.say(_ADVICE[verdict.action.kind], overview.id)
    yield from talk.say(sentence(verdict.action.text), overview.id)
    if not where:
        yield from _resumes(talk)
    nodes = [suspect.node for suspect in talk.case.suspects if suspect.node]
    if nodes and verdict.action.kind is ActionKind.REPLACE_NODE:
        yield from talk.say(f"Leave out {clean(', '.join(dict.fromkeys(nodes)))}.", overview.id)


def _resumes(talk: Talk) -> Reply:
    """From where training would go on."""
    pace = yield from talk.ask("iteration_stats")
    starts = ("Last complete checkpoint", "Last iteration")
    told = sorted(line for line in pace.text.splitlines() if line.startswith(starts))
    if not told and talk.case.verdict.stage in _BEFORE_TRAINING:
        yield from talk.say("It failed before the first iteration, so nothing of this attempt is there to resume from.")
    elif not any("checkpoint" in line for line in told):
        yield from talk.say("The logs show no completed checkpoint; look in the checkpoint folder before you resume.")
    for line in told:
        yield from talk.say(f"{line}.", pace.id)


_FROM_WHERE = re.compile(r"(?i)\b(?:checkpoints?|ckpts?|resume|from where|where from|which (?:step|iteration))\b")
_BEFORE_TRAINING = (Stage.STARTUP, Stage.LOADING, Stage.CHECKPOINT_LOAD)
_ADVICE = {
    ActionKind.RETRY: "Yes: a plain restart is the remedy, and no node needs to go.",
    ActionKind.RESTART_FROM_CHECKPOINT: "Yes, from the last complete checkpoint.",
    ActionKind.REPLACE_NODE: "Not on the same nodes: take the blamed one out first.",
    ActionKind.ROLL_BACK: "Only from an earlier checkpoint, before the damage.",
    ActionKind.FIX_CONFIG: "Not yet: without a changed configuration it fails again.",
    ActionKind.FIX_CODE: "Not yet: without a changed program it fails again.",
    ActionKind.FIX_DATA: "Not yet: without repaired data it fails again.",
    ActionKind.FREE_RESOURCE: "Not yet: without more room it fails again.",
    ActionKind.RAISE_LIMIT: "Not yet: under the same limit it fails again.",
    ActionKind.ASK_OPERATOR: "Ask the operator first.",
    ActionKind.COLLECT: "You can, but a restart alone is a guess: collect what is missing first, or in the next run.",
    ActionKind.NONE: "There is nothing to restart.",
}


def missing(talk: Talk) -> Reply:
    """What would settle the doubt, and what was not read."""
    yield from missing_short(talk)
    if not talk.case.verdict.missing:
        overview = yield from talk.ask("overview")
        yield from talk.say("No further measurement is asked for.", overview.id)
    result = yield from talk.ask("list_unread")
    if result.status.value == "nothing":
        yield from talk.say("Everything that was given was read.", result.id)
        return
    yield from talk.say("What the verdict does not rest on:", result.id)
    yield from talk.lines(result)


def missing_short(talk: Talk) -> Reply:
    """What would settle the doubt, where a measurement would."""
    result = yield from talk.ask("overview")
    wanted = talk.case.verdict.missing
    if not wanted:
        return
    yield from talk.say("This would settle the doubt:")
    for thing in wanted:
        yield from talk.item(clean(thing), result.id)
    yield from talk.say("Attach what you find, and the case is judged again.")


def still_open(talk: Talk) -> Reply:
    """What would settle the doubt, unless the logs alone close the case."""
    if talk.case.verdict.evidence_class is not EvidenceClass.LOGS:
        yield from missing_short(talk)


def nodes(talk: Talk) -> Reply:
    """Every node by state."""
    result = yield from talk.ask("overview")
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("Nothing failed, so nothing is affected.", result.id)
    elif re.search(r"(?i)\bwhy\b", talk.question.text[:400]):
        yield from talk.say(sentence(talk.case.verdict.statement), result.id)
    if not talk.case.nodes:
        yield from talk.say("The logs name no node.", result.id)
    for state in NodeState:
        named = [report for report in talk.case.nodes if report.node and report.state is state]
        if named:
            listed = ", ".join(clean(report.node) for report in named[:20])
            rest = f" and {len(named) - 20} more" if len(named) > 20 else ""
            yield from talk.item(f"{_STATES[state]}: {listed}{rest}", result.id)
    events = yield from talk.ask("list_events")
    victims = {rank for event in talk.case.events if event.role.value == "cascade" for rank in event.ranks}
    victims -= {suspect.rank for suspect in talk.case.suspects if suspect.rank is not None}
    for event in [event for event in talk.case.events if event.role.value == "cascade"][:3]:
        yield from talk.item(f"A consequence that others report: {clean(event.why)}", events.id)
    if len(victims) == 1:
        yield from talk.say(f"Rank {ranges(victims)} only reports consequences: it is a victim.", events.id)
    elif victims:
        yield from talk.say(f"Ranks {ranges(victims)} only report consequences: they are victims.", events.id)


_STATES = {
    NodeState.AFFECTED: "Affected",
    NodeState.CHANGED: "Changed otherwise (reports consequences, or stands out)",
    NodeState.HEALTHY: "Checked and healthy",
    NodeState.NOT_CHECKED: "Not checked (no line of it was read)",
}


def sentence(text: str) -> str:
    """A text of the case as a whole sentence."""
    whole = clean(text).strip()
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."
