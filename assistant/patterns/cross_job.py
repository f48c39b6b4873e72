"""The first comparison of L4: what does this job write that healthy runs of its family do not?

L4 drops what successful jobs write often. Here an event keeps a score instead: 1 where healthy runs never show it, less
the more of them do, 0 where it is as frequent as in them. Two kinds are never dropped: events that are usual but became
many times as frequent, and those that the caller protects because they carry a known fatal signature.

Rates are compared on terms on which a short trial run and a full job agree: lines per writing rank, for lines of the
training loop also per iteration, for recurring lines also per second. The most lenient of these tells what was to be
expected. The comparison is a log ratio with pseudo counts, lowered by its own uncertainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from assistant.baselines.models import Baseline, Run, TemplateStats
from assistant.baselines.statistics import describe, index_of, per_template
from assistant.events.models import Scan
from assistant.patterns.models import EventScore, PatternResult
from assistant.patterns.wording import plural, times

NAME = "cross_job"
USUAL = 0.5
"""Share of healthy runs from which on an event is ordinary."""
RARE_TOP = 0.8
"""Score of an event that hardly any healthy run shows (one that none shows scores 1)."""
NOTABLE_RATIO, EXTREME_RATIO = 3.0, 30.0
"""How many times the healthy rate scores above 0, and how many score the most."""
EXPLODED_TOP = 0.9
SURE = 1.64
"""Standard errors by which a ratio is lowered before it counts (one-sided 95 %)."""
SPREAD_FROM, SPREAD_TO = 0.25, 0.75
"""An event of few ranks in healthy runs that most ranks write now has spread."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the job wrote of one healthy template (of several of its own, where they were taken for that one)."""

    count: int
    writers: int
    iterations: int
    templates: tuple[int, ...]


def compare(
    scan: Scan, baseline: Baseline | None, protected: frozenset[int] = frozenset(), *, note: str = ""
) -> PatternResult:
    """Scores the job's events against healthy runs; `dropped` are the ordinary ones.

    Args:
        protected: templates that carry a fatal signature; they are never dropped.
        note: why this baseline, or why none; opens the result's note.
    """
    if baseline is None or not baseline.runs:
        return PatternResult(NAME, False, note or "no healthy run to compare with")
    run = describe(scan)
    absent, known = rows_of(scan, baseline)
    scores = [EventScore(template, 1.0, _absent(baseline)) for template in absent]
    for key, row in sorted(known.items()):
        score, why = _against(row, run, baseline.templates[key], baseline)
        scores += [EventScore(template, score, why) for template in row.templates]
    ordinary = frozenset(event.template for event in scores if event.score <= 0) - protected
    kept = [event for event in scores if event.template not in ordinary]
    outcome = _note(baseline, len(scores), len(kept))
    return PatternResult(NAME, True, f"{note}; {outcome}" if note else outcome, _with_streams(kept, scan), (), ordinary)


def rows_of(scan: Scan, baseline: Baseline) -> tuple[list[int], dict[str, Row]]:
    """The job's templates that no healthy run has, and what it wrote of each that some have, by that one's id."""
    rows = list(per_template(scan).iter_rows(named=True))
    templates = [scan.templates[row["template"]] for row in rows]
    found = index_of(baseline).match([(template.id, template.text) for template in templates])
    absent = [row["template"] for row, match in zip(rows, found, strict=True) if match is None]
    known: dict[str, Row] = {}
    for row, match in zip(rows, found, strict=True):
        if match is not None:
            known[match] = _joined(known.get(match, Row(0, 0, 0, ())), row)
    return absent, known


def _joined(held: Row, row: dict[str, int]) -> Row:
    return Row(
        held.count + row["count"],
        max(held.writers, row["writers"]),
        max(held.iterations, row["iterations"]),
        (*held.templates, row["template"]),
    )


def _against(row: Row, run: Run, stats: TemplateStats, baseline: Baseline) -> tuple[float, str]:
    """The larger of what its rarity, its rate and its spread say."""
    share = stats.runs / len(baseline.runs)
    rare = RARE_TOP * max(0.0, 1 - share / USUAL)
    certain, ratio, _ = ratio_of(row, run, stats, baseline)
    exploded = _steep(certain)
    spread, spread_why = _spread(row, run, stats, baseline)
    best = max(rare, exploded, spread)
    if best <= 0:
        return 0.0, f"as in {plural(len(baseline.runs), 'healthy run')}"
    if best == exploded:
        return exploded, f"{times(ratio)} the healthy rate"
    if best == spread:
        return spread, spread_why
    return rare, f"in only {stats.runs} of {plural(len(baseline.runs), 'healthy run')}"


def ratio_of(row: Row, run: Run, stats: TemplateStats, baseline: Baseline) -> tuple[float, float, float]:
    """How many times the expected count there is: at least, most likely, at most."""
    expected = _expected(row, run, stats, baseline)
    log = math.log((row.count + 1) / (expected + 1))
    error = math.sqrt(1 / (row.count + 1) + 1 / (stats.count + 1) + stats.per_writer.variance)
    return math.exp(log - SURE * error), math.exp(log), math.exp(log + SURE * error)


def _expected(row: Row, run: Run, stats: TemplateStats, baseline: Baseline) -> float:
    """Lines that a healthy job of this size and length would hold, by the most lenient rate."""
    rates = [stats.per_writer.typical]
    if stats.per_iteration.n and run.iterations:
        rates.append(stats.per_iteration.typical * run.iterations)
    if stats.per_second.n and run.seconds:
        rates.append(stats.per_second.typical * run.seconds)
    return max(rates) * _writers(row, run, stats, baseline)


def _writers(row: Row, run: Run, stats: TemplateStats, baseline: Baseline) -> float:
    """Streams over which a rate holds. Where lines do not say who wrote them, every rank may have."""
    if run.labelled and baseline.labelled:
        return row.writers
    here, there = run.world_size or 1, baseline.world_size or 1
    return stats.writers.typical * max(1.0, here / there)


def _spread(row: Row, run: Run, stats: TemplateStats, baseline: Baseline) -> tuple[float, str]:
    if not (run.labelled and baseline.labelled) or run.streams < 4 or not stats.runs:
        return 0.0, ""
    usual, now = stats.share / stats.runs, row.writers / run.streams
    # A share of one stream among few says nothing of a larger job.
    if usual > SPREAD_FROM or now < SPREAD_TO or stats.writers.typical * 3 > row.writers:
        return 0.0, ""
    return 0.5, f"written by {now:.0%} of the streams, in healthy runs by {usual:.0%}"


def _steep(ratio: float) -> float:
    """0 up to `NOTABLE_RATIO`, rising with the logarithm to its top at `EXTREME_RATIO`."""
    if ratio <= NOTABLE_RATIO:
        return 0.0
    height = math.log(ratio / NOTABLE_RATIO) / math.log(EXTREME_RATIO / NOTABLE_RATIO)
    return EXPLODED_TOP * min(1.0, 0.2 + 0.8 * height)


def _absent(baseline: Baseline) -> str:
    return f"absent in {plural(len(baseline.runs), 'healthy run')}"


def _note(baseline: Baseline, events: int, kept: int) -> str:
    runs = plural(len(baseline.runs), "healthy run")
    return f"{runs} of {baseline.name}: {events - kept:,} of {events:,} events are ordinary, {kept:,} remain"


def _with_streams(events: list[EventScore], scan: Scan) -> tuple[EventScore, ...]:
    wanted = [event.template for event in events]
    grouped = scan.counts.filter(scan.counts["template"].is_in(wanted)).group_by("template").agg("stream")
    streams = {template: tuple(sorted(numbers)) for template, numbers in grouped.iter_rows()}
    ordered = sorted(events, key=lambda event: (-event.score, event.template))
    return tuple(EventScore(e.template, e.score, e.why, streams.get(e.template, ())) for e in ordered)
