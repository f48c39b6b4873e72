"""How well the sayings alone are understood: each is taken out, and read with what the others teach.

`near` is the plain form. `far` takes out with each saying all others that are worded much like it, which is nearer to
a question that nobody thought of. Ridge regression gives both without learning anew: from the inverse of the likenesses
follows what it would have said of a saying had it never seen it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assistant.answers.intents import Intents, Match, examples_of
from assistant.answers.likeness import RIDGE, Example, Numbers, alike, targets
from assistant.answers.meaning import natural, same, vectors_of
from evals.offline.shipping import model

ALIKE = 0.6
"""Likeness of two sayings from which one is not told from what the other taught."""


@dataclass(frozen=True, slots=True)
class Left:
    """A saying that was left out, and how it was read; the likeliest first."""

    example: Example
    ranked: tuple[Match, ...]

    @property
    def right(self) -> bool:
        """Whether its own intent came first."""
        return self.ranked[0].intent == self.example.intent


def left_out(intents: Intents, *, far: bool, extra: Numbers | None = None) -> list[Left]:
    """All sayings, each as it is read when it is unknown. `extra`: likenesses that are added to those of the words."""
    examples = examples_of(intents.file)
    names, wanted = targets(examples)
    near = alike(examples)
    groups = [[*np.flatnonzero(line >= ALIKE).tolist(), at] if far else [at] for at, line in enumerate(near)]
    told = near if extra is None else np.asarray((near + extra) / 2, np.float32)
    unseen = zip(examples, _unseen(told, wanted, groups), strict=True)
    return [Left(example, _ranked(names, line)) for example, line in unseen]


def _unseen(likeness: Numbers, wanted: Numbers, groups: Sequence[Sequence[int]]) -> Iterator[Numbers]:
    inverse = np.linalg.inv(likeness + RIDGE * np.eye(len(likeness)))
    weights = inverse @ wanted
    for at, group in enumerate(groups):
        out = sorted(set(group))
        error = np.linalg.solve(inverse[np.ix_(out, out)], weights[out])
        yield (wanted[out] - error)[out.index(at)]


def _ranked(names: Sequence[str], scores: Numbers) -> tuple[Match, ...]:
    order = sorted(range(len(names)), key=lambda at: (-scores[at], names[at]))
    return tuple(Match(names[at], float(scores[at])) for at in order)


def likenesses(intents: Intents) -> Numbers:
    """How much the sayings mean the same, by the packaged model."""
    vectors = vectors_of([natural(one.text) for one in examples_of(intents.file)], model())
    return same(vectors @ vectors.T)


def figures(left: Sequence[Left]) -> dict[str, int]:
    """The figures as they are kept."""
    inside = [one for one in left if one.example.intent]
    outside = [one for one in left if not one.example.intent]
    return {
        "right": sum(one.right for one in inside),
        "first_three": sum(one.example.intent in [match.intent for match in one.ranked[:3]] for one in inside),
        "sayings": len(inside),
        "outside_known": sum(one.right for one in outside),
        "outside": len(outside),
    }


def told(left: Sequence[Left]) -> Iterator[str]:
    """The figures as lines."""
    made = figures(left)
    sayings, outside = made["sayings"], made["outside"]
    among = made["first_three"] / sayings
    yield f"{made['right']} of {sayings} ({made['right'] / sayings:.1%}), among the first three {among:.1%}"
    yield f"of {outside} about something else {made['outside_known']} are known as such"
