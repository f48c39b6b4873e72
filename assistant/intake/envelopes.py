"""Takes log messages out of what collectors wrap around them: one JSON object or one CRI line each.

A line that does not fit its source's envelope, or whose message part is not text, is its own message: nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import polars as pl

from assistant.intake.dialects import compiled
from assistant.intake.models import Dialect
from assistant.intake.times import read_moment

LONGEST = 1 << 20
"""Longer lines (in characters) are not taken apart."""
FEWEST = 3
SHARE = 0.1
"""Lines, and share of the lines, that wear an envelope where a source has one."""
KEY_FIELDS = (("node", "node"), ("pod", "pod"), ("rank", "rank"), ("local_rank", "local"))
"""Fields that form the writer's key, and how the key spells them."""
LONGEST_NAME = 253
"""Characters of a node or pod name that are kept: as many as a host name may have."""
MOST_VALUES, LONGEST_VALUE = 20, 200
"""Fields beside the message that are kept, and characters of each name and value."""
_UNSAFE = re.compile(r"[;=\s]")
SCHEMA = {"message": pl.String, "time": pl.Float64, "key": pl.String, "partial": pl.Boolean}


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What was inside one line."""

    message: str
    time: float | None = None
    """UTC epoch seconds."""
    fields: dict[str, str] = field(default_factory=dict)
    """`node`, `pod`, `rank`, `local_rank`, `level` where the envelope names them."""
    partial: bool = False
    """The message goes on in the next line of the same stream."""

    @property
    def key(self) -> str:
        """The writer's key, spelled as in `prefixes`."""
        named = [(part, _UNSAFE.sub("_", self.fields[name])) for name, part in KEY_FIELDS if self.fields.get(name)]
        return ";".join(f"{part}={value[:LONGEST_NAME]}" for part, value in named)


def _look_up(entry: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 - JSON holds anything
    """The value at a dotted path; a key that itself holds the dots is found too."""
    if path in entry:
        return entry[path]
    head, dot, rest = path.partition(".")
    inner = entry.get(head)
    return _look_up(inner, rest) if dot and isinstance(inner, dict) else None


def _first(entry: Mapping[str, Any], paths: Sequence[str]) -> Any:  # noqa: ANN401 - JSON holds anything
    return next((value for path in paths if (value := _look_up(entry, path)) is not None), None)


def _object(line: str) -> dict[str, Any] | None:
    text = line.strip()
    if not text.startswith("{") or len(text) > LONGEST:
        return None
    try:
        entry = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return entry if isinstance(entry, dict) else None


def _has_required(dialect: Dialect, entry: Mapping[str, Any]) -> bool:
    """`a|b` among the required names asks for one of the two."""
    return all(any(name in entry for name in names.split("|")) for names in dialect.fields.get("required", ()))


def _fits(dialect: Dialect, line: str) -> bool:
    if dialect.format == "text":
        return compiled(dialect.pattern or "").match(line[:LONGEST]) is not None
    entry = _object(line)
    return entry is not None and _has_required(dialect, entry)


def sniff_envelope(sample: Sequence[str], dialects: Sequence[Dialect]) -> Dialect | None:
    """The envelope that lines of a sample wear: more than a stray few, since raw tracebacks may stand between them."""
    lines = [line for line in sample if line.strip()]
    for dialect in dialects:
        fitting = sum(_fits(dialect, line) for line in lines)
        if fitting * 2 >= len(lines) > 0 or fitting >= max(FEWEST, SHARE * len(lines)):
            return dialect
    return None


def unwrap(dialect: Dialect, line: str) -> Unwrapped:
    """The message inside one line, with its time and the names that the envelope gives."""
    return _unwrap_text(dialect, line) if dialect.format == "text" else _unwrap_json(dialect, line)


def _unwrap_text(dialect: Dialect, line: str) -> Unwrapped:
    match = compiled(dialect.pattern or "").match(line) if len(line) <= LONGEST else None
    if match is None:
        return Unwrapped(line)
    groups = match.groupdict()
    return Unwrapped(
        (groups.get("head") or "") + groups["message"],
        read_moment(groups["time"]),
        partial=groups.get("partial") == "P",
    )


def _unwrap_json(dialect: Dialect, line: str) -> Unwrapped:
    entry = _object(line)
    if entry is None:
        return Unwrapped(line)
    message = _first(entry, dialect.fields.get("message", ()))
    found = {name: _first(entry, paths) for name, paths in dialect.fields.items()}
    named = {n: str(v) for n, v in found.items() if n not in _STRUCTURAL and isinstance(v, str | int)}
    text = message.rstrip("\r\n") + _values(dialect, entry) if isinstance(message, str) else line
    cut_short = dialect.id == "docker-json" and isinstance(message, str) and not message.endswith("\n")
    return Unwrapped(text, read_moment(found.get("time")), named, cut_short)


_STRUCTURAL = frozenset({"required", "message", "time", "ignored"})


def _values(dialect: Dialect, entry: Mapping[str, Any]) -> str:
    """The fields beside the message, as ` name=value`: progress and measures often stand in them alone."""
    if "ignored" not in dialect.fields:
        return ""
    taken = {path for paths in dialect.fields.values() for path in paths}
    pairs = [
        (name, value) for name, value in entry.items() if name not in taken and isinstance(value, str | int | float)
    ]
    return "".join(f" {_in_one_line(name)}={_in_one_line(str(value))}" for name, value in pairs[:MOST_VALUES])


def _in_one_line(text: str) -> str:
    """A short text whose breaks cannot pass for the beginning of another line."""
    cut = text[:LONGEST_VALUE]
    return cut if cut.isprintable() else " ".join(cut.split())


def unwrap_series(dialect: Dialect, lines: pl.Series) -> pl.DataFrame:
    """Columns `message`, `time` (UTC epoch seconds), `key` and `partial`, one row a line."""
    if dialect.format == "text":
        return _unwrap_texts(dialect, lines)
    found = [unwrap(dialect, line) for line in lines.to_list()]
    columns = {
        "message": [each.message for each in found],
        "time": [each.time for each in found],
        "key": [each.key for each in found],
        "partial": [each.partial for each in found],
    }
    return pl.DataFrame(columns, schema=SCHEMA)


def _unwrap_texts(dialect: Dialect, lines: pl.Series) -> pl.DataFrame:
    """As `unwrap` on each line of a text envelope, in bulk."""
    parts = lines.str.extract_groups(dialect.pattern or "").struct.unnest()
    parts = parts.with_columns(pl.lit(None, pl.String).alias(n) for n in ("head", "partial") if n not in parts.columns)
    moment = pl.col("time").str.replace("Z$", "+00:00").str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", strict=False)
    return parts.with_columns(line=lines).select(
        message=pl.coalesce(pl.col("head").fill_null("") + pl.col("message"), pl.col("line")),
        time=moment.dt.epoch("us") / 1e6,
        key=pl.lit(""),
        partial=(pl.col("partial") == "P").fill_null(value=False),
    )
