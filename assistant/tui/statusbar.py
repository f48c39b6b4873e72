"""The last line: who answers, what it has used, and where it is kept."""

from __future__ import annotations

from textual.content import Content

from assistant.case.text import plural
from assistant.tui.safe import Literal, literal, plain
from assistant.tui.talk.conversation import Conversation


class StatusBar(Literal):
    """One line that is drawn anew when something changes."""

    def __init__(self) -> None:
        super().__init__(id="status")

    def show_state(self, talk: Conversation) -> None:
        """Takes it from the conversation."""
        self.show(Content(" · ").join(_parts(talk)))


def _parts(talk: Conversation) -> list[Content]:
    dialogue, usage = talk.dialogue, talk.usage
    parts = [literal(dialogue.answerer.name, "bold") if dialogue else Content("getting ready")]
    if talk.busy:
        parts = [Content.styled("answering, escape stops", "$text-warning"), *parts]
    if usage is not None:
        parts += [Content(text) for text in _used(usage.input_tokens, usage.output_tokens, usage.cost,
                                                    usage.context_share, usage.calls)]  # fmt: skip
    if dialogue is None:
        return parts
    if dialogue.unsaved:
        return [*parts, Content.styled(f"NOT SAVED: {plain(dialogue.unsaved, 120)}", "bold $text-error")]
    return [*parts, literal(dialogue.session)] if dialogue.session else parts


def _used(sent: int, received: int, cost: float | None, share: float | None, calls: int) -> list[str]:
    found = [f"{sent + received:,} tokens"] if sent or received else []
    found += [f"cost {cost:.4f}"] if cost is not None else []
    found += [f"context {share:.0%}"] if share is not None else []
    return [*found, plural(calls, "call")] if calls else found
