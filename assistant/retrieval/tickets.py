"""Ticket exports as pages: Jira's search result, GitHub's issues, each as JSON or JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

MOST = 20_000
"""Tickets of one export."""
COMMENTS = 100
"""Comments of one ticket."""
DEPTH = 40
"""Nesting of Jira's rich text that is followed."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket as it was exported."""

    key: str
    title: str
    text: str
    """Markdown."""
    address: str = ""
    day: str = ""


def tickets_in(data: bytes) -> list[Ticket]:
    """The tickets of an export. ValueError where it is none."""
    found = [ticket for item in _items(data) if (ticket := _ticket(item))]
    if not found:
        raise ValueError("no tickets of Jira or GitHub in it")
    return found[:MOST]


def _items(data: bytes) -> Iterator[Any]:
    try:
        loaded = orjson.loads(data)
    except orjson.JSONDecodeError:
        yield from (orjson.loads(line) for line in data.splitlines() if line.strip())
        return
    if isinstance(loaded, dict):
        loaded = next((loaded[key] for key in ("issues", "items") if isinstance(loaded.get(key), list)), [loaded])
    yield from loaded if isinstance(loaded, list) else ()


def _ticket(item: Any) -> Ticket | None:  # noqa: ANN401 - any JSON
    if not isinstance(item, dict):
        return None
    fields = item.get("fields")
    if isinstance(fields, dict) and isinstance(item.get("key"), str):
        return _jira(item, fields)
    if isinstance(item.get("title"), str) and ("number" in item or "body" in item):
        return _github(item)
    return None


def _jira(item: dict[str, Any], fields: dict[str, Any]) -> Ticket:
    holder = fields.get("comment")
    comments = holder.get("comments") if isinstance(holder, dict) else holder
    resolution = fields.get("resolution")
    ended = resolution.get("name") if isinstance(resolution, dict) else resolution
    parts = [_words(fields.get("description")), *_comments(comments)]
    if isinstance(ended, str) and ended:
        parts.append(f"## Resolution\n\n{ended}")
    title = str(fields.get("summary") or item["key"])
    return Ticket(item["key"], title, "\n\n".join(filter(None, parts)), _link(item, "self"), _day(fields, "created"))


def _github(item: dict[str, Any]) -> Ticket:
    number = item.get("number")
    parts = [_words(item.get("body")), *_comments(item.get("comments"))]
    address = _link(item, "html_url") or _link(item, "url")
    # Numbers are unique within a repository only, which the address names.
    place = "-".join(address.split("/")[3:5]) if address.count("/") > 5 else ""
    key = "-".join(filter(None, ("issue", place, str(number or ""))))
    return Ticket(key, item["title"], "\n\n".join(filter(None, parts)), address, _day(item, "created_at", "createdAt"))


def _comments(value: Any) -> list[str]:  # noqa: ANN401
    bodies = [_words(one.get("body")) for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return [f"## Comment\n\n{body}" for body in bodies[:COMMENTS] if body]


def _words(value: Any, depth: int = 0) -> str:  # noqa: ANN401
    """Text, or the text within Jira's rich-text tree."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").strip()
    if depth > DEPTH or not isinstance(value, dict):
        return ""
    if isinstance(value.get("text"), str):
        return str(value["text"])
    content = value.get("content")
    inner = [_words(one, depth + 1) for one in content] if isinstance(content, list) else []
    return ("" if value.get("type") in ("paragraph", "heading", "codeBlock") else "\n").join(inner).strip("\n")


def _link(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _day(fields: dict[str, Any], *names: str) -> str:
    return next((str(fields[name])[:10] for name in names if isinstance(fields.get(name), str)), "")
