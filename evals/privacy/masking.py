"""Masks secrets and ordinary lines, and counts what is left and what is touched."""

from __future__ import annotations

from collections.abc import Iterable

from assistant.privacy.redactor import Redactor
from assistant.privacy.rules import Kind, load_rules
from evals.privacy.data import Secret

COUNTED = frozenset({Kind.SECRET, Kind.EMAIL, Kind.USER})
"""Hosts and addresses are masked by choice, and not counted as touched."""
LEAK = 8
"""Letters of a secret in a row that count as a leak."""


def leaks(secrets: Iterable[Secret]) -> list[Secret]:
    """The secrets of which something is left, or that do not come back."""
    rules = load_rules()
    found = []
    for secret in secrets:
        redactor = Redactor(rules)
        masked = redactor.redact(secret.line)
        if redactor.restore(masked) != secret.line or any(_left(hidden, masked) for hidden in secret.hidden):
            found.append(secret)
    return found


def _left(hidden: str, masked: str) -> bool:
    pieces = [hidden[at : at + LEAK] for at in range(max(1, len(hidden) - LEAK + 1))]
    return any(piece in masked for piece in pieces)


def touched(lines: Iterable[str]) -> list[str]:
    """The lines that masking changes; raises AssertionError where one does not come back."""
    rules = load_rules()
    changed = []
    for line in lines:
        redactor = Redactor(rules, kinds=COUNTED)
        masked = redactor.redact(line)
        assert redactor.restore(masked) == line
        if redactor.pseudonyms.by_name and any(not name.startswith("LITERAL") for name in redactor.pseudonyms.by_name):
            changed.append(line)
    return changed
