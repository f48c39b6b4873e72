"""Who wrote a line, by the label at its start: finds out which labels a source uses, then splits them off in bulk.

A writer's key is spelled `part=value`, joined by `;` from the outermost label inwards: `task=7`, `rank=3`, `local=3`,
`node=n1`, `pod=job-0`, `nccl=host/pid`, `ray=address/pid`. Unlabelled lines (`srun: error: ...`, `+ echo`) have key "".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import polars as pl

from assistant.intake.dialects import named_groups
from assistant.intake.models import Dialect
from assistant.intake.numerals import LONGEST, whole

HEAD = 200
"""Characters of a line in which labels are looked for."""
DEPTH = 4
"""Labels nested deeper than this stay in the message."""

_GROUP_NAME = re.compile(r"\(\?P<[a-z_]+>")
_PARTS = {"task": "task", "rank": "rank", "rank_colon": "rank", "local_rank": "local", "pod": "pod", "node": "node"}
RANK_LABELS = frozenset({"torch-rank", "bracket-rank"})
_PAIRED = {"nccl-process": "nccl", "ray-actor": "ray"}


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one source.

    `merged` labels are split off but do not make a writer of their own, because the label around them or the source
    already does; `tasks_are_ranks` says that each task's own `[rankN]` label repeats the task's number, so that `7: `
    means rank 7; `sole` is the key of every line of a source that one process wrote.
    """

    dialects: tuple[Dialect, ...] = ()
    merged: frozenset[str] = frozenset()
    tasks_are_ranks: bool = False
    sole: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The labels at a line's start: (dialect id, key part) from the outermost inwards, and where the message starts."""

    parts: tuple[tuple[str, str], ...]
    length: int


@dataclass(slots=True)
class _Census:
    """What a sample says about one dialect."""

    lines: int = 0
    values: Counter[str] = field(default_factory=Counter)
    inside: dict[str, set[str]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)

    def add(self, outer: str, value: str) -> None:
        self.lines += 1
        self.values[value] += 1
        self.inside.setdefault(outer, set()).add(value)
        self.order.append(value)


def _part(dialect: Dialect, groups: dict[str, str | None]) -> str:
    """The key part of one label."""
    if dialect.id in _PAIRED:
        pieces = [groups.get("node"), groups.get("pid")]
        return f"{_PAIRED[dialect.id]}={'/'.join(piece for piece in pieces if piece)}"
    for group, part in _PARTS.items():
        value = groups.get(group)
        if value:
            number = None if part in ("node", "pod") else whole(value, 10**LONGEST)
            return f"{part}={value if number is None else number}"
    return ""


def _label_at(text: str, start: int, dialects: Iterable[Dialect]) -> tuple[Dialect, str, int] | None:
    rest = text[start:]
    for dialect in dialects:
        found = named_groups(dialect.pattern or "", rest, anchored=True)
        if found:
            return dialect, _part(dialect, found[0]), start + found[1]
    return None


def read_labels(text: str, dialects: Sequence[Dialect]) -> Found:
    """The labels at the start of a text, each dialect at most once."""
    head, start = text[:HEAD], 0
    parts: list[tuple[str, str]] = []
    left = [dialect for dialect in dialects if dialect.format != "mention"]
    while left and len(parts) < DEPTH:
        label = _label_at(head, start, left)
        if label is None:
            break
        dialect, part, start = label
        left.remove(dialect)
        parts.append((dialect.id, part))
    return Found(tuple(parts), start)


def _mention(text: str, dialects: Iterable[Dialect]) -> tuple[str, str] | None:
    for dialect in dialects:
        if dialect.format != "mention":
            continue
        found = named_groups(dialect.pattern or "", text[:HEAD], anchored=False)
        if found:
            return dialect.id, _part(dialect, found[0])
    return None


def _count(sample: Sequence[str], dialects: Sequence[Dialect]) -> dict[str, _Census]:
    census = {dialect.id: _Census() for dialect in dialects}
    for line in sample:
        found = read_labels(line, dialects)
        outer = ""
        for dialect_id, part in found.parts:
            census[dialect_id].add(outer, part)
            outer = f"{outer};{part}".lstrip(";")
        named = _mention(line[found.length :], dialects)
        if named:
            census[named[0]].add(outer, named[1])
    return census


def _plausible(dialect: Dialect, seen: _Census, total: int) -> bool:
    """Whether a label is really one: bare numbers and host-like words also start ordinary lines."""
    if not seen.lines:
        return False
    if dialect.format != "outer" or dialect.id not in ("srun-label", "host-label", "compose-label"):
        return True
    if seen.lines < min(3, total):
        return False
    if dialect.id == "srun-label":
        return seen.lines >= 0.05 * total and not _counts_lines(seen.order)
    several = len(seen.values) > 1 and seen.lines >= 0.3 * total
    return (several or seen.lines >= 0.8 * total) and len(seen.values) <= max(4, seen.lines // 2)


def _counts_lines(order: list[str]) -> bool:
    """Numbers that only ever grow are line numbers (`grep -n`), not tasks."""
    numbers = [number for part in order if (number := _number(part)) is not None]
    return len(numbers) >= 8 and all(a < b for a, b in pairwise(numbers))


def _number(part: str) -> int | None:
    digits = part.partition("=")[2]
    return whole(digits, 10**LONGEST)


def _ranks_repeat_tasks(seen: _Census) -> bool:
    """Each task's label is its own number, and one above zero proves it (rank 0 is task 0 in any layout)."""
    pairs = {
        (outer, part)
        for outer, parts in seen.inside.items()
        for part in parts
        if outer.startswith("task=") and ";" not in outer
    }
    return any(_number(o) for o, _ in pairs) and all(_number(o) == _number(p) for o, p in pairs)


def _one_each(seen: _Census) -> bool:
    return all(len(parts) == 1 for parts in seen.inside.values())


def _one_process_a_task(seen: _Census) -> bool:
    """NCCL's label adds nothing where each task is one process; it stays in the message, where it names the host."""
    return "" not in seen.inside and seen.lines >= 3 and _one_each(seen)


def sniff_prefixes(
    sample: Sequence[str], dialects: Sequence[Dialect], *, sole_writer: bool = False, total: int | None = None
) -> Labels:
    """Which labels the lines of one source carry.

    Args:
        sample: lines from the head, the middle and the tail of the source: labels may start late.
        dialects: those of kind `prefix`.
        sole_writer: the source's path says that a single process wrote it.
        total: how many lines were looked at, where those that no dialect matches are left out of `sample`.
    """
    lines = [line for line in sample if line.strip()]
    census = _count(lines, dialects)
    looked_at = len(lines) if total is None else total
    kept = tuple(dialect for dialect in dialects if _plausible(dialect, census[dialect.id], looked_at))
    if len(kept) < len(dialects):
        census = _count(lines, kept)
    kept = tuple(d for d in kept if census[d.id].lines and not _stays(d, census[d.id], sole_writer))
    ranks = [d for d in kept if d.id in RANK_LABELS]
    same = bool(ranks) and all(_ranks_repeat_tasks(census[d.id]) for d in ranks)
    alone = [d for d in ranks if sole_writer and set(census[d.id].inside) == {""} and _one_each(census[d.id])]
    merged = frozenset(d.id for d in (ranks if same else alone))
    sole = next(iter(census[alone[0].id].values)) if alone else ""
    return Labels(kept, merged, same, sole, ", ".join(d.title for d in kept))


def _stays(dialect: Dialect, seen: _Census, sole_writer: bool) -> bool:
    """Whether a label is left in the message, because it would make no new writer."""
    if dialect.id == "nccl-process":
        return _one_process_a_task(seen) or (sole_writer and _one_each(seen))
    return dialect.format == "mention" and sole_writer


def _run_pattern(labels: Labels) -> str:
    """One regex that captures the whole run of labels at a line's start."""
    starting = [d.pattern or "" for d in labels.dialects if d.format != "mention"]
    single = [_GROUP_NAME.sub("(?:", pattern).removeprefix("^") for pattern in starting]
    return f"^((?:{'|'.join(f'(?:{pattern})' for pattern in single)}){{1,{DEPTH}}})"


def _key(labels: Labels, parts: Iterable[tuple[str, str]]) -> str:
    kept = [part for dialect_id, part in parts if dialect_id not in labels.merged and part]
    if labels.tasks_are_ranks:
        kept = [part.replace("task=", "rank=") for part in kept]
    return ";".join(dict.fromkeys(kept)) or labels.sole


def _split_runs(labels: Labels, texts: pl.Series) -> pl.DataFrame:
    """The label run of each text, its key and its length in characters."""
    runs = texts.str.slice(0, HEAD).str.extract(_run_pattern(labels), 1)
    distinct = runs.unique().drop_nulls().to_list()
    found = [read_labels(run, labels.dialects) for run in distinct]
    table = pl.DataFrame(
        {"run": distinct, "key": [_key(labels, f.parts) for f in found], "length": [f.length for f in found]},
        schema={"run": pl.String, "key": pl.String, "length": pl.Int64},
    )
    return pl.DataFrame({"run": runs}).join(table, on="run", how="left", maintain_order="left")


def _mentions(labels: Labels, messages: pl.Series) -> pl.Series | None:
    """The key part that a mention inside each message gives; None where the source has no such labels."""
    mentioned = [d for d in labels.dialects if d.format == "mention" and d.id not in labels.merged]
    if not mentioned:
        return None
    pattern = _GROUP_NAME.sub("(?:", mentioned[0].pattern or "")
    hits = messages.str.slice(0, HEAD).str.extract(f"({pattern})", 1)
    found = {hit: _mention(hit, mentioned) for hit in hits.unique().drop_nulls()}
    names = {hit: named[1] for hit, named in found.items() if named}
    return hits.replace_strict(names, default=None, return_dtype=pl.String) if names else None


def split_series(labels: Labels, texts: pl.Series) -> pl.DataFrame:
    """Columns `key` and `message`, one row a text. Vectorised; the same as `split_line` on each text."""
    messages = texts.rename("message")
    keys = pl.Series("key", [labels.sole], dtype=pl.String).new_from_index(0, len(texts))
    if any(dialect.format != "mention" for dialect in labels.dialects):
        runs = _split_runs(labels, texts)
        keys = runs["key"].fill_null(labels.sole)
        messages = (
            pl.DataFrame({"text": texts, "n": runs["length"].fill_null(0)})
            .select(pl.when(pl.col("n") > 0).then(pl.col("text").str.slice(pl.col("n"))).otherwise(pl.col("text")))[
                "text"
            ]
            .rename("message")
        )
    mentioned = _mentions(labels, messages)
    if mentioned is not None:
        keys = _with_mention(keys, mentioned, labels.sole)
    return pl.DataFrame({"key": keys, "message": messages})


def _with_mention(keys: pl.Series, mentioned: pl.Series, sole: str) -> pl.Series:
    """Add a mentioned rank where the label did not already name one."""
    frame = pl.DataFrame({"key": keys, "named": mentioned})
    takes = pl.col("named").is_not_null() & ~pl.col("key").str.contains("rank=", literal=True)
    joined = pl.when(pl.col("key") == sole).then("named").otherwise(pl.concat_str("key", "named", separator=";"))
    return frame.select(pl.when(takes).then(joined).otherwise(pl.col("key")).alias("key"))["key"]


def split_line(labels: Labels, text: str) -> tuple[str, str]:
    """Key and message of one line."""
    row = split_series(labels, pl.Series([text], dtype=pl.String))
    return str(row["key"][0]), str(row["message"][0])


def join_keys(outer: str, inner: str) -> str:
    """The key of a line whose envelope names one writer and whose label another."""
    return ";".join(part for part in (outer, inner) if part)


def parse_key(key: str) -> dict[str, str]:
    """The parts of a key; the innermost wins where one repeats."""
    return dict(part.split("=", 1) for part in key.split(";") if "=" in part)
