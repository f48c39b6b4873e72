"""Whether an answer is still worth waiting for: it may neither go round in circles nor rest on nothing.

Small models do both, for minutes. What they have said stays on screen, marked; somebody else answers the question.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from assistant.answers.grounding import declares
from assistant.answers.models import Standing
from assistant.errors import AnswerRepeats, AnswerUnfounded, ModelError

MOST_SAME = 4
"""The same sentence so often ends the answer."""
MOST_UNFOUNDED = 5
"""So many marked sentences, with none before them that holds, end it too."""
SHORTEST = 12
"""Characters of a sentence whose repetition counts; a table's or list's word may well come again."""
TAIL = 1_500
"""Characters without an end of sentence in which circles are looked for."""
ROUNDS, LONGEST_ROUND = 10, 100
"""How often the same characters come one after another in a circle, and how many they are at the most."""
HINT = "take a larger model, or none: --profile offline"


@dataclass(slots=True)
class Soundness:
    """What has been said in one answer, as far as it tells that."""

    asked: str = ""
    """What the model was told, in plain words: giving it back is no answer."""
    general: bool = False
    """Whether the question is about a word or a thing, and not about the job."""
    _echoes: int = 0
    _loose: int = 0
    _said: Counter[str] = field(default_factory=Counter)
    _standing: dict[int, Standing] = field(default_factory=dict)
    _over: bool = False

    def add(self, number: int, text: str, standing: Standing) -> None:
        """A piece that was shown. Raises AnswerRepeats, AnswerUnfounded."""
        self._standing[number] = standing
        same = plain(text)
        self._said[same] += len(same) >= SHORTEST
        self._loose += standing is Standing.PLAIN and declares(text)
        self._echoes += standing is Standing.PLAIN and same in self.asked
        if self._said[same] >= MOST_SAME:
            self._end(AnswerRepeats("the model says the same again and again", hint=HINT))
        if not self._founded and self._marked >= MOST_UNFOUNDED:
            self._end(_unfounded())

    def put(self, number: int, standing: Standing) -> None:
        """How another one stands that was put in its place."""
        self._standing[number] = standing

    def look(self, growing: str) -> None:
        """A sentence that has not ended yet. Raises AnswerRepeats."""
        if len(growing) >= TAIL and _goes_round(growing[-TAIL:]):
            self._end(AnswerRepeats("the model says the same words again and again", hint=HINT))

    def insist(self) -> None:
        """The answer is over. Raises AnswerUnfounded where nothing that it states about the job rests on evidence."""
        repeats = self._echoes > 0 and self._echoes == len(self._standing)
        adrift = self._loose > 0 and not self.general
        if (self._marked or repeats or adrift) and not self._founded:
            self._end(_unfounded())

    def _end(self, failure: ModelError) -> None:
        """Raised once: what was on its way then is still shown."""
        if not self._over:
            self._over = True
            raise failure

    @property
    def _marked(self) -> int:
        return sum(one is Standing.UNSUPPORTED for one in self._standing.values())

    @property
    def _founded(self) -> bool:
        return Standing.SUPPORTED in self._standing.values()


def _goes_round(text: str) -> bool:
    """Whether a text ends with the same few characters again and again."""
    return any(text.endswith(text[-size:] * ROUNDS) for size in range(1, LONGEST_ROUND + 1))


def plain(text: str) -> str:
    """Words alone, in lower case."""
    return " ".join(re.sub(r"\W+", " ", text.lower()).split())


def _unfounded() -> AnswerUnfounded:
    return AnswerUnfounded("no sentence of the model's answer rests on evidence", hint=HINT)
