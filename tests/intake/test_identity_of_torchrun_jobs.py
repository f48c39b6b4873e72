"""Ranks of real torchrun jobs, from what torchrun and the job left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assistant.events.scan import scan
from assistant.intake.dialects import load_dialects
from assistant.intake.discover import discover
from assistant.intake.identity import resolve
from assistant.intake.models import Stream

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "torchrun"
TRUTH: dict[str, dict[str, Any]] = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
TREES = sorted(name for name, truth in TRUTH.items() if truth["streams"] != "console" and truth["who_logs"] == "all")


class NoFaults:
    """A matcher that knows no fault."""

    def gate(self) -> list[str]:
        return ["Traceback"]

    def match(self, record: str) -> tuple[str, ...]:
        return ()


def streams_of(name: str) -> tuple[Stream, ...]:
    scanned = scan(discover([str(FOLDER / name)]), load_dialects(), NoFaults(), threads=1)
    return resolve(scanned.streams, scanned.sources, scanned.facts)


@pytest.mark.parametrize("name", TREES)
def test_every_worker_that_wrote_anything_has_its_rank(name: str) -> None:
    truth = TRUTH[name]
    workers = [stream for stream in streams_of(name) if stream.local_rank is not None]
    for worker in workers:
        host = next((index for index, host in enumerate(truth["hosts"]) if f"/{host}/" in worker.group), 0)
        assert worker.rank == host * truth["per_node"] + (worker.local_rank or 0), worker.how
