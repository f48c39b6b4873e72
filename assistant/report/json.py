"""A Case as the JSON that `--json` prints; its schema is `docs/schema/case-1.json`."""

from __future__ import annotations

import re

import orjson

from assistant.case.models import Case

_ACTS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What JSON may hold as it is and a terminal or a page would act on."""

_LAYOUT = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def render(case: Case) -> bytes:
    """One indented object with a final newline. The same case gives the same bytes."""
    return dumps(case.model_dump(mode="json"))


def dumps(value: object) -> bytes:
    """Any value as indented JSON that is safe to show: what would act is escaped, and reads back as it was."""
    try:
        text = orjson.dumps(value, default=str, option=_LAYOUT).decode()
    except TypeError:
        text = orjson.dumps(_spelled(value), default=str, option=_LAYOUT).decode()
    return _ACTS.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode()


def line(value: object) -> str:
    """The same on one line."""
    try:
        text = orjson.dumps(value, default=str).decode()
    except TypeError:
        text = orjson.dumps(_spelled(value), default=str).decode()
    return _ACTS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _spelled(value: object) -> object:
    """`value` without what JSON cannot hold: bytes of file names that are no Unicode, numbers beyond 64 bits."""
    if isinstance(value, dict):
        return {key: _spelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(item) for item in value]
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return str(value) if isinstance(value, int) and abs(value) >= 1 << 63 else value
