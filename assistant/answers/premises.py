"""What a question takes for granted and the case does not bear out: ranks and nodes that are none, another cause."""

from __future__ import annotations

from collections.abc import Collection

from assistant.answers.language import BLAME
from assistant.answers.replies_doubts import borne_out, node_state, other_causes
from assistant.answers.talk import Reply, Talk
from assistant.case.text import clean, ranges
from assistant.case.vocabulary import Status
from assistant.tools.models import ResultStatus

_NAMES_PLACES = frozenset({"place", "why_not", "compare"})
"""Intents whose replies say themselves what is known of a place."""
_PRESUMES = frozenset({"what_failed", "who", "why", "sure", "place", "timeline", "ticket", "lost", "fix"})
"""Intents that take a cause that is named with them for granted."""


def denied(talk: Talk, intents: Collection[str]) -> Reply:
    """Says what is not so, before the answer.

    Args:
        talk: what it names is what the whole question names.
        intents: those of its parts.
    """
    if not _NAMES_PLACES & set(intents):
        yield from _no_places(talk)
        yield from _not_blamed(talk)
    if set(intents) <= _PRESUMES and intents and talk.case.status is not Status.HEALTHY:
        yield from _no_cause(talk)


def _no_places(talk: Talk) -> Reply:
    yield from _no_ranks(talk)
    for stranger in talk.named.strangers[:2]:
        yield from talk.note(f"The logs name no node `{clean(stranger)}`.")


def _not_blamed(talk: Talk) -> Reply:
    """A place that the question takes for guilty and the case does not."""
    if not BLAME.search(talk.question.text[:2000]):
        return
    blamed = {one.rank for one in talk.case.suspects} | {one.node for one in talk.case.suspects}
    for rank in [rank for rank in talk.named.ranks[:2] if rank not in blamed]:
        status = yield from talk.ask("rank_status", rank=rank)
        if status.status is ResultStatus.FOUND:
            yield from talk.say(f"Rank {rank} is not blamed.", status.id)
    for node in [node for node in talk.named.nodes[:2] if node not in blamed]:
        yield from node_state(talk, node, blamed)


def _no_ranks(talk: Talk) -> Reply:
    known = {rank for node in talk.case.nodes for rank in node.ranks}
    known |= {one.rank for one in talk.case.candidates if one.rank is not None}
    known |= set(range(talk.case.job.world_size or 0))
    strange = [rank for rank in talk.named.ranks[:3] if known and rank not in known]
    for rank in strange:
        yield from talk.note(f"There is no rank {rank} in these logs; they know {_ranks(known)}.")


def _ranks(known: set[int]) -> str:
    return f"rank {min(known)}" if len(known) == 1 else f"ranks {ranges(known)}"


def _no_cause(talk: Talk) -> Reply:
    for said, classes in talk.named.causes[:1]:
        if not borne_out(talk.case, said, classes):
            overview = yield from talk.ask("overview")
            yield from other_causes(talk, [(said, classes)], overview.id)
