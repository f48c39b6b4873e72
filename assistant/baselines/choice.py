"""Choose the baseline of the family that a job belongs to, by the templates it shares with each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from assistant.baselines.folders import runs_in
from assistant.baselines.models import Baseline, TemplateStats
from assistant.baselines.statistics import from_scans, index_of, per_template
from assistant.baselines.store import BaselineStore, is_name
from assistant.errors import InputError, UnknownBaseline
from assistant.events.models import Scan

ENOUGH = 0.5
"""Likeness from which on two jobs are of one family."""
ABSENT_WEIGHT = 0.25
"""What a baseline's template that the job lacks counts against it: little, since a failed job stops early."""
FEW = 5
"""Fewer common templates than this say nothing."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The most similar baseline (None below the threshold), how similar, and why, in words."""

    baseline: Baseline | None
    likeness: float
    reason: str


def choose_most_similar(scan: Scan, baselines: Iterable[Baseline]) -> Choice:
    """The stored family whose start-up and iteration lines the job's own resemble most.

    The likeness is a weighted Jaccard index in which templates that only the baseline has weigh less (Tversky 1977).
    """
    candidates = [(likeness(scan, baseline), baseline) for baseline in sorted(baselines, key=lambda b: b.name)]
    if not candidates:
        return Choice(None, 0.0, "no baseline is stored")
    best, baseline = max(candidates, key=lambda pair: pair[0])
    if best < ENOUGH:
        return Choice(None, best, f"no stored baseline resembles this job (closest: {baseline.name}, {best:.0%} alike)")
    runs = len(baseline.runs)
    return Choice(baseline, best, f"{baseline.name}: {best:.0%} alike, {runs} healthy run{'s' if runs > 1 else ''}")


def likeness(scan: Scan, baseline: Baseline) -> float:
    """0 (nothing in common) to 1 (all that the job wrote is usual, and nothing usual is missing)."""
    ours = _weights(scan)
    known = [scan.templates[template] for template in ours]
    matches = index_of(baseline).match([(template.id, template.text) for template in known])
    usual = {key: _usual(stats) for key, stats in baseline.templates.items() if baseline.presence(key) >= 0.5}
    common = only_ours = 0.0
    found: set[str] = set()
    for weight, match in zip(ours.values(), matches, strict=True):
        if match is None:
            only_ours += weight
        elif match in usual:
            common += min(weight, usual[match])
            found.add(match)
    absent = sum(weight for key, weight in usual.items() if key not in found)
    if len(found) < FEW:
        return 0.0
    return common / (common + only_ours + ABSENT_WEIGHT * absent)


def _weights(scan: Scan) -> dict[int, float]:
    failing = {indicator.record.template for indicator in scan.indicators}
    return {
        row["template"]: _weight(row["count"] / row["writers"])
        for row in per_template(scan).iter_rows(named=True)
        if row["template"] not in failing
    }


def _usual(stats: TemplateStats) -> float:
    return _weight(stats.per_writer.typical)


def _weight(rate: float) -> float:
    return 1.0 + math.log1p(min(rate, 20.0))


def choose_baseline(
    scan: Scan, asked: str | None, store: BaselineStore, read: Callable[[tuple[Path, ...]], Scan]
) -> tuple[Baseline | None, str]:
    """The baseline to compare a job with, and why that one, or why none.

    Args:
        asked: name of a stored baseline, or a file or folder of healthy runs (see `folders.runs_in`); None chooses the
            most similar stored one. A stored name wins over a folder of the same name.
        read: scans the files of one run; only called for a file or folder.

    Raises:
        UnknownBaseline: `asked` is neither stored nor a path.
    """
    if asked is None:
        choice = choose_most_similar(scan, store.load_all()[0])
        return choice.baseline, choice.reason
    if is_name(asked) and asked in store.names():
        return store.load(asked), f"the baseline {asked}"
    path = Path(asked)
    if not path.exists():
        raise store.unknown(asked)
    return _from_folder(path, read)


def _from_folder(path: Path, read: Callable[[tuple[Path, ...]], Scan]) -> tuple[Baseline, str]:
    scans, skipped = [], 0
    for paths in runs_in(path):
        try:
            scans.append(read(paths))
        except InputError:
            skipped += 1
    if not scans:
        raise UnknownBaseline(f"no healthy run can be read in {path}", hint="give a folder with a log of each run")
    unread = f" ({skipped} of its entries not read)" if skipped else ""
    return from_scans(scans, path.name), f"healthy runs from {path.name}{unread}"
