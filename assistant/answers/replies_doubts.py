"""Doubts: another cause, another rank or node, what else it could be."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence

from assistant.answers.considering import considered
from assistant.answers.models import AnswerEvent
from assistant.answers.replies_verdict import evidence_lines, missing_short, sentence
from assistant.answers.talk import Reply, Talk
from assistant.case.models import Alternative, Case
from assistant.case.text import clean
from assistant.case.vocabulary import Status
from assistant.faults.models import Fault, FaultRole
from assistant.tools.models import ResultStatus

CAUSES = 3
"""Causes of one question that are looked for."""
LOOKED_FOR = 24
"""Expressions of a cause's own signatures that the logs are searched for, at most."""


def why_not(talk: Talk) -> Reply:
    """What speaks for and against another explanation or another suspect."""
    result = yield from talk.ask("overview")
    named = talk.named
    if named.causes:
        yield from other_causes(talk, named.causes[:CAUSES], result.id)
    elif named.ranks or named.nodes or named.strangers:
        yield from _other_place(talk)
    else:
        yield from _all_alternatives(talk, result.id)


def other_causes(talk: Talk, named: Sequence[tuple[str, tuple[str, ...]]], result: str) -> Reply:
    """Whether causes that were named are the verdict, an alternative, a further failure, or nowhere in the logs.

    Beside one that is not the verdict, one that is needs no yes of its own, which would be read as a yes to both.
    """
    others = [one for one in named if not means(talk.case.verdict.cause, one[1])]
    unseen = False
    for said, classes in named:
        yield considered(talk.calls, said, classes, lambda cause, meant=classes: means(cause, meant))  # type: ignore[misc]
    for said, classes in others:
        unseen |= yield from _other_cause(talk, said, classes, result)
    if not others:
        yield from _that_is_it(talk, named[0][1], result)
    if unseen:
        yield from talk.say(the_verdict(talk), result)
    if unseen and talk.case.status is not Status.HEALTHY:
        yield from talk.say("That the logs do not show it does not prove that it was not so.")


def the_verdict(talk: Talk) -> str:
    """The verdict as an answer to a doubt."""
    verdict = talk.case.verdict
    told = sentence(verdict.statement)
    return told if talk.case.status is Status.HEALTHY else f"The verdict is `{verdict.cause}`: {told}"


def _that_is_it(talk: Talk, classes: tuple[str, ...], result: str) -> Reply:
    verdict = talk.case.verdict
    same = "That is the verdict" if verdict.cause in classes else "That is the verdict's kind"
    yield from talk.say(f"{same}: {sentence(verdict.statement)}", result)


def _other_cause(
    talk: Talk, said: str, classes: tuple[str, ...], result: str
) -> Generator[AnswerEvent, None, bool]:  # fmt: skip
    """What the case has of a cause that is not the verdict's; whether the verdict has to be told beside it."""
    verdict = talk.case.verdict
    fitting = [other for other in verdict.alternatives if means(other.cause, classes)]
    for other in fitting:
        yield from _alternative(talk, other, result)
    if fitting:
        yield from talk.say("It is not ruled out, but the evidence for the verdict is stronger.", result)
        return False
    further = [one for one in talk.case.failures if means(one.verdict.cause, classes)]
    if further:
        yield from talk.say(f"There is such a failure besides: {sentence(further[0].verdict.statement)}", result)
        return False
    if borne_out(talk.case, said, classes):
        yield from talk.say(f"The verdict speaks of it: {sentence(verdict.statement)}", result)
        return False
    signs = yield from _signs(talk, said, classes, result)
    if signs:
        yield from talk.say(the_verdict(talk), result)
    return not signs


def _signs(talk: Talk, said: str, classes: tuple[str, ...], result: str) -> Generator[AnswerEvent, None, bool]:
    """Events of such a cause that the verdict does not rest on, or that there are none; whether one may be a cause."""
    library = talk.calls.desk.library
    kin = [(event, fault) for event in talk.case.events if (fault := library.get(event.fault or "")) is not None]
    kin = [(event, fault) for event, fault in kin if means(fault.cause, classes)]
    roots = [event for event, fault in kin if fault.role is FaultRole.ROOT]
    mentioned = not roots and (yield from _mentions(talk, said, classes))
    if not roots and not mentioned:
        told = (
            f"No cause of that kind ({said}) shows in the logs that were read."
            if kin
            else f"Nothing in the logs that were read points to that ({said})."
        )
        yield from talk.say(told, result)
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
    return bool(roots) or mentioned


def _mentions(talk: Talk, said: str, classes: tuple[str, ...]) -> Generator[AnswerEvent, None, bool]:
    """Lines that read like such a cause although no event was made of them; whether there are any."""
    wanted = list(_own_words(fault for fault in talk.calls.desk.library if means(fault.cause, classes)))
    if not wanted or len(wanted) > LOOKED_FOR:
        return False
    result = yield from talk.ask("grep_log", pattern="|".join(wanted), limit=3)
    if result.status is not ResultStatus.FOUND:
        return False
    yield from talk.say(f"No event of the case points to that ({said}), but lines of the logs read like it:", result.id)
    yield from talk.lines(result)
    yield from talk.say("Such lines may be harmless; whether these are is for you to judge.")
    return True


def _own_words(faults: Iterable[Fault]) -> Iterator[str]:
    """The expressions of faults that can be a cause, without names, so that they stand beside each other."""
    for fault in faults:
        if fault.role is FaultRole.ROOT:
            yield from (re.sub(r"\?P<\w+>", "?:", f"(?:{one.regex})") for one in fault.signatures if not one.requires)


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
            yield from unknown_rank(talk, rank, result.text)
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


def unknown_rank(talk: Talk, rank: int, why: str) -> Reply:
    """No line is a rank's: what can be said all the same."""
    if talk.case.status is Status.HEALTHY:
        overview = yield from talk.ask("overview")
        yield from talk.say("Nothing failed, so nobody is to blame.", overview.id)
    yield from talk.note(f"Nothing can be said of rank {rank} alone: {clean(why)}")


def node_state(talk: Talk, node: str, blamed: Collection[object]) -> Reply:
    """Whether a node is blamed, and its state."""
    result = yield from talk.ask("compare_nodes", node=node)
    found = next((report for report in talk.case.nodes if report.node == node), None)
    overview = yield from talk.ask("overview")
    if node in blamed:
        yield from talk.say(f"Node {clean(node)} is blamed.", overview.id, result.id)
        return
    state = f"; its state is {found.state.value}: {clean(found.why)}" if found else ""
    yield from talk.say(f"Node {clean(node)} is not blamed{state}.", result.id, overview.id)


def _all_alternatives(talk: Talk, result: str) -> Reply:
    yield from talk.say(the_verdict(talk), result)
    if talk.case.status is Status.HEALTHY:
        return
    yield from alternatives(talk, result)
    yield from missing_short(talk)


def alternatives(talk: Talk, result: str) -> Reply:
    """What else has evidence of its own."""
    if not talk.case.verdict.alternatives:
        yield from talk.say("No other explanation has evidence of its own in these logs.", result)
    for other in talk.case.verdict.alternatives:
        yield from _alternative(talk, other, result)
