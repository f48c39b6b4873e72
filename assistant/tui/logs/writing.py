"""How a source writes: the time of its lines on the common clock, and who wrote them. Knows no screen.

Found once from a few bytes of the source, as the scan of a job does it; another process can be told it as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assistant.events.layout import Layout
from assistant.events.pieces import uncoloured
from assistant.intake.envelopes import unwrap, unwrap_series
from assistant.intake.models import Dialect
from assistant.intake.numerals import whole
from assistant.intake.prefixes import Labels, join_keys, parse_key, read_labels, split_series
from assistant.intake.times import TimeReader

Writer = tuple[str | None, int | None]
"""Node and rank."""
Floats = NDArray[np.float64]
HEAD = 512
"""Bytes of a line that are looked at for its labels and its time; an envelope is read as a whole."""
WHOLE = 64 * 1024
FEW = 100
"""Lines up to which reading one by one is quicker than in bulk."""


@dataclass(frozen=True, slots=True)
class Writing:
    """One source's ways."""

    layout: Layout = field(default_factory=Layout)
    writers: Mapping[str, Writer] = field(default_factory=dict)
    """Who the keys of its lines are."""
    path: Writer = (None, None)
    """Whom its path names: the writer of lines whose key says nothing else."""
    ahead: float = 0.0
    """Seconds by which its clock runs ahead of the common one."""
    dated: bool = False
    """The diagnosis read times in it."""

    @property
    def timed(self) -> bool:
        """Whether the diagnosis, or a sample of its lines, found times."""
        if self.dated:
            return True
        return self.layout.envelope is not None or not any("no readable times" in n for n in self.layout.times.notes)

    @property
    def sole(self) -> Writer | None:
        """The one writer of all its lines; None where there are several."""
        labels = self.layout.labels
        if labels.dialects or (self.layout.envelope is not None and self.layout.envelope.format == "json"):
            every = set(self.writers.values())
            return every.pop() if len(every) == 1 else None
        return self.writer(labels.sole)

    def writer(self, key: str) -> Writer:
        """Whom a key names."""
        if (known := self.writers.get(key)) is not None:
            return known
        parts = parse_key(key)
        rank = whole(parts.get("rank"))
        return parts.get("node") or parts.get("pod") or self.path[0], self.path[1] if rank is None else rank

    def time(self, line: bytes) -> float | None:
        """The time that stands on a line, on the common clock: UTC epoch seconds."""
        text = self._text(line)
        moment = None
        if self.layout.envelope is not None:
            inner = unwrap(self.layout.envelope, text)
            text, moment = inner.message, inner.time
        if moment is None:
            labels = self.layout.labels.dialects
            moment = self.layout.times.parse(text[read_labels(text, labels).length :] if labels else text)
        return None if moment is None else moment - self.ahead

    def times(self, lines: Sequence[bytes]) -> Floats:
        """The times of many lines; NaN where none stands on the line."""
        if len(lines) <= FEW:
            found = [self.time(line) for line in lines]
            return np.array([np.nan if time is None else time for time in found], dtype=np.float64)
        return self.bulk_times(pl.Series([self._text(line) for line in lines], dtype=pl.String))

    def bulk_times(self, texts: pl.Series) -> Floats:
        """As `times`, of decoded lines."""
        known: Floats | None = None
        if self.layout.envelope is not None:
            inner = unwrap_series(self.layout.envelope, texts)
            texts, known = inner["message"], inner["time"].fill_null(float("nan")).to_numpy()
        if self.layout.labels.dialects:
            texts = split_series(self.layout.labels, texts)["message"]
        found = self.layout.times.parse_series(texts).fill_null(float("nan")).to_numpy()
        if known is not None:
            found = np.where(np.isnan(known), found, known)
        return found - self.ahead

    def wrote(self, lines: Sequence[bytes]) -> list[Writer]:
        """Who wrote each of some lines."""
        if (sole := self.sole) is not None:
            return [sole] * len(lines)
        if not lines:
            return []
        return [self.writer(key) for key in self.keys(pl.Series([self._text(one) for one in lines], dtype=pl.String))]

    def keys(self, texts: pl.Series) -> list[str]:
        """The writers' keys of decoded lines."""
        outer: list[str] | None = None
        if self.layout.envelope is not None:
            inner = unwrap_series(self.layout.envelope, texts)
            texts, outer = inner["message"], inner["key"].to_list()
        keys: list[str] = split_series(self.layout.labels, texts)["key"].to_list()
        return keys if outer is None else [join_keys(a, b) for a, b in zip(outer, keys, strict=True)]

    @property
    def looked_at(self) -> int:
        """Bytes of a line that must be at hand."""
        return HEAD if self.layout.envelope is None else WHOLE

    def _text(self, line: bytes) -> str:
        return uncoloured(line[: self.looked_at]).decode("utf-8", "replace")


def told(writing: Writing) -> str:
    """As JSON."""
    return json.dumps(asdict(writing), default=sorted)


def heard(text: str) -> Writing:
    """From JSON."""
    data: dict[str, Any] = json.loads(text)
    layout = data["layout"]
    labels, times = layout["labels"], layout["times"]
    return Writing(
        Layout(
            None if layout["envelope"] is None else _dialect(layout["envelope"]),
            Labels(**{**labels, "dialects": _dialects(labels), "merged": frozenset(labels["merged"])}),
            TimeReader(**{**times, "dialects": _dialects(times), "anchor": times["anchor"] and tuple(times["anchor"]),
                          "notes": tuple(times["notes"])}),
        ),
        {key: (node, rank) for key, (node, rank) in data["writers"].items()},
        (data["path"][0], data["path"][1]),
        data["ahead"],
        data["dated"],
    )  # fmt: skip


def _dialects(data: Mapping[str, Any]) -> tuple[Dialect, ...]:
    return tuple(map(_dialect, data["dialects"]))


def _dialect(data: Mapping[str, Any]) -> Dialect:
    fields = {name: tuple(paths) for name, paths in data["fields"].items()}
    return Dialect(**{**data, "fields": fields, "marks": (), "examples": (), "counter_examples": ()})
