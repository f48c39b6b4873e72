"""What a guessed question was taken for, with what it names in it: `Was it rank 3?`, not an example of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assistant.answers.entities import Entities
from assistant.case.text import clean

LONGEST = 80
"""Letters of a name that are told."""


def retold(intent: str, named: Entities) -> str:
    """The question as it was understood; "" where it names nothing that its intent asks about."""
    asks, kinds = _ASKS.get(intent, ("", ()))
    names = [name for kind in kinds for name in kind(named)][:2]
    return asks.format(" and ".join(clean(name)[:LONGEST] for name in names)) if names else ""


def _places(named: Entities) -> list[str]:
    return [*(f"rank {rank}" for rank in named.ranks), *named.nodes, *named.strangers]


def _causes(named: Entities) -> list[str]:
    return [f"a matter of {said}" for said, _ in named.causes]


def _texts(named: Entities) -> list[str]:
    return [*named.quotes, *named.codes]


def _words(named: Entities) -> list[str]:
    return list(named.words[-1:])


_ASKS: Mapping[str, tuple[str, tuple[Callable[[Entities], list[str]], ...]]] = {
    "why_not": ("Was it {}?", (_causes, _places)),
    "place": ("How did {} do?", (_places,)),
    "compare": ("How does {} differ from the others?", (_places,)),
    "find": ("Do the logs hold {}?", (_texts,)),
    "meaning": ("What does {} mean?", (_texts, _words)),
    "word": ("What is a {}?", (_words,)),
    "drain": ("Do I have to take out {}?", (lambda named: list(named.nodes),)),
}
"""By intent: the question, and what of the names stands in it."""
