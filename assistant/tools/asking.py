"""One call of a tool: its name and arguments checked, its failures told, its finding made a bounded result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from assistant.case.models import Evidence
from assistant.case.text import clean
from assistant.errors import RootrankError
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool
from assistant.tools.models import Arguments, ResultStatus, ToolResult
from assistant.tools.registry import BY_NAME
from assistant.tools.spills import preview

KEPT_ROWS = 20_000
"""Rows of a large result that are kept to be read on."""


def asked(desk: Desk, name: str, arguments: Mapping[str, Any]) -> Finding:
    """What a tool finds. Raises nothing: an unknown tool, wrong arguments and failures are findings."""
    tool = BY_NAME.get(name)
    if tool is None:
        return _error(f"There is no tool {clean(name)!r}. Tools: {', '.join(BY_NAME)}.")
    try:
        return tool.ask(desk, _checked(tool, arguments))
    except ValidationError as error:
        return _error(f"Wrong arguments for {name}: {_problems(error)}.")
    except RootrankError as error:
        return _error(f"{clean(error.message)}: {clean(error.hint)}.")
    except OSError as error:
        return _error(f"The logs cannot be read: {clean(error.strerror or str(error))}.")
    except Exception as error:  # a fault of ours must not end an answer half-way
        return _error(f"The tool {name} failed: {type(error).__name__}. Ask something else.")


def result_of(
    id: str, name: str, arguments: Mapping[str, Any], finding: Finding, characters: int, seconds: float
) -> tuple[ToolResult, tuple[str, ...]]:
    """The result, and all its rows where it is too large to show at once.

    Args:
        id: the result's number, `T7`.
        name: of the tool.
        arguments: as they were given.
        finding: what it found.
        characters: that are shown at once.
        seconds: that it took.
    """
    shown = preview(finding.lines, characters)
    text = "\n".join(finding.lines[:shown])[: 2 * characters]
    rest = len(finding.lines) - shown
    if rest:
        text += f"\n({rest} more rows: read_more with result {id} from row {shown + 1})"
    result = ToolResult(
        id=id,
        tool=name,
        arguments=dict(arguments),
        status=finding.status,
        text=text,
        evidence=tuple(item for item in finding.evidence if _stands_in(text, item)),
        omitted=finding.omitted + rest,
        spilled=id if rest else None,
        seconds=round(seconds, 3),
    )
    return result, finding.lines[:KEPT_ROWS] if rest else ()


def _stands_in(text: str, item: Evidence) -> bool:
    """Whether a line is among those that are shown, and not only among those that were found."""
    return f"{clean(item.source)}:{item.line} " in text or f"[{item.id}] " in text


def _checked(tool: Tool, arguments: Mapping[str, Any]) -> Arguments:
    return tool.arguments.model_validate(dict(arguments))


def _problems(error: ValidationError) -> str:
    found = [f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in error.errors()[:4]]
    return clean("; ".join(found))


def refusal(text: str) -> Finding:
    """A call that is not made, and what to do instead."""
    return Finding((text,), status=ResultStatus.REFUSED)


def _error(text: str) -> Finding:
    return Finding((text,), status=ResultStatus.ERROR)
