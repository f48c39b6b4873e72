"""Made-up scans with a known truth, for measuring and testing the patterns without any log file."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from assistant.events.models import Indicator, Record, Scan, Template
from assistant.intake.models import Source, Stream, WriterKind

COUNTS: dict[str, Any] = {
    "template": pl.Int32,
    "stream": pl.Int32,
    "count": pl.Int64,
    "iterations": pl.Int32,
    "first_source": pl.Int32,
    "first_line": pl.Int64,
    "first_offset": pl.Int64,
    "last_source": pl.Int32,
    "last_line": pl.Int64,
    "last_offset": pl.Int64,
    "first_iteration": pl.Int64,
    "last_iteration": pl.Int64,
}
MARKS: dict[str, Any] = {
    "stream": pl.Int32,
    "source": pl.Int32,
    "line": pl.Int64,
    "offset": pl.Int64,
    "order": pl.Int64,
    "kind": pl.String,
    "dialect": pl.String,
    "stage": pl.String,
    "iteration": pl.Int64,
    "total": pl.Int64,
    "seconds": pl.Float64,
    "loss": pl.Float64,
    "time": pl.Float64,
    "attempt": pl.Int32,
    "text": pl.String,
}
SEQUENCES: dict[str, Any] = {"stream": pl.Int32, "iteration": pl.Int64, "sequence": pl.Int32, "line": pl.Int64}


def table(rows: Sequence[dict[str, Any]], schema: dict[str, Any], **defaults: Any) -> pl.DataFrame:  # noqa: ANN401
    """A table of that schema; missing columns take the default, else 0 for the first and null for the others."""
    filled = [{**dict.fromkeys(schema), **defaults, **row} for row in rows]
    return pl.DataFrame(filled, schema=schema)


def template(text: str) -> Template:
    """A template with an id made from its text."""
    return Template(hashlib.blake2b(text.encode(), digest_size=8).hexdigest(), text)


def scan_of(
    streams: Sequence[Stream],
    texts: Sequence[str],
    counts: pl.DataFrame,
    marks: pl.DataFrame | None = None,
    sequences: pl.DataFrame | None = None,
    **rest: Any,  # noqa: ANN401
) -> Scan:
    """A scan of given tables."""
    fields: dict[str, Any] = {
        "shapes": (), "indicators": (), "tails": {}, "facts": (), "notes": (), "unread": (), "bytes": 0,
        "sources": (Source(0, "job.log", path=__file__),),  # type: ignore[arg-type]
        "lines": int(counts["count"].sum()),
    }  # fmt: skip
    return Scan(
        streams=tuple(streams),
        templates=tuple(template(text) for text in texts),
        counts=counts,
        marks=table([], MARKS) if marks is None else marks,
        sequences=table([], SEQUENCES) if sequences is None else sequences,
        **{**fields, **rest},
    )


def rank_streams(ranks: int, per_node: int = 8, **common: Any) -> list[Stream]:  # noqa: ANN401
    """One stream a rank, on nodes `n000`, `n001`, ..."""
    return [
        Stream(
            rank,
            f"rank-{rank}.log",
            str(rank),
            WriterKind.RANK,
            node=f"n{rank // per_node:03d}",
            rank=rank,
            local_rank=rank % per_node,
            **common,
        )
        for rank in range(ranks)
    ]


@dataclass
class Plan:
    """Lines of a made-up job in the order they were written; `scan` makes of them what a real scan hands on."""

    streams: list[Stream]
    facts: tuple[dict[str, str], ...] = ()
    lines: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    _orders: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _iterations: dict[int, int | None] = field(default_factory=lambda: defaultdict(lambda: None))

    def say(
        self,
        stream: int,
        text: str,
        times: int = 1,
        time: float | None = None,
        faults: tuple[str, ...] | None = None,
    ) -> None:
        """A stream writes a line some times. `faults` makes it an indicator."""
        for _ in range(times):
            order = self._orders[stream]
            self._orders[stream] += 1
            self.lines.append(
                {"stream": stream, "text": text, "time": time, "faults": faults, "order": order,
                 "iteration": self._iterations[stream]}
            )  # fmt: skip

    def mark(self, stream: int, kind: str, time: float | None = None, **values: Any) -> None:  # noqa: ANN401
        """A stream writes a line that a dialect recognises."""
        if kind == "iteration":
            self._iterations[stream] = values.get("iteration")
        order = self._orders[stream]
        self.say(stream, f"{kind} line <*>", time=time)
        place = {"source": 0, "line": order + 1, "offset": 0, "order": order, "attempt": 0, "dialect": "generic"}
        self.marks.append({**place, "stream": stream, "kind": kind, "time": time, **values})

    def scan(self) -> Scan:
        """The scan of all that was said."""
        texts = list(dict.fromkeys(line["text"] for line in self.lines))
        at = {text: number for number, text in enumerate(texts)}
        shapes, sequences = self._sequences(at)
        return scan_of(
            self._timed(),
            texts,
            table(self._counts(at), COUNTS, first_source=0, last_source=0, first_offset=0, last_offset=0),
            table(self.marks, MARKS).sort("stream", "order"),
            table(sequences, SEQUENCES),
            shapes=shapes,
            indicators=self._indicators(at),
            facts=self.facts,
        )

    def _counts(self, at: dict[str, int]) -> list[dict[str, Any]]:
        grouped: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
        for line in self.lines:
            grouped[at[line["text"]], line["stream"]].append(line)
        return [_count(key, rows) for key, rows in sorted(grouped.items())]

    def _timed(self) -> list[Stream]:
        from dataclasses import replace

        spans: dict[int, list[float]] = defaultdict(list)
        for line in self.lines:
            if line["time"] is not None:
                spans[line["stream"]].append(line["time"])
        return [
            replace(
                stream,
                lines=self._orders[stream.id],
                first_time=min(spans[stream.id], default=None),
                last_time=max(spans[stream.id], default=None),
            )
            for stream in self.streams
        ]

    def _indicators(self, at: dict[str, int]) -> tuple[Indicator, ...]:
        seen: dict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
        for line in self.lines:
            if line["faults"] is not None:
                seen[line["stream"], line["text"]].append(line)
        return tuple(Indicator(_record(rows[0], at), rows[0]["faults"], len(rows)) for rows in seen.values())

    def _sequences(self, at: dict[str, int]) -> tuple[tuple[tuple[int, ...], ...], list[dict[str, Any]]]:
        bodies: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
        for line in self.lines:
            if line["iteration"] is not None:
                bodies[line["stream"], line["iteration"]].append(line)
        shapes: dict[tuple[int, ...], int] = {}
        rows = []
        for (stream, iteration), lines in bodies.items():
            shape = tuple(at[line["text"]] for line in lines)[:200]
            number = shapes.setdefault(shape, len(shapes))
            place = {"stream": stream, "iteration": iteration, "sequence": number}
            rows.append({**place, "line": lines[0]["order"] + 1})
        return tuple(shapes), rows


def _count(key: tuple[int, int], rows: list[dict[str, Any]]) -> dict[str, Any]:
    iterations = [row["iteration"] for row in rows if row["iteration"] is not None]
    return {
        "template": key[0],
        "stream": key[1],
        "count": len(rows),
        "iterations": len(set(iterations)),
        "first_line": rows[0]["order"] + 1,
        "last_line": rows[-1]["order"] + 1,
        "first_iteration": rows[0]["iteration"],
        "last_iteration": rows[-1]["iteration"],
    }


def _record(line: dict[str, Any], at: dict[str, int]) -> Record:
    return Record(
        source=0,
        line=line["order"] + 1,
        offset=0,
        text=line["text"],
        raw=line["text"],
        stream=line["stream"],
        time=line["time"],
        own_time=line["time"] is not None,
        iteration=line["iteration"],
        template=at[line["text"]],
        order=line["order"],
    )
