"""What a turn, and all turns about a case, may use: tokens, time, money. Counted by the endpoint, else estimated."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from assistant.answers.models import Done, Usage
from assistant.answers.sessions import Answered, Session
from assistant.errors import BudgetSpent
from assistant.profiles import Chat, Profile

CHARACTERS_PER_TOKEN = 3.5
"""Where nobody counts; rather too few characters than too many."""
NEARLY = 0.8
"""Share of a budget after which the model is told to answer from what it has."""


def tokens_in(text: str) -> int:
    """Tokens of a text, roughly."""
    return int(len(text) / CHARACTERS_PER_TOKEN) + 1


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used before."""

    tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0


def spent_on(sessions: Iterable[Session], case: str) -> Spent:
    """What all sessions about a case have used."""
    tokens, seconds, cost = 0, 0.0, 0.0
    for session in sessions:
        if session.header.case != case:
            continue
        last: dict[int, Usage] = {}
        for line in session.lines:
            if isinstance(line, Answered) and isinstance(line.event, Usage):
                last[line.turn] = line.event
            if isinstance(line, Answered) and isinstance(line.event, Done) and line.event.answerer != "offline":
                seconds += line.event.seconds
        tokens += sum(usage.input_tokens + usage.output_tokens for usage in last.values())
        cost += sum(usage.cost or 0.0 for usage in last.values())
    return Spent(tokens, seconds, cost)


@dataclass(slots=True)
class Budget:
    """One turn's use, over what the case has used before."""

    chat: Chat
    profile: Profile
    before: Spent = field(default_factory=Spent)
    sent: int = 0
    received: int = 0
    last_sent: int = 0
    started: float = field(default_factory=time.monotonic)

    def add(self, sent: int, received: int) -> None:
        """One request."""
        self.sent += sent
        self.received += received
        self.last_sent = sent

    @property
    def cost(self) -> float | None:
        """What the turn has cost."""
        return self.profile.cost(self.sent, self.received)

    @property
    def seconds_left(self) -> float | None:
        """Until the turn must be over; None for no bound."""
        elapsed = time.monotonic() - self.started
        bounds = [self.chat.max_seconds - elapsed] if self.chat.max_seconds else []
        bounds += [self.chat.case_seconds - self.before.seconds - elapsed] if self.chat.case_seconds else []
        return max(0.0, min(bounds)) if bounds else None

    @property
    def share(self) -> float:
        """Used share of the tightest bound on tokens and money."""
        return max((used / bound for used, bound, _ in self._bounds()), default=0.0)

    def check(self) -> None:
        """Raises BudgetSpent, naming the bound that is reached."""
        for used, bound, name in self._bounds():
            if used >= bound:
                message = f"the bound chat.{name} = {bound:g} is reached ({used:.6g} used)"
                raise BudgetSpent(message, hint=f"raise chat.{name}, or go on without a model: --profile offline")

    def _bounds(self) -> list[tuple[float, float, str]]:
        tokens, cost = self.sent + self.received, self.cost or 0.0
        all_ = [
            (float(tokens), float(self.chat.max_tokens), "max_tokens"),
            (cost, self.chat.max_cost, "max_cost"),
            (float(self.before.tokens + tokens), float(self.chat.case_tokens), "case_tokens"),
            (self.before.cost + cost, self.chat.case_cost, "case_cost"),
        ]
        return [bound for bound in all_ if bound[1] > 0]
