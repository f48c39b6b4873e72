"""A replica tells one story: everything that its files say about ranks, nodes, sizes, clocks and pids agrees."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from evals.scale import make_replicas
from evals.scale.original import fits
from evals.truth import Truth, TruthFile

RANKS = 64


def _samples() -> ModuleType:
    """The helper beside this file; test folders are no packages."""
    spec = importlib.util.spec_from_file_location("scale_samples", Path(__file__).with_name("scale_samples.py"))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["scale_samples"] = module
    spec.loader.exec_module(module)
    return module


samples = _samples()


class Replica:
    """One made replica and what is known of it."""

    def __init__(self, folder: Path, truth: Truth) -> None:
        self.truth = truth
        self.job = folder / truth.job / "job"
        self.files = {
            str(path.relative_to(self.job)): path.read_text() for path in self.job.rglob("*") if path.is_file()
        }
        (self.guilty,) = truth.provable.ranks
        (self.node,) = truth.provable.nodes

    def of_rank(self, rank: int) -> dict[str, str]:
        """The files of a rank by name."""
        node = self.truth.nodes[rank // 8]
        pattern = re.compile(rf"{node}/torchrun/[^/]+/attempt_0/{rank % 8}/(.*)")
        return {found[1]: text for path, text in self.files.items() if (found := pattern.match(path))}


@pytest.fixture(scope="module")
def replica(tmp_path_factory: pytest.TempPathFactory) -> Replica:
    folder = tmp_path_factory.mktemp("scale")
    made = make_replicas(samples.write_set(folder / "set"), folder / "out", RANKS, 1, 5, form="folder")
    return Replica(folder / "out", made.jobs[0])


def test_every_rank_is_there_once_and_says_its_own_number(replica: Replica) -> None:
    greetings = [
        (int(rank), path)
        for path, text in replica.files.items()
        for rank in re.findall(rf"rank (\d+) of {RANKS}", text)
        if path.endswith("stdout.log")
    ]
    ranks = [rank for rank, _ in greetings]
    assert len(ranks) == len(set(ranks))
    assert len(ranks) >= RANKS * 0.9
    for rank, path in greetings:
        assert path.startswith(replica.truth.nodes[rank // 8] + "/")
        assert f"/attempt_0/{rank % 8}/" in path


def test_the_size_of_the_job_is_the_same_everywhere(replica: Replica) -> None:
    told = "\n".join(replica.files.values())
    assert set(re.findall(r"world size (\d+)", told)) == {"64"}
    assert set(re.findall(r"rank \d+ of (\d+)", told)) == {"64"}
    assert set(re.findall(r"global_world_sizes=\[(.*?)\]", told)) == {", ".join(["64"] * 8)}
    assert set(re.findall(r"(?:group_world_size=|min_nodes\s+: )(\d+)", told)) == {"8"}
    assert set(re.findall(r"nproc_per_node\s+: (\d+)", told)) == {"8"}
    assert "step 1/20" in told


def test_launchers_know_which_node_they_are(replica: Replica) -> None:
    for index, name in enumerate(replica.truth.nodes):
        console = replica.files[f"{name}/launcher.log"]
        assert f"'rank': {index}}}" in console
        assert f"global_ranks={list(range(8 * index, 8 * index + 8))}" in console
        assert set(re.findall(r"host\s+: (\S+)", console)) == {name}


def test_a_failure_block_has_each_worker_once_and_one_root_cause(replica: Replica) -> None:
    for index, name in enumerate(replica.truth.nodes):
        console = replica.files[f"{name}/launcher.log"]
        found = re.findall(r"rank\s+: (\d+) \(local_rank: (\d+)\)\n  exitcode\s+: -?\d+ \(pid: (\d+)\)", console)
        assert sorted(int(rank) for rank, _, _ in found) == list(range(8 * index, 8 * index + 8))
        assert all(int(rank) % 8 == int(local) for rank, local, _ in found)
        assert len({pid for _, _, pid in found}) == 8
        assert console.count("Root Cause") == 1
        assert [int(number) for number in re.findall(r"^\[(\d)\]:", console, re.MULTILINE)] == [*range(1, 8), 0]


def test_pids_of_signals_and_exits_are_those_of_the_workers(replica: Replica) -> None:
    console = replica.files[f"{replica.node}/launcher.log"]
    by_local = dict(re.findall(r"local_rank: (\d+)\)\n  exitcode\s+: -?\d+ \(pid: (\d+)\)", console))
    local = str(replica.guilty % 8)
    assert re.findall(r"failed \(exitcode: -9\) local_rank: (\d+) \(pid: (\d+)\)", console) == [
        (local, by_local[local])
    ]
    stopped = set(re.findall(r"Sending process (\d+)", console))
    assert stopped == set(by_local.values()) - {by_local[local]}
    assert f"received by PID {by_local[local]}" in console


def test_only_the_guilty_rank_was_killed_and_it_wrote_no_error(replica: Replica) -> None:
    told = "\n".join(replica.files.values())
    assert len(re.findall(r"exitcode\s+: -9 ", told)) == 1
    assert set(replica.of_rank(replica.guilty)) == {"stdout.log"}
    assert "error.json" in replica.of_rank((replica.guilty + 1) % 8 + replica.guilty // 8 * 8)


def test_the_truth_follows(replica: Replica) -> None:
    truth = replica.truth
    assert truth.world_size == RANKS
    assert len(truth.nodes) == 8
    assert truth.replica_of == "job-001"
    assert truth.injected[0].rank == replica.guilty
    assert truth.injected[0].node == replica.node == truth.nodes[replica.guilty // 8]
    assert truth.provable.iteration == 7


def test_labels_hold_for_the_lines_that_they_are_about(replica: Replica) -> None:
    first, second, third = replica.truth.labels
    lines = replica.files[first.source].splitlines()
    assert sum(1 for line in lines if re.search(first.pattern, line)) == 1
    assert second.first_line is not None
    assert second.last_line is not None
    stretch = lines[second.first_line - 1 : second.last_line]
    assert any(re.search(second.pattern, line) for line in stretch)
    assert "failed (exitcode: -9)" in stretch[0]
    assert third.source == "*/torchrun/*/attempt_0/*/stderr.log"


def test_all_clocks_of_a_node_are_off_by_the_same_time(replica: Replica) -> None:
    skews = set()
    for name in replica.truth.nodes:
        launcher = re.search(r"09:59:(\d\d\.\d+)|I0301 10:00:(\d\d\.\d+)", replica.files[f"{name}/launcher.log"])
        assert launcher
        skew = float(launcher[1]) - 59.1 if launcher[1] else float(launcher[2]) + 0.9
        skews.add(round(skew, 3))
        starts = re.findall(rf"(\d\d):(\d\d),(\d+) INFO starting on {name}:", "\n".join(replica.files.values()))
        for minute, second, fraction in starts:
            begun = int(minute) * 60 + float(f"{second}.{fraction}")
            assert 0.099 <= begun - skew <= 0.103 + 0.021
    assert len(skews) == len(replica.truth.nodes)
    assert 0 <= min(skews) <= max(skews) <= 30


def test_values_differ_between_ranks_and_not_between_runs(replica: Replica, tmp_path: Path) -> None:
    again = make_replicas(samples.write_set(tmp_path / "set"), tmp_path / "out", RANKS, 1, 5, form="folder")
    assert Replica(tmp_path / "out", again.jobs[0]).files == replica.files
    told = [replica.of_rank(rank).get("stdout.log", "") for rank in range(8, 40)]
    losses = {loss for text in told for loss in re.findall(r"step 3/20 loss: (\S+)", text)}
    assert len(losses) > 16


def test_another_seed_puts_the_guilty_rank_elsewhere(tmp_path: Path) -> None:
    source = samples.write_set(tmp_path / "set")
    places = {make_replicas(source, tmp_path / str(seed), RANKS, 1, seed).jobs[0].provable.ranks for seed in range(4)}
    assert len(places) > 1


def test_the_same_seed_gives_the_same_archive(tmp_path: Path) -> None:
    source = samples.write_set(tmp_path / "set")
    for name in ("a", "b"):
        make_replicas(source, tmp_path / name, RANKS, 1, 9)
    assert (tmp_path / "a/scaled-001.tar.zst").read_bytes() == (tmp_path / "b/scaled-001.tar.zst").read_bytes()
    assert TruthFile.model_validate_json((tmp_path / "a/truth.json").read_bytes()).jobs[0].job == "scaled-001"


def test_a_job_of_one_node_is_passed_over(tmp_path: Path) -> None:
    assert not fits(samples.TRUTH.model_copy(update={"nodes": ("gpu-11",)}))
    source = samples.write_set(tmp_path / "set")
    told = (source / "truth.json").read_text().replace('"gpu-27"', '"gpu-99"')
    (source / "truth.json").write_text(told)
    made = make_replicas(source, tmp_path / "out", RANKS, 1, 1)
    assert all(truth.replica_of for truth in made.jobs)


def test_too_few_ranks_make_no_replica(tmp_path: Path) -> None:
    source = samples.write_set(tmp_path / "set")
    assert make_replicas(source, tmp_path / "out", 12, 1, 1).jobs == ()
