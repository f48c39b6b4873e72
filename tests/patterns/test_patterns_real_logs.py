"""The patterns on public logs of real jobs, which lie outside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.baselines.choice import choose_most_similar
from assistant.baselines.folders import runs_in
from assistant.baselines.models import Baseline
from assistant.baselines.statistics import from_scans
from assistant.events.models import Scan
from assistant.patterns import cross_job, spatial, temporal
from assistant.patterns.models import PatternResult
from assistant.pipeline import Options, read

LOGS = Path(os.environ.get("ROOTRANK_REAL_LOGS") or Path(__file__).parents[3] / "shared" / "logs")

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no real logs at {LOGS} (set ROOTRANK_REAL_LOGS)")


def scanned(*paths: Path) -> Scan:
    return read([str(path) for path in paths], Options()).scan


def baseline_of(case: str) -> Baseline:
    return from_scans((scanned(*paths) for paths in runs_in(LOGS / case / "baseline")), case)


def compared(case: str) -> tuple[Scan, PatternResult, PatternResult]:
    scan = scanned(LOGS / case / "job")
    cross = cross_job.compare(scan, baseline_of(case))
    steps = temporal.compare(scan, dropped=cross.dropped)
    return scan, cross, spatial.compare(scan, cross=cross, progress=steps.progress)


def test_the_rank_that_ran_out_of_memory_stands_out_even_without_its_signature() -> None:
    scan, cross, places = compared("real-01")
    assert places.places[0].rank == 7
    assert all(place.score < 0.5 for place in places.places[1:])
    kept = " ".join(scan.templates[event.template].text for event in cross.events)
    assert "CUDA out of memory" in kept
    assert len(cross.dropped) > 4 * len(cross.events)


@pytest.mark.parametrize("case", ["real-02", "real-04", "real-07"])
def test_where_all_ranks_fail_alike_none_stands_out(case: str) -> None:
    _, _, places = compared(case)
    assert all(place.score < 0.5 for place in places.places)


def test_each_failed_job_finds_the_healthy_runs_of_its_own_code() -> None:
    cases = ["real-03", "real-04", "real-07", "real-08"]
    baselines = [baseline_of(case) for case in cases]
    for case in cases:
        choice = choose_most_similar(scanned(LOGS / case / "job"), baselines)
        assert choice.baseline is not None, choice.reason
        assert choice.baseline.name == case
