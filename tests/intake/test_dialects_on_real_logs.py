"""What the dialects read out of real logs; skipped where these are not at hand."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from assistant.events.models import Scan
from assistant.events.scan import scan
from assistant.intake.dialects import load_dialects
from assistant.intake.discover import discover
from assistant.intake.identity import resolve
from assistant.intake.models import Stream, WriterKind
from assistant.intake.topology import Topology, read_topology

LOGS = Path(os.environ.get("ROOTRANK_REAL_LOGS") or Path(__file__).resolve().parents[3] / "shared" / "logs")

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no real logs: set ROOTRANK_REAL_LOGS (looked at {LOGS})")


class NoFaults:
    """A matcher that knows no fault."""

    def gate(self) -> list[str]:
        return ["Traceback"]

    def match(self, record: str) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class Job:
    """A real job as intake sees it."""

    scan: Scan
    streams: tuple[Stream, ...]
    topology: Topology

    @property
    def ranks(self) -> set[int]:
        return {stream.rank for stream in self.streams if stream.rank is not None}

    @property
    def nodes(self) -> set[str]:
        return {stream.node for stream in self.streams if stream.node}

    def marks(self, kind: str) -> pl.DataFrame:
        return self.scan.marks.filter(pl.col("kind") == kind).sort("source", "line")


@functools.cache
def job(case: str) -> Job:
    scanned = scan(discover([str(LOGS / case / "job")]), load_dialects(), NoFaults(), threads=1)
    topology = read_topology(scanned.facts)
    return Job(scanned, resolve(scanned.streams, scanned.sources, scanned.facts, topology=topology), topology)


def test_labels_name_eight_ranks_of_one_node_and_evaluation_follows_the_last_iteration() -> None:
    found = job("real-01")
    assert found.ranks == set(range(8))
    assert len(found.nodes) == 1
    last = found.marks("iteration").row(-1, named=True)
    assert last["iteration"] == 4031
    after = found.scan.marks.filter((pl.col("stream") == last["stream"]) & (pl.col("line") > last["line"]))
    assert after["stage"].to_list()[-1] == "evaluation"


def test_sixty_four_ranks_are_placed_on_sixteen_nodes() -> None:
    found = job("real-02")
    assert found.ranks == set(range(64))
    assert len(found.nodes) == 16
    assert found.scan.marks.sort("line")["stage"].drop_nulls().to_list()[-1] == "evaluation"


def test_thirty_six_tasks_are_ranks_on_eighteen_nodes() -> None:
    found = job("real-08")
    assert found.ranks == set(range(36))
    assert (found.topology.world_size, len(found.nodes)) == (36, 18)


def test_megatron_iterations_one_to_four_and_ranks_from_nccl() -> None:
    found = job("real-09")
    own = found.marks("iteration").filter(pl.col("dialect") == "megatron")
    assert own["iteration"].to_list() == [1, 2, 3, 4]
    assert found.ranks == set(range(64))
    assert (len(found.nodes), found.topology.tp) == (16, 4)


@pytest.mark.parametrize("case", ["real-10", "real-11"])
def test_a_run_that_reached_its_goal_says_so(case: str) -> None:
    assert job(case).marks("goal").height > 0


def test_a_failed_run_does_not_say_that_it_reached_its_goal() -> None:
    for case in ("real-01", "real-04", "real-07", "real-08", "real-09", "real-12"):
        assert job(case).marks("goal").height == 0, case


def test_files_of_listed_nodes_are_those_nodes() -> None:
    found = job("real-12")
    assert found.nodes == {"manager", "node1"}
    assert any("node-b" in stream.how for stream in found.streams if stream.node == "node1")


def test_ascend_processes_have_their_ranks_and_devices() -> None:
    found = job("ascend-01")
    assert {(s.node, s.rank, s.device) for s in found.streams if s.rank is not None} >= {
        ("worker-0", 2, "2"), ("worker-1", 8, "0"), ("worker-1", 9, "1"), ("worker-1", 10, "2"),
    }  # fmt: skip


def test_kernel_messages_belong_to_their_node() -> None:
    assert {(s.kind, s.node) for s in job("kernel-01").streams} == {(WriterKind.KERNEL, "gpu-node-17")}
