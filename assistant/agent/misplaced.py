"""Tool calls and answers that a model writes as JSON into its text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from assistant.agent import hypotheses
from assistant.tools.registry import BY_NAME

_FENCE = re.compile(r"\A```(?:json|tool_call|tool_code)?\s*\n(.*?)\n?```\Z", re.DOTALL)
_MARKS = re.compile(r"</?\|?(?:tool_calls?|function_calls?|tool)\|?>|\[TOOL_CALLS\]", re.IGNORECASE)
LARGEST = 65_536


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, perhaps in a fence or in the marks of a tool call; None where it is prose."""
    bare = _MARKS.sub("", text[:LARGEST]).strip()
    fence = _FENCE.match(bare)
    found = _decoded(fence[1].strip() if fence else bare)
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    return found if isinstance(found, dict) else None


def _decoded(text: str) -> Any:  # noqa: ANN401 - any JSON value
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def calls_in(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The tool calls that a text consists of."""
    found = object_in(text)
    return list(_calls(found)) if found is not None else []


def _calls(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    inner = value.get("function") if isinstance(value.get("function"), dict) else value
    if not isinstance(inner, dict):
        return
    name = inner.get("name") or inner.get("tool") or inner.get("action")
    arguments = inner.get("arguments", inner.get("parameters", inner.get("args", {})))
    if isinstance(arguments, str):
        arguments = _decoded(arguments)
    if isinstance(name, str) and (name in BY_NAME or name == hypotheses.NAME):
        yield name, arguments if isinstance(arguments, dict) else {}
