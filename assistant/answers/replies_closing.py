"""Replies with which a case is closed: how sure it is, whose it is, what was lost, what to write, what is left."""

from __future__ import annotations

from assistant.answers.replies_doubts import CAUSES, alternatives, means, node_state, other_causes
from assistant.answers.replies_verdict import BRIEF, SURE, fix, missing_short, sentence, telling_line, whom
from assistant.answers.talk import Reply, Talk
from assistant.case.text import clean
from assistant.case.vocabulary import ActionKind, EvidenceClass, Status
from assistant.tools.finding import quoted

MOST = 6
"""Files that are named."""


def sure(talk: Talk) -> Reply:
    """How sure the verdict is, what speaks for it, what else it could be, and what would settle it."""
    verdict = talk.case.verdict
    result = yield from talk.ask("overview")
    if verdict.confidence:
        yield from talk.say(f"Confidence is {verdict.confidence.value}: {SURE[verdict.confidence]}.", result.id)
    else:
        yield from talk.say("There is no cause to be sure of.", result.id)
    yield from talk.say(sentence(verdict.statement), *verdict.evidence[:2], result.id)
    yield from whom(talk, result.id)
    for reason in verdict.why[:3]:
        yield from talk.item(clean(reason), result.id)
    yield from _named_places(talk)
    if talk.case.status is Status.HEALTHY:
        return
    yield from alternatives(talk, result.id)
    yield from missing_short(talk)


def _named_places(talk: Talk) -> Reply:
    blamed = {one.rank for one in talk.case.suspects} | {one.node for one in talk.case.suspects}
    for rank in [rank for rank in talk.named.ranks[:2] if rank not in blamed]:
        status = yield from talk.ask("rank_status", rank=rank)
        if status.status.value == "found":
            yield from talk.say(f"Rank {rank} is not blamed.", status.id)
    for node in [node for node in talk.named.nodes[:2] if node not in blamed]:
        yield from node_state(talk, node, blamed)


def layer(talk: Talk) -> Reply:
    """Hardware, program, data, configuration or platform: on whose side the cause lies."""
    verdict = talk.case.verdict
    result = yield from talk.ask("overview")
    yield from talk.say(sentence(verdict.statement), *verdict.evidence[:2], result.id)
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("Nothing failed, so it is nobody's.", result.id)
        return
    name = verdict.cause.partition(".")[0]
    yield from talk.say(f"Cause: `{verdict.cause}`.", result.id)
    yield from talk.note(_SIDES.get(verdict.cause) or _SIDES.get(name, _OPEN))
    if name not in ("hardware", "unknown") and not any(
        one.cause.startswith("hardware.") for one in verdict.alternatives
    ):
        yield from talk.say("Nothing in the logs that were read points to broken hardware.")
    asked = [(said, classes) for said, classes in talk.named.causes[:CAUSES] if not said.startswith("hardware")]
    if others := [one for one in asked if not means(verdict.cause, one[1])]:
        yield from other_causes(talk, others, result.id)
    yield from whom(talk, result.id)
    yield from talk.say(f"What to do now: {sentence(verdict.action.text)}", result.id)


_OPEN = "The logs do not show on whose side that lies."
_SIDES = {
    "hardware": "That is the machine: it is for those who run the hardware.",
    "network": "That is the network or how it is set up: it is for those who run the cluster.",
    "collective": "That is where ranks meet; what kept one away lies in its program, data, machine or network.",
    "collective.mismatch": "That is the program: the ranks did not call the same operations.",
    "process": "Who ended the process is for the operators of the machine to look up, unless its own program did.",
    "process.killed": "A signal came from outside the program: from the kernel, the scheduler, a launcher or a person.",
    "process.segfault": "That is native code: a library, an extension or a driver, seldom the machine's memory.",
    "memory": "That is the size of the job against its memory: settings or program, not a broken part.",
    "storage": "That is the storage or the rights on it: it is for those who run it, unless the job filled it.",
    "checkpoint": "That is a file of a checkpoint: neither the program nor the machine has to change for it.",
    "data": "That is the data or its index: it is for those who prepare it.",
    "numerics": "That is the training itself: data, learning rate or precision come before a faulty device.",
    "code": "That is the program: it is for those who write it.",
    "config": "That is the configuration of the job: it is for those who start it.",
    "launch": "That is the start of the job: launcher, addresses, ports or environment.",
    "scheduler": "That is a decision of the scheduler or of a person: neither the program nor the machine broke.",
    "platform": "That is the platform: versions or services below the program.",
    "performance": "That is about speed: compare the slow place with its peers before anybody is blamed.",
}


def drain(talk: Talk) -> Reply:
    """Whether a node has to be taken out."""
    action = talk.case.verdict.action
    result = yield from talk.ask("overview")
    nodes = [clean(node) for node in dict.fromkeys(one.node for one in talk.case.suspects if one.node)]
    blamed = {one.node for one in talk.case.suspects}
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("No: nothing failed, so every node may stay.", result.id)
    elif action.kind is ActionKind.REPLACE_NODE and nodes:
        yield from talk.say(f"Yes: take out {', '.join(nodes[:MOST])}.", result.id)
        yield from talk.say(sentence(action.text), result.id)
    else:
        yield from talk.say("Not on this evidence: the remedy is another one.", result.id)
        yield from talk.say(sentence(action.text), result.id)
        if not talk.case.verdict.cause.startswith("hardware."):
            yield from talk.say("Nothing in the logs that were read points to broken hardware.")
        yield from whom(talk, result.id)
    for node in talk.named.nodes[:3]:
        yield from node_state(talk, node, blamed)


def lost(talk: Talk) -> Reply:
    """How much work has to be done again."""
    result = yield from talk.ask("overview")
    pace = yield from talk.ask("iteration_stats")
    told = [line for line in pace.text.splitlines() if line.startswith(_REACH)]
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("Nothing was lost: the run ended well.", result.id)
    for line in told:
        yield from talk.say(f"{line}.", pace.id)
    if talk.case.status is Status.HEALTHY:
        return
    if not told:
        yield from talk.say("The logs show no iteration and no completed checkpoint, so no work that could be lost.")
    elif not any("checkpoint" in line for line in told):
        yield from talk.say("The logs show no completed checkpoint: without one, all of it has to be done again.")
    yield from talk.say(f"What to do now: {sentence(talk.case.verdict.action.text)}", result.id)


_REACH = ("Last complete checkpoint", "Last iteration", "Since the last complete checkpoint", "No progress")


def ticket(talk: Talk) -> Reply:
    """A few sentences to copy: what, how sure, who, what was lost, what next."""
    case, verdict = talk.case, talk.case.verdict
    result = yield from talk.ask("overview")
    yield from talk.say(sentence(verdict.statement), *verdict.evidence[:2], result.id)
    if case.status is Status.HEALTHY:
        yield from talk.say("Nobody is to blame, and there is nothing to do.", result.id)
        return
    certain = SURE[verdict.confidence] if verdict.confidence else "unknown"
    yield from talk.say(f"Cause: `{verdict.cause}` ({certain}).", result.id)
    if BRIEF.search(talk.question.text[:400]):
        return
    yield from whom(talk, result.id)
    yield from telling_line(talk)
    yield from talk.say(f"What to do now: {sentence(verdict.action.text)}", result.id)
    if verdict.missing:
        yield from talk.say(f"Still open: {clean('; '.join(verdict.missing))}.", result.id)


def files(talk: Talk) -> Reply:
    """Which files hold the evidence, the most telling line of each."""
    result = yield from talk.ask("overview")
    rows: dict[str, str] = {}
    for item in result.evidence:
        rows.setdefault(item.source, quoted(item))
    if not rows:
        yield from talk.say("The verdict cites no log line, so no file has to be read first.", result.id)
        return
    yield from talk.say("Open these, the first one first; the evidence of the verdict stands there:")
    yield from talk.block("\n".join(list(rows.values())[:MOST]))


def close(talk: Talk) -> Reply:
    """Whether anything is left to do before the case is closed."""
    verdict = talk.case.verdict
    result = yield from talk.ask("overview")
    if talk.case.status is Status.HEALTHY:
        yield from talk.say("Yes: nothing is left to do.", result.id)
        yield from talk.say(sentence(verdict.statement), result.id)
        return
    yield from talk.say(f"Not before this is done: {sentence(verdict.action.text)}", result.id)
    if verdict.evidence_class is EvidenceClass.LOGS:
        yield from talk.say("The logs close the case: no further measurement is needed for the cause.", result.id)
    else:
        yield from missing_short(talk)
    yield from talk.note("When it holds, `rootrank incidents` keeps the case, so that it is known again.")


def act(talk: Talk) -> Reply:
    """Asked to do something: it reads and explains."""
    yield from talk.say("I only read and explain; I run, change and send nothing.")
    if talk.case.status is not Status.HEALTHY:
        yield from talk.say("This is what you can do:")
        yield from fix(talk)
