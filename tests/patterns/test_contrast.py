"""What one side writes and the other does not."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from assistant.baselines.models import Baseline
from assistant.baselines.statistics import from_scans
from assistant.events.models import Scan
from assistant.patterns.contrast import with_healthy, with_peers
from assistant.pipeline import Options, examine


def scanned(folder: Path, name: str, extra: str, rate: int) -> Scan:
    """Four ranks that train for sixty steps, warn `rate` times, and say something of their own."""
    job = folder / name
    job.mkdir()
    for rank in range(4):
        rows = [f"2031-04-02 10:00:{step:02d} step {step} | loss: 2.5" for step in range(60)]
        rows += [f"2031-04-02 10:01:00 the reader is slow, {n} behind" for n in range(rate)]
        rows += [extra] if extra else []
        (job / f"rank-{rank}.log").write_text("\n".join(rows) + "\n")
    return examine([str(job)], Options()).reading.scan


@pytest.fixture
def healthy(tmp_path: Path) -> Baseline:
    runs = [scanned(tmp_path, f"run-{n}", "all done and well", 2) for n in range(3)]
    return from_scans([*runs[:1], scanned(tmp_path, "longer", "all done and well", 3), *runs[1:]])


def test_a_job_against_healthy_runs(tmp_path: Path, healthy: Baseline) -> None:
    scan = scanned(tmp_path, "job", "RuntimeError: the widget is broken", 200)
    found = with_healthy(scan, healthy)
    assert [one.text for one in found.only_here] == ["RuntimeError: the widget is broken"]
    assert (found.only_here[0].here, found.only_here[0].source, found.only_here[0].line) == (4, "rank-0.log", 261)
    assert [one.text for one in found.only_there] == ["all done and well"]
    assert "healthy runs" in found.only_there[0].note
    (more,) = found.changed
    assert "the reader is slow" in more.text
    assert more.times > 30


def test_what_became_rare_has_changed_too(tmp_path: Path, healthy: Baseline) -> None:
    runs = from_scans([scanned(tmp_path, f"many-{n}", "", 300 + n) for n in range(3)])
    (less,) = with_healthy(scanned(tmp_path, "few", "", 1), runs).changed
    assert less.times < 0.1


def test_a_rank_against_its_peers(tmp_path: Path) -> None:
    scan = scanned(tmp_path, "job", "", 2)
    file = tmp_path / "job/rank-2.log"
    file.write_text(file.read_text().replace("step 59 ", "stop 59 ") + "the reader is slow, 9 behind\n" * 40)
    scan = examine([str(tmp_path / "job")], Options()).reading.scan
    own = [stream.id for stream in scan.streams if stream.rank == 2]
    found = with_peers(scan, own, [stream.id for stream in scan.streams if stream.rank != 2])
    assert [one.text.startswith("stop") for one in found.only_here] == [True]
    assert found.only_here[0].times == math.inf
    assert found.only_there == ()
    assert [round(one.times) for one in found.changed] == [21]
