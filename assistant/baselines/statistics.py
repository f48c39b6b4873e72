"""The statistics of one run, and a baseline with one run more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from assistant.baselines.matching import Index, more_general
from assistant.baselines.models import Baseline, LogSum, Run, TemplateStats
from assistant.events.models import Scan

RECURRING = 3
"""Lines per writer from which on a line may recur with time rather than happen once."""
LARGEST_WORLD = 10_000_000
"""A stated world size above this is no world size."""


def from_scans(scans: Iterable[Scan], name: str = "given") -> Baseline:
    """The baseline of healthy runs, each scanned by itself. The same run given twice counts once."""
    result = Baseline(name)
    for scan in scans:
        result = with_run(result, scan)
    return result


def with_run(baseline: Baseline, scan: Scan) -> Baseline:
    """The baseline with one run more; the same baseline if it holds the run already."""
    run = describe(scan)
    if any(known.digest == run.digest for known in baseline.runs):
        return baseline
    templates = dict(baseline.templates)
    for target, rows in _by_target(baseline, scan).items():
        _fold(templates, target, rows, run)
    names = tuple(dict.fromkeys([*baseline.frameworks, *frameworks(scan)]))
    return replace(baseline, runs=(*baseline.runs, run), frameworks=names, templates=templates)


def index_of(baseline: Baseline) -> Index:
    """For finding a baseline's templates from those of another run."""
    aliases = {alias: key for key, stats in baseline.templates.items() for alias in stats.aliases}
    return Index({key: stats.text for key, stats in baseline.templates.items()}, aliases)


def describe(scan: Scan) -> Run:
    """What a run was, without its lines."""
    first = [stream.first_time for stream in scan.streams if stream.first_time is not None]
    last = [stream.last_time for stream in scan.streams if stream.last_time is not None]
    placed = sum(stream.lines for stream in scan.streams if stream.rank is not None or stream.node is not None)
    return Run(
        digest=_digest(scan),
        source=scan.sources[0].name if scan.sources else "",
        lines=scan.lines,
        bytes=scan.bytes,
        streams=len(scan.streams),
        world_size=world_size(scan),
        iterations=_iterations(scan),
        seconds=max(last) - min(first) if first and last else None,
        labelled=2 * placed > sum(stream.lines for stream in scan.streams),
    )


def per_template(scan: Scan) -> pl.DataFrame:
    """template, count, writers, iterations, startup: one row for each template, sorted."""
    return (
        scan.counts.group_by("template")
        .agg(
            pl.col("count").sum(),
            pl.col("stream").n_unique().alias("writers"),
            pl.col("iterations").max(),
            pl.col("first_iteration").is_null().any().alias("startup"),
        )
        .sort("template")
    )


def world_size(scan: Scan) -> int | None:
    """The largest size the run states, else the number of ranks that wrote; None where neither shows."""
    texts = [str(fact.get("world_size") or "") for fact in scan.facts]
    stated = [int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 10]
    sizes = [size for size in stated if 0 < size <= LARGEST_WORLD]
    return max(sizes, default=len({stream.rank for stream in scan.streams if stream.rank is not None})) or None


def frameworks(scan: Scan) -> tuple[str, ...]:
    """Dialects that recognised progress in this run, most frequent first."""
    counted = scan.marks.drop_nulls("dialect").group_by("dialect").len()
    return tuple(counted.sort(["len", "dialect"], descending=[True, False])["dialect"].to_list())


def _iterations(scan: Scan) -> int:
    seen = scan.counts["iterations"].max() if scan.counts.height else 0
    return seen if isinstance(seen, int) else 0


def _by_target(baseline: Baseline, scan: Scan) -> dict[str, list[dict[str, int]]]:
    rows = list(per_template(scan).iter_rows(named=True))
    templates = [scan.templates[row["template"]] for row in rows]
    found = index_of(baseline).match([(template.id, template.text) for template in templates])
    grouped: dict[str, list[dict[str, int]]] = {}
    for row, template, match in zip(rows, templates, found, strict=True):
        extended = {**row, "id": template.id, "text": template.text}
        grouped.setdefault(match or template.id, []).append(extended)
    return grouped


def _fold(templates: dict[str, TemplateStats], target: str, rows: list[dict[str, int]], run: Run) -> None:
    held = templates.pop(target, None)
    texts = {str(row["id"]): str(row["text"]) for row in rows} | ({target: held.text} if held else {})
    kept = target
    for key in sorted(texts):
        kept = key if more_general(texts[key], texts[kept]) else kept
    fresh = _stats(rows, run)
    both = held + fresh if held else fresh
    aliases = tuple(sorted({*both.aliases, *texts, target} - {kept}))
    templates[kept] = replace(both, text=texts[kept], aliases=aliases)


def _stats(rows: list[dict[str, int]], run: Run) -> TemplateStats:
    count, writers = sum(row["count"] for row in rows), max(row["writers"] for row in rows)
    rate = count / writers
    looping = run.iterations > 1 and max(row["iterations"] for row in rows) > 1
    timed = rate >= RECURRING and run.seconds is not None and run.seconds > 1
    return TemplateStats(
        text="",
        runs=1,
        startup=int(any(row["startup"] for row in rows)),
        count=count,
        writers=LogSum.of(writers),
        share=writers / max(run.streams, 1),
        per_writer=LogSum.of(rate),
        per_iteration=LogSum.of(rate / run.iterations) if looping else LogSum(),
        per_second=LogSum.of(rate / (run.seconds or 1)) if timed else LogSum(),
    )


def _digest(scan: Scan) -> str:
    parts = hashlib.blake2b(f"{scan.lines} {scan.bytes}".encode(), digest_size=12)
    for row in per_template(scan).iter_rows(named=True):
        parts.update(f"{scan.templates[row['template']].id} {row['count']}\n".encode())
    return parts.hexdigest()
