"""Export and import of a team's incidents as JSON lines, with secrets masked for good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from assistant.errors import StoreError
from assistant.incidents.models import Incident
from assistant.privacy.redactor import Redactor
from assistant.privacy.rules import Kind, load_rules

LONGEST = 4 << 20
"""Bytes of one line that is read."""
_PLAIN = frozenset({"id", "case", "cause", "stage", "action", "origin", "checked", "revision", "date", "confirmed_at"})
"""Fields with a vocabulary or form of their own: nothing private stands in them."""


def exported(incidents: Iterable[Incident], *, hosts: bool = False) -> Iterator[str]:
    """One JSON line an incident. Keys, tokens, passwords, cookies and e-mail addresses are masked.

    Args:
        hosts: mask host names, node names, user names and addresses as well; recurrence on a node is then lost.
    """
    kept = list(incidents)
    nodes = tuple(sorted({node for incident in kept for node in incident.nodes})) if hosts else ()
    kinds = frozenset(Kind) if hosts else frozenset({Kind.SECRET, Kind.EMAIL})
    redactor = Redactor(load_rules(), kinds, nodes)
    for incident in kept:
        yield Incident.model_validate(_masked(incident.model_dump(mode="json"), redactor)).model_dump_json()


def _masked(value: Any, redactor: Redactor, name: str = "") -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return value if name in _PLAIN else redactor.redact(value)
    if isinstance(value, dict):
        return {key: _masked(item, redactor, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, redactor, name) for item in value]
    return value


def imported(lines: Iterable[str], name: str) -> tuple[list[Incident], list[StoreError]]:
    """The incidents of an export, and one error for each line that is none. `name` is the file's, for errors."""
    kept: list[Incident] = []
    problems: list[StoreError] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            kept.append(Incident.model_validate_json(line[:LONGEST]))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "line"
            hint = "correct the line, or leave it out; the other lines are taken"
            problems.append(StoreError(f"{name}:{number}: {where}: {first['msg']}", hint=hint))
    return kept, problems
