"""Whether a question is understood for sure, only guessed at, or about something else."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from assistant.answers.intents import Match

# Both lines were fitted by logistic regression to the sayings, each read while it and those worded like it were left
# out (`python -m evals.offline leave` shows what they come to); rounded, as more digits would tell nothing.
_SURE = (2.5, 4.5, -4.3)
_SURE_FROM = 2.2
_INSIDE = (5.0, -10.0, -0.4, 4.5)
_INSIDE_FROM = -1.9


class Grip(StrEnum):
    """How well a question is understood."""

    SURE = "sure"
    GUESSED = "guessed"
    """It is answered, and the answer names the question that it was taken for."""
    BEYOND = "beyond"


def grip(ranked: Sequence[Match], words: int, strange: int, familiar: float) -> Grip:
    """How well a question is understood.

    Args:
        ranked: all intents, the likeliest first; "" stands for something else.
        words: how many words it has.
        strange: how many of its words no saying holds.
        familiar: 1 where it names a thing of the case, or a code; less for a mere word of the field.
    """
    inside = [match.likeness for match in ranked if match.intent]
    if not inside or (strange >= words and not familiar):
        return Grip.BEYOND
    first, second = inside[0], inside[1] if len(inside) > 1 else 0.0
    outside = next((match.likeness for match in ranked if not match.intent), 0.0)
    if _weighed(_INSIDE, first, outside, strange, familiar) < _INSIDE_FROM:
        return Grip.BEYOND
    return Grip.SURE if _weighed(_SURE, first, first - second, outside) >= _SURE_FROM else Grip.GUESSED


def _weighed(weights: Sequence[float], *values: float) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True))
