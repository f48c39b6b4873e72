"""One conversation about a case, whoever answers: tools, masks, prompts, bounds, hypotheses."""

from __future__ import annotations

from dataclasses import dataclass, field

from assistant.agent.budget import Spent
from assistant.agent.envelope import Envelope
from assistant.agent.prompts import Prompts
from assistant.answers.models import Hypothesis
from assistant.privacy.redactor import Redactor
from assistant.profiles import Chat
from assistant.tools.calls import Calls


@dataclass(slots=True)
class Conversation:
    """What all profiles of a chain share."""

    calls: Calls
    redactor: Redactor
    prompts: Prompts
    chat: Chat
    envelope: Envelope = field(default_factory=Envelope)
    before: Spent = field(default_factory=Spent)
    """What earlier turns about the case have used."""
    hypotheses: dict[str, Hypothesis] = field(default_factory=dict)
