"""Calls of tools within one conversation: numbered, checked, bounded, never twice the same, within a budget."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import ValidationError

from assistant.case.models import Evidence
from assistant.case.text import clean
from assistant.errors import RootrankError
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool
from assistant.tools.models import Arguments, ResultStatus, ToolResult
from assistant.tools.registry import BY_NAME
from assistant.tools.spills import SHOWN_CHARACTERS, preview

KEPT_ROWS = 20_000
"""Rows of a large result that are kept to be read on."""


@dataclass(slots=True)
class Calls:
    """The calls of one conversation. `begin_turn` starts a new budget; ids count on."""

    desk: Desk
    characters: int = SHOWN_CHARACTERS
    """Characters of a result that are shown at once."""
    per_turn: int = 24
    """Calls that one turn may make."""
    results: dict[str, ToolResult] = field(default_factory=dict)
    """All results by id."""
    _asked: dict[bytes, str] = field(default_factory=dict)
    _made: int = 0

    def begin_turn(self) -> None:
        """A new question: the budget is fresh, and what was asked before may be asked again."""
        self._made = 0
        self._asked.clear()

    @property
    def next_id(self) -> str:
        """The id that the next call will have."""
        return f"T{len(self.results) + 1}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Asks a tool. Raises nothing: an unknown tool, wrong arguments and failures are results."""
        started = time.monotonic()
        finding = self._refused(name, arguments) or self._found(name, arguments)
        result = self._numbered(name, dict(arguments), finding, time.monotonic() - started)
        self.results[result.id] = result
        self.desk.shown.add(result.evidence)
        return result

    def _refused(self, name: str, arguments: Mapping[str, Any]) -> Finding | None:
        self._made += 1
        if self._made > self.per_turn:
            return _refusal(f"{self.per_turn} calls are made; answer now from what you have, and say what is missing.")
        key = orjson.dumps([name, dict(arguments)], option=orjson.OPT_SORT_KEYS, default=str)
        earlier = self._asked.setdefault(key, self.next_id)
        if earlier != self.next_id:
            return _refusal(f"{earlier} is the answer to this very call. Ask something else, or answer.")
        return None

    def _found(self, name: str, arguments: Mapping[str, Any]) -> Finding:
        tool = BY_NAME.get(name)
        if tool is None:
            return _error(f"There is no tool {clean(name)!r}. Tools: {', '.join(BY_NAME)}.")
        try:
            return tool.ask(self.desk, _checked(tool, arguments))
        except ValidationError as error:
            return _error(f"Wrong arguments for {name}: {_problems(error)}.")
        except RootrankError as error:
            return _error(f"{clean(error.message)}: {clean(error.hint)}.")
        except OSError as error:
            return _error(f"The logs cannot be read: {clean(error.strerror or str(error))}.")
        except Exception as error:  # a fault of ours must not end an answer half-way
            return _error(f"The tool {name} failed: {type(error).__name__}. Ask something else.")

    def _numbered(self, name: str, arguments: dict[str, Any], finding: Finding, seconds: float) -> ToolResult:
        number = self.next_id
        shown = preview(finding.lines, self.characters)
        text = "\n".join(finding.lines[:shown])[: 2 * self.characters]
        rest = len(finding.lines) - shown
        if rest:
            self.desk.spilled[number] = finding.lines[:KEPT_ROWS]
            text += f"\n({rest} more rows: read_more with result {number} from row {shown + 1})"
        return ToolResult(
            id=number,
            tool=name,
            arguments=arguments,
            status=finding.status,
            text=text,
            evidence=tuple(item for item in finding.evidence if _stands_in(text, item)),
            omitted=finding.omitted + rest,
            spilled=number if rest else None,
            seconds=round(seconds, 3),
        )


def _stands_in(text: str, item: Evidence) -> bool:
    """Whether a line is among those that are shown, and not only among those that were found."""
    return f"{clean(item.source)}:{item.line} " in text or f"[{item.id}] " in text


def _checked(tool: Tool, arguments: Mapping[str, Any]) -> Arguments:
    return tool.arguments.model_validate(dict(arguments))


def _problems(error: ValidationError) -> str:
    found = [f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in error.errors()[:4]]
    return clean("; ".join(found))


def _refusal(text: str) -> Finding:
    return Finding((text,), status=ResultStatus.REFUSED)


def _error(text: str) -> Finding:
    return Finding((text,), status=ResultStatus.ERROR)
