"""The instructions that every conversation begins with."""

from __future__ import annotations

from assistant.agent.conversation import Conversation
from assistant.answers.models import Question


def system_prompt(talk: Conversation, question: Question, *, tools: bool, brief: bool = False) -> str:
    """What the model is told about its task. Nothing of the case stands in it. `brief`: for a small window."""
    language = question.language or talk.chat.language
    told = f"Answer in the language with the tag {language}." if language else "Answer in the language of the question."
    style = talk.prompts.filled("newcomer") if question.newcomer else ""
    system = talk.prompts.filled(
        "brief" if brief else "system", tag=talk.envelope.tag, language=told, style=style
    ).strip()
    return f"{system}\n\n{talk.prompts.filled('tools')}" if tools else system
