"""Replies that look into the logs: show, find, timeline, places, comparisons, iterations, events."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from assistant.answers.language import SEARCHING
from assistant.answers.replies_doubts import node_state, other_causes, unknown_rank
from assistant.answers.replies_knowledge import lines_with_its_words
from assistant.answers.replies_verdict import quotation, sentence
from assistant.answers.talk import Reply, Talk
from assistant.case.text import clean, plural
from assistant.case.vocabulary import Role, Status
from assistant.faults.models import FaultRole
from assistant.tools.models import ResultStatus, ToolResult


def show(talk: Talk) -> Reply:
    """The lines around a place: one that was named, else the first evidence of the verdict."""
    places: list[dict[str, Any]] = [{"evidence": name} for name in talk.named.evidence if name[0] != "T"]
    places += [{"source": name, "line": line or 1} for name, line in talk.named.files]
    if not places and talk.case.verdict.evidence:
        places = [{"evidence": talk.case.verdict.evidence[0]}]
    if not places and talk.case.evidence:
        places = [{"evidence": talk.case.evidence[0].id}]
    if not places:
        yield from talk.say("The case cites no log line that could be shown.")
    for where in places[:3]:
        result = yield from talk.ask("read_window", **where)
        yield from _window(talk, where.get("evidence"), result)


def _window(talk: Talk, evidence: str | None, result: ToolResult) -> Reply:
    if result.status is ResultStatus.ERROR:
        kept = talk.calls.desk.evidence(evidence) if evidence else None
        if kept is not None:
            talk.calls.desk.shown.add([kept])
            yield from talk.say("The logs are not at hand; this line was kept with the case:")
            yield from talk.item(quotation(kept.text), kept.id)
        else:
            yield from talk.note(f"That cannot be shown: {result.text}")
        return
    line = talk.calls.desk.evidence(evidence) if evidence else None
    if line is not None:
        yield from talk.say(f"This is the line: {quotation(line.text)}.", line.id)
        yield from talk.say("It stands among these:", result.id)
    else:
        yield from talk.say("There it says:", result.id)
    yield from talk.lines(result)


def find(talk: Talk) -> Reply:
    """Lines that hold what was named."""
    texts = [*talk.named.quotes, *talk.named.codes]
    if not texts:
        said = [word for word in re.findall(r"[\w.:/-]+", talk.question.text) if word.lower() not in SEARCHING]
        left = [word for word in said if len(word) > 2 or not word.isalpha()]
        texts = [" ".join(left)] if left else []
    if not texts:
        yield from talk.say("Say what to look for, best in quotation marks.")
    extra = {"rank": talk.named.ranks[0]} if talk.named.ranks else {}
    for sought in texts[:3]:
        result = yield from talk.ask("grep_log", pattern=f"(?i){re.escape(sought)}", **extra)
        if result.status is ResultStatus.NOTHING:
            yield from talk.say(f"No line of the logs that were read holds that ({clean(sought)[:80]}).", result.id)
            yield from _meant(talk)
            if not talk.named.causes:
                yield from lines_with_its_words(talk)
            if not talk.named.quotes and not talk.named.codes:
                yield from _resting_on(talk)
        elif result.status is ResultStatus.ERROR:
            yield from talk.note(f"The logs cannot be searched: {result.text}")
        else:
            yield from talk.say("Found:", result.id)
            yield from talk.lines(result)


def _resting_on(talk: Talk) -> Reply:
    """The verdict's own line: the question may have been about a word of it."""
    for item in [item for item in talk.case.evidence if item.id in talk.case.verdict.evidence][:1]:
        talk.calls.desk.shown.add([item])
        yield from talk.say(f"The verdict rests on {quotation(item.text)}.", item.id)


def _meant(talk: Talk) -> Reply:
    """What was looked for may be a kind of failure that the logs say in other words."""
    overview = yield from talk.ask("overview")
    if talk.named.causes:
        yield from other_causes(talk, talk.named.causes[:1], overview.id)


def timeline(talk: Talk) -> Reply:
    """What happened when, after the stage and iteration of the verdict."""
    verdict = talk.case.verdict
    overview = yield from talk.ask("overview")
    when = [f"in stage {verdict.stage.value.replace('_', ' ')}" if verdict.stage else ""]
    when += [f"at iteration {verdict.iteration}" if verdict.iteration is not None else ""]
    if talk.case.status is not Status.HEALTHY:
        yield from talk.say(sentence(verdict.statement), overview.id)
    if any(when) and talk.case.status is not Status.HEALTHY:
        yield from talk.say(f"It happened {' '.join(filter(None, when))}.", overview.id)
    result = yield from talk.ask("timeline")
    if result.status is ResultStatus.NOTHING:
        yield from talk.say(clean(result.text), result.id)
        return
    yield from talk.say("In order of time, clocks corrected where that was possible:", result.id)
    yield from talk.lines(result)


def place(talk: Talk) -> Reply:
    """How ranks and nodes did."""
    blamed: Collection[object] = {one.rank for one in talk.case.suspects} | {one.node for one in talk.case.suspects}
    ranks = talk.named.ranks
    if not ranks and not talk.named.nodes and not talk.named.strangers:
        ranks = tuple(suspect.rank for suspect in talk.case.suspects[:1] if suspect.rank is not None)
        if not ranks:
            yield from talk.note("Name a rank or a node, as in `rank 3`.")
    for rank in ranks[:4]:
        result = yield from talk.ask("rank_status", rank=rank)
        if result.status is ResultStatus.ERROR:
            yield from unknown_rank(talk, rank, result.text)
            continue
        yield from talk.say(f"Rank {rank} is {'blamed' if rank in blamed else 'not blamed'}.", result.id)
        yield from talk.lines(result)
        if not result.evidence:
            yield from talk.say("No line of its own was read.")
    for node in talk.named.nodes[:4]:
        yield from node_state(talk, node, blamed)
        yield from _ranks_on(talk, node)
    for stranger in talk.named.strangers[:2]:
        yield from talk.note(f"The logs name no node `{clean(stranger)}`.")


def _ranks_on(talk: Talk, node: str) -> Reply:
    report = next((one for one in talk.case.nodes if one.node == node), None)
    result = yield from talk.ask("compare_nodes", node=node)
    if report is not None and result.status is ResultStatus.FOUND:
        yield from talk.lines(result)
    for suspect in talk.case.suspects:
        if suspect.node == node and suspect.rank is not None:
            overview = yield from talk.ask("overview")
            yield from talk.say(f"On it, rank {suspect.rank} is blamed.", overview.id)


def compare(talk: Talk) -> Reply:
    """Two places side by side, or one with its peers."""
    nodes, ranks = list(talk.named.nodes), list(talk.named.ranks)
    if not ranks and len(talk.case.nodes) == 1 and not talk.named.strangers:
        yield from talk.note("The logs are those of one node, so it has no peers to be compared with.")
        nodes, ranks = [], [one.rank for one in talk.case.suspects[:2] if one.rank is not None] or [0]
    if not nodes and not ranks:
        nodes = [suspect.node for suspect in talk.case.suspects[:1] if suspect.node]
        ranks = [] if nodes else [suspect.rank for suspect in talk.case.suspects[:1] if suspect.rank is not None]
    if nodes:
        arguments = {"node": nodes[0], **({"other": nodes[1]} if len(nodes) > 1 else {})}
        result = yield from talk.ask("compare_nodes", **arguments)
        yield from _compared(talk, result)
    for rank in ranks[:2]:
        result = yield from talk.ask("rank_status", rank=rank)
        yield from talk.say(f"Rank {rank}:", result.id)
        yield from talk.lines(result)
    if not nodes and not ranks:
        yield from talk.say("Name two nodes or two ranks to compare.")
    for stranger in talk.named.strangers[:2]:
        yield from talk.note(f"The logs name no node `{clean(stranger)}`.")


def _compared(talk: Talk, result: ToolResult) -> Reply:
    if result.status is ResultStatus.ERROR:
        yield from talk.note(f"They cannot be compared: {result.text}")
        return
    yield from talk.say("What differs, per writer:", result.id)
    yield from talk.lines(result)


def iterations(talk: Talk) -> Reply:
    """The pace of training."""
    if talk.case.verdict.cause.startswith(("numerics.", "performance.")):
        overview = yield from talk.ask("overview")
        yield from talk.say(clean(talk.case.verdict.statement), overview.id)
    elif _SLOW.search(talk.question.text[:400]):
        overview = yield from talk.ask("overview")
        yield from talk.say("No slow rank or node is established.", overview.id)
        yield from talk.note("Ranks that wait for each other keep the same pace, so iteration times alone name nobody.")
    result = yield from talk.ask("iteration_stats")
    if result.status is not ResultStatus.FOUND:
        yield from talk.note(clean(result.text))
        return
    yield from talk.say("The pace of training:", result.id)
    yield from talk.lines(result)


_SLOW = re.compile(r"(?i)\b(?:slow\w*|straggl\w*|lag\w*|behind)\b")


def events(talk: Talk) -> Reply:
    """The failure-indicating events by role."""
    result = yield from talk.ask("list_events")
    if result.status is ResultStatus.NOTHING:
        yield from talk.say("No event of these logs indicates a failure.", result.id)
        return
    overview = yield from talk.ask("overview")
    for failure in talk.case.failures:
        yield from talk.say(f"An independent second failure: {clean(failure.verdict.statement)}", overview.id)
    if not talk.case.failures and talk.case.status is Status.FAILED:
        yield from talk.say("No second, independent failure was found; the rest count as consequences.", overview.id)
        yield from _could_be_own(talk, result)
    yield from talk.say("Initiating events come first in time, cascades are victims' reports:", result.id)
    yield from talk.lines(result)


def _could_be_own(talk: Talk, listed: ToolResult) -> Reply:
    """Consequences of a kind that is often a cause: that they are consequences is what their time says, no more."""
    library = talk.calls.desk.library
    for event in [event for event in talk.case.events if event.role is Role.CASCADE]:
        fault = library.get(event.fault or "")
        if fault is not None and fault.role is FaultRole.ROOT:
            told = f"Only their times make these a consequence, elsewhere it is a cause: {sentence(event.why)}"
            yield from talk.say(told, listed.id, *event.evidence[:1])


def baseline(talk: Talk) -> Reply:
    """What healthy runs do not show."""
    result = yield from talk.ask("baseline_diff")
    if result.status is ResultStatus.FOUND:
        yield from talk.say("Against the healthy runs, the most unusual first:", result.id)
        yield from talk.lines(result)
        return
    yield from talk.note(clean(result.text.replace("\n", " ")))
    yield from talk.say("Add one with `rootrank baseline add NAME FOLDER`, then diagnose again.")


def job(talk: Talk) -> Reply:
    """How large the job was, and how often it was tried."""
    result = yield from talk.ask("overview")
    case = talk.case
    yield from talk.say(clean(result.text.splitlines()[0]), result.id)
    if len(case.attempts) > 1:
        yield from talk.say(
            f"It was tried {len(case.attempts)} times; the verdict is about the last attempt.", result.id
        )
        for attempt in case.attempts:
            yield from talk.item(f"attempt {attempt.number}: {attempt.outcome}", result.id)
    else:
        yield from talk.say("There was one attempt, as far as the logs show.")
    left = f"Not read: {plural(len(case.not_read), 'source')}." if case.not_read else "All of it was read."
    yield from talk.say(left, result.id)
