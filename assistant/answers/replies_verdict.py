"""Replies about the verdict: what failed, who, why, what else it could be, what to do, what is missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterable

from assistant.answers.considering import considered
from assistant.answers.models import AnswerEvent
from assistant.answers.talk import Reply, Talk
from assistant.case.models import Alternative, Candidate, Case, Evidence, Step
from assistant.case.text import clean, place, plural, ranges
from assistant.case.vocabulary import ActionKind, Confidence, EvidenceClass, NodeState, Status
from assistant.faults.models import FaultRole

SURE = {
    Confidence.HIGH: "established",
    Confidence.MEDIUM: "supported, not proven",
    Confidence.LOW: "a hypothesis",
}
LIST = 6


def what_failed(talk: Talk) -> Reply:
    """The verdict in a few sentences, then the action."""
    case, verdict = talk.case, talk.case.verdict
    result = yield from talk.ask("overview")
    if case.status is Status.HEALTHY:
        yield from talk.say(clean(verdict.statement), result.id)
        yield from talk.say("Nothing failed, and nobody is to blame.", result.id)
        return
    yield from talk.say(sentence(verdict.statement), *verdict.evidence[:2], result.id)
    yield from telling_line(talk)
    sure = SURE[verdict.confidence] if verdict.confidence else "unknown"
    yield from talk.say(f"Cause: `{verdict.cause}` ({sure}).", result.id)
    yield from whom(talk, result.id)
    yield from talk.say(f"What to do now: {sentence(verdict.action.text)}", result.id)
    for failure in case.failures:
        yield from talk.say(f"A further, independent failure: {sentence(failure.verdict.statement)}", result.id)
    if verdict.evidence_class is not EvidenceClass.LOGS:
        yield from missing_short(talk)


def telling_line(talk: Talk) -> Reply:
    """The cited line that tells most: one of the suspect's own, else the first."""
    blamed = {suspect.rank for suspect in talk.case.suspects if suspect.rank is not None}
    cited = [item for item in talk.case.evidence if item.id in talk.case.verdict.evidence]
    own = [item for item in cited if item.rank in blamed and not item.text.startswith("{")] or cited
    for item in own[:1]:
        yield from talk.say(f"It shows in `{clean(item.text)[:240].replace('`', chr(39))}`.", item.id)


def whom(talk: Talk, result: str) -> Reply:
    """Who is blamed, or that nobody is."""
    suspects = talk.case.suspects
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
    for suspect in talk.case.suspects[:LIST]:
        yield from _reasons(talk, suspect, result.id)
    if not talk.case.suspects:
        yield from talk.say(_nobody(talk), result.id)
        ranked = talk.case.candidates[:3]
        if ranked and talk.case.status is not Status.HEALTHY:
            listed = "; ".join(place(candidate) for candidate in ranked)
            yield from talk.say(f"If you must look at one place first: {listed}; none of them is proven.", result.id)


def _nobody(talk: Talk) -> str:
    if talk.case.status is Status.HEALTHY:
        return "Nothing failed: the run ended well."
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
    yield from _suspect_named(talk, result.id)
    yield from evidence_lines(talk, result.evidence)
    if verdict.confidence:
        yield from talk.say(f"Confidence is {verdict.confidence.value}: {SURE[verdict.confidence]}.", result.id)
    if verdict.evidence_class is not EvidenceClass.LOGS:
        yield from missing_short(talk)


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
        yield from talk.item(f"{who_wrote}: `{clean(item.text)[:240].replace('`', chr(39))}`", item.id)


def why_not(talk: Talk) -> Reply:
    """What speaks for and against another explanation or another suspect."""
    result = yield from talk.ask("overview")
    named = talk.named
    if named.causes:
        for said, classes in named.causes[:2]:
            yield from other_cause(talk, said, classes, result.id)
    elif named.ranks or named.nodes or named.strangers:
        yield from _other_place(talk)
    else:
        yield from _all_alternatives(talk, result.id)


def other_cause(talk: Talk, said: str, classes: tuple[str, ...], result: str) -> Reply:
    """Whether a cause that was named is the verdict, an alternative, a further failure, or nowhere in the logs."""
    verdict = talk.case.verdict
    yield considered(talk.calls, said, classes, lambda cause: means(cause, classes))
    if means(verdict.cause, classes):
        yield from talk.say(f"That is the verdict: {sentence(verdict.statement)}", result)
        return
    fitting = [other for other in verdict.alternatives if means(other.cause, classes)]
    for other in fitting:
        yield from _alternative(talk, other, result)
    if fitting:
        yield from talk.say("It is not ruled out, but the evidence for the verdict is stronger.", result)
        return
    further = [one for one in talk.case.failures if means(one.verdict.cause, classes)]
    if further:
        yield from talk.say(f"There is such a failure besides: {sentence(further[0].verdict.statement)}", result)
        return
    if borne_out(talk.case, said, classes):
        yield from talk.say(f"The verdict speaks of it: {sentence(verdict.statement)}", result)
        return
    signs = yield from _signs(talk, said, classes)
    yield from talk.say(f"The verdict is `{verdict.cause}`: {sentence(verdict.statement)}", result)
    if not signs:
        yield from talk.say("That the logs do not show it does not prove that it was not so.")


def _signs(talk: Talk, said: str, classes: tuple[str, ...]) -> Generator[AnswerEvent, None, bool]:
    """Events of such a cause that the verdict does not rest on, or that there are none; whether one may be a cause."""
    library = talk.calls.desk.library
    kin = [(event, fault) for event in talk.case.events if (fault := library.get(event.fault or "")) is not None]
    kin = [(event, fault) for event, fault in kin if means(fault.cause, classes)]
    roots = [event for event, fault in kin if fault.role is FaultRole.ROOT]
    if not roots:
        yield from talk.say(f"Nothing in the logs that were read points to that ({said}).")
    shown = [event for event, _ in kin if not roots or event in roots][:2]
    for event in shown:
        listed = yield from talk.ask("list_events")
        what = (
            "There is a sign of it, though the verdict does not rest on it"
            if roots
            else "Only a consequence speaks of it"
        )
        yield from talk.say(f"{what}: {sentence(event.why)}", listed.id)
        known = [item for name in event.evidence[:1] if (item := talk.calls.desk.evidence(name)) is not None]
        talk.calls.desk.shown.add(known)
        yield from evidence_lines(talk, known)
    return bool(roots)


def borne_out(case: Case, said: str, classes: tuple[str, ...]) -> bool:
    """Whether what a person calls a cause is that of the verdict, or stands in its sentence."""
    words = re.findall(r"\w+", case.verdict.statement.lower())
    return means(case.verdict.cause, classes) or all(word in words for word in re.findall(r"\w+", said.lower()))


def means(cause: str, classes: Iterable[str]) -> bool:
    """Whether a cause class is one of `classes`, or of a layer (ending in a point) among them."""
    return any(cause == one or (one.endswith(".") and cause.startswith(one)) for one in classes)


def _alternative(talk: Talk, other: Alternative, result: str) -> Reply:
    known = [item for name in other.evidence[:2] if (item := talk.calls.desk.evidence(name)) is not None]
    talk.calls.desk.shown.add(known)
    yield from talk.item(f"`{other.cause}`: {clean(other.why)}", *(item.id for item in known), result)
    yield from evidence_lines(talk, known)


def _other_place(talk: Talk) -> Reply:
    blamed = {suspect.rank for suspect in talk.case.suspects} | {suspect.node for suspect in talk.case.suspects}
    for rank in talk.named.ranks[:3]:
        result = yield from talk.ask("rank_status", rank=rank)
        if result.status.value == "error":
            yield from talk.note(f"Nothing can be said of rank {rank}: {clean(result.text)}")
            continue
        if rank in blamed:
            yield from talk.say(f"Rank {rank} is the one that is blamed.", result.id)
        else:
            yield from talk.say(f"Rank {rank} is not blamed.", result.id)
        yield from talk.lines(result)
    for node in talk.named.nodes[:3]:
        yield from node_state(talk, node, blamed)
    for stranger in talk.named.strangers[:2]:
        yield from talk.note(f"The logs name no node `{clean(stranger)}`, so nothing can be said of it.")


def node_state(talk: Talk, node: str, blamed: Collection[object]) -> Reply:
    """Whether a node is blamed, and its state."""
    result = yield from talk.ask("compare_nodes", node=node)
    found = next((report for report in talk.case.nodes if report.node == node), None)
    overview = yield from talk.ask("overview")
    word = "is blamed" if node in blamed else "is not blamed"
    state = f"; its state is {found.state.value}: {clean(found.why)}" if found else ""
    yield from talk.say(f"Node {clean(node)} {word}{state}.", result.id, overview.id)


def _all_alternatives(talk: Talk, result: str) -> Reply:
    verdict = talk.case.verdict
    yield from talk.say(f"The verdict is `{verdict.cause}`: {sentence(verdict.statement)}", result)
    yield from alternatives(talk, result)
    yield from missing_short(talk)


def alternatives(talk: Talk, result: str) -> Reply:
    """What else has evidence of its own."""
    if not talk.case.verdict.alternatives:
        yield from talk.say("No other explanation has evidence of its own in these logs.", result)
    for other in talk.case.verdict.alternatives:
        yield from _alternative(talk, other, result)


def fix(talk: Talk) -> Reply:
    """The action with its steps."""
    action = talk.case.verdict.action
    result = yield from talk.ask("overview")
    yield from talk.say(sentence(action.text), result.id)
    for number, step in enumerate(action.steps, start=1):
        yield from _step(talk, number, step)
    if not action.steps and action.kind is ActionKind.NONE:
        yield from talk.say("There is nothing to do.")


def _step(talk: Talk, number: int, step: Step) -> Reply:
    parts = [f"{number}. {clean(step.text)}"]
    parts += [f"   Risk: {clean(step.risk)}"] if step.risk else []
    parts += [f"   Verify: {clean(step.verify)}"] if step.verify else []
    parts += [f"   Undo: `{clean(step.undo)}`"] if step.undo else []
    yield from talk.note("\n".join(parts))
    if step.command:
        yield from talk.block(step.command)


def restart(talk: Talk) -> Reply:
    """Whether to restart, from where, and where not."""
    verdict = talk.case.verdict
    overview = yield from talk.ask("overview")
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("The run ended well; there is nothing to restart.", overview.id)
        return
    yield from talk.say(_ADVICE[verdict.action.kind], overview.id)
    yield from talk.say(sentence(verdict.action.text), overview.id)
    pace = yield from talk.ask("iteration_stats")
    told = [line for line in pace.text.splitlines() if line.startswith(("Last complete checkpoint", "Last iteration"))]
    for line in told:
        yield from talk.say(f"{line}.", pace.id)
    if not any("checkpoint" in line for line in told):
        yield from talk.say("The logs show no completed checkpoint; look in the checkpoint folder before you resume.")
    nodes = [suspect.node for suspect in talk.case.suspects if suspect.node]
    if nodes and verdict.action.kind is ActionKind.REPLACE_NODE:
        yield from talk.say(f"Leave out {clean(', '.join(dict.fromkeys(nodes)))}.", overview.id)


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
    result = yield from talk.ask("list_unread")
    if result.status.value == "nothing":
        yield from talk.say("Everything that was given was read.", result.id)
        return
    yield from talk.say("What the verdict does not rest on:", result.id)
    yield from talk.lines(result)


def missing_short(talk: Talk) -> Reply:
    """What would settle the doubt."""
    result = yield from talk.ask("overview")
    wanted = talk.case.verdict.missing
    if not wanted:
        yield from talk.say("No further measurement is asked for.", result.id)
        return
    yield from talk.say("This would settle the doubt:")
    for thing in wanted:
        yield from talk.item(clean(thing), result.id)
    yield from talk.say("Attach what you find, and the case is judged again.")


def nodes(talk: Talk) -> Reply:
    """Every node by state."""
    result = yield from talk.ask("overview")
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("Nothing failed, so nothing is affected.", result.id)
    if not talk.case.nodes:
        yield from talk.say("The logs name no node.", result.id)
    for state in NodeState:
        named = [report for report in talk.case.nodes if report.node and report.state is state]
        if named:
            listed = ", ".join(clean(report.node) for report in named[:20])
            rest = f" and {len(named) - 20} more" if len(named) > 20 else ""
            yield from talk.item(f"{_STATES[state]}: {plural(len(named), 'node')}: {listed}{rest}", result.id)
    events = yield from talk.ask("list_events")
    victims = {rank for event in talk.case.events if event.role.value == "cascade" for rank in event.ranks}
    victims -= {suspect.rank for suspect in talk.case.suspects if suspect.rank is not None}
    for event in [event for event in talk.case.events if event.role.value == "cascade"][:3]:
        yield from talk.item(f"A consequence that others report: {clean(event.why)}", events.id)
    if victims:
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
