"""What leaves for a model, and what comes back: masked on the way out, restored on the way in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from assistant.answers.entities import known_nodes
from assistant.case.models import Case
from assistant.case.text import clean
from assistant.privacy.pseudonyms import LOOK
from assistant.privacy.redactor import Redactor
from assistant.privacy.rules import Kind, load_rules
from assistant.profiles import Profile
from assistant.tools.finding import SHOWN, shortened
from assistant.tools.models import ToolResult


def redactor_for(case: Case, kinds: Iterable[str]) -> Redactor:
    """The redactor of one conversation. Secrets are masked whatever else is chosen."""
    hosts = {*known_nodes(case), *(node for event in case.events for node in event.nodes)}
    hosts |= {item.node for item in case.evidence if item.node}
    chosen = frozenset({Kind.SECRET, *map(Kind, kinds)})
    return Redactor(load_rules(), chosen, tuple(sorted(hosts)))


@dataclass(frozen=True, slots=True)
class Veil:
    """A redactor, or none where the endpoint may see everything."""

    redactor: Redactor | None

    def out(self, text: str) -> str:
        """Text as the model gets it."""
        return text if self.redactor is None else self.redactor.redact(text)

    def result(self, result: ToolResult) -> str:
        """A tool's text as the model gets it. A line that the tool has cut is masked whole before it is cut again:
        half a key would not be known as one."""
        if self.redactor is None:
            return result.text
        text, whole = result.text, {}
        for number, item in enumerate(result.evidence):
            if len(item.text) > SHOWN and (short := shortened(item.text)) in text:
                whole[f"\0{number}\0"] = item.text
                text = text.replace(short, f"\0{number}\0")
        masked = self.out(text)
        for mark, line in whole.items():
            masked = masked.replace(mark, _cut(self.out(clean(line))))
        return masked

    def back(self, text: str) -> str:
        """Text as a person gets it."""
        return text if self.redactor is None else self.redactor.restore(text)

    def restored(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Arguments of a tool call with real names in them."""
        if isinstance(value, str):
            return self.back(value)
        if isinstance(value, dict):
            return {self.back(str(key)): self.restored(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.restored(item) for item in value]
        return value


def _cut(masked: str) -> str:
    """The beginning of a masked line, never with half a pseudonym at its end."""
    end = SHOWN
    for found in LOOK.finditer(masked):
        if found.start() < end < found.end():
            end = found.end()
    return masked if len(masked) <= end else f"{masked[:end]}… ({len(masked) - end} more characters)"


def veil_for(profile: Profile, redactor: Redactor) -> Veil:
    """What stands between a profile's endpoint and the logs."""
    return Veil(redactor if profile.redact else None)
