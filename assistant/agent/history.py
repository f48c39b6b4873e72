"""Earlier turns as messages, the newest first to be kept, as many as a share of the window takes."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from assistant.agent.budget import CHARACTERS_PER_TOKEN
from assistant.agent.veil import Veil
from assistant.answers.models import Turn
from assistant.profiles import Profile

SHARE = 0.25
"""Of the window."""
LEFT_OUT = "(Earlier turns of this conversation are left out here.)"


def messages_of(history: tuple[Turn, ...], profile: Profile, veil: Veil, scale: float) -> list[AnyMessage]:
    """Questions and answers, masked like everything that is sent."""
    room = int(profile.context_window * SHARE * CHARACTERS_PER_TOKEN * (scale if scale == 1 else 0))
    kept: list[Turn] = []
    for turn in reversed(history):
        room -= len(turn.question.text) + len(turn.answer)
        if room < 0:
            break
        kept.append(turn)
    messages: list[AnyMessage] = []
    for turn in reversed(kept):
        messages += [HumanMessage(veil.out(turn.question.text)), AIMessage(veil.out(turn.answer) or "(no answer)")]
    return [HumanMessage(LEFT_OUT), AIMessage("Understood."), *messages] if len(kept) < len(history) else messages
