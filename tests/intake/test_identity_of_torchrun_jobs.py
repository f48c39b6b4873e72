"""Ranks of real torchrun jobs, from what torchrun and the job left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.events.scan import scan
from assistant.intake.dialects import load_dialects
from assistant.intake.discover import discover
from assistant.intake.identity import resolve
from assistant.intake.models import Stream
from evals.truth import Truth, TruthFile

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "torchrun"
TRUTHS = TruthFile.model_validate_json((FOLDER / "truth.json").read_bytes())
TREES = [t for t in TRUTHS.jobs if t.settings["streams"] != "console" and t.settings["who_logs"] == "all"]


class NoFaults:
    """A matcher that knows no fault."""

    def gate(self) -> list[str]:
        return ["Traceback"]

    def match(self, record: str) -> tuple[str, ...]:
        return ()


def streams_of(name: str) -> tuple[Stream, ...]:
    (archive,) = FOLDER.glob(f"{name}.*")
    scanned = scan(discover([str(archive)]), load_dialects(), NoFaults(), threads=1)
    return resolve(scanned.streams, scanned.sources, scanned.facts)


@pytest.mark.parametrize("truth", TREES, ids=lambda truth: str(truth.job))
def test_every_worker_that_wrote_anything_has_its_rank(truth: Truth) -> None:
    workers = [stream for stream in streams_of(truth.job) if stream.local_rank is not None]
    per_node = int(truth.settings["per_node"] or 0)
    for worker in workers:
        host = next((index for index, node in enumerate(truth.nodes) if f"/{node}/" in worker.group), 0)
        assert worker.rank == host * per_node + (worker.local_rank or 0), worker.how


def test_one_worker_on_each_node_is_told_apart() -> None:
    workers = [stream for stream in streams_of("job-04") if stream.local_rank is not None]
    assert [(worker.node, worker.rank) for worker in workers] == [("n01", 0), ("n02", 1), ("n03", 2), ("n04", 3)]
