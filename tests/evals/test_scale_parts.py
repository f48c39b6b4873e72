"""The parts of scaling: times, mentions of ranks and nodes, consoles, cascades, noise."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from evals.scale.console import Turn, entries, stretches
from evals.scale.noise import Noise
from evals.scale.original import Original, read_original
from evals.scale.plan import GROUP, LATEST, host_names, make_plan
from evals.scale.slots import Compiler, Scribe, fill, slot_pattern
from evals.scale.stamps import read_stamp


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


@pytest.fixture
def original(tmp_path: Path) -> Original:
    return read_original(samples.write_set(tmp_path) / "job-001" / "job", samples.TRUTH)


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("2026-03-01 10:00:59,750", "2026-03-01 10:01:01,250"),
        ("2026-03-01T23:59:59.9", "2026-03-02T00:00:01.4"),
        ("2026-03-01_10:00:00", "2026-03-01_10:00:01"),
        ("E0301 10:00:00.853000", "E0301 10:00:02.353000"),
        ("03/01/2026 10:00:00", "03/01/2026 10:00:01"),
        ("1772359208", "1772359209"),
    ],
)
def test_a_time_is_written_as_it_was(text: str, later: str) -> None:
    stamp = read_stamp(text, 2026)
    assert stamp is not None
    moment, write = stamp
    assert write(moment) == text
    assert write(moment + 1.5) == later


def test_what_is_no_time_is_left_alone() -> None:
    assert read_stamp("2026-13-45 10:00:00", 2026) is None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[rank3]: x", "[rank{guilty}]: x"),
        ('{"rank": 3, "msg": 3}', '{{"rank": {guilty}, "msg": 3}}'),
        ("local_rank: 1 (pid: 801)", "local_rank: {local} (pid: {pid})"),
        ("rank 3 of 4, step 3 of 4", "rank {guilty} of 64, step 3 of 4"),
        ("lost rank 0 on gpu-11", "lost rank 0 on {first}"),
        ("rank-03/model.pt", "rank-{guilty:02d}/model.pt"),
        ("1/2 clients joined", "7/8 clients joined"),
        ("on gpu-270 of xgpu-27", "on gpu-270 of xgpu-27"),
        ("took 4 of 4 parts, pid 5", "took 4 of 4 parts, pid 5"),
        ("versions ['a', 'a', 'a', 'b']", "versions {versions}"),
    ],
)
def test_mentions_become_those_of_the_replica(original: Original, text: str, written: str) -> None:
    plan = make_plan(original, 64, 3)
    (guilty,) = plan.special[3]
    node = plan.nodes[guilty // 8]
    pattern = slot_pattern(samples.HOSTS, samples.FOLDERS)
    scribe = Scribe(plan, node, guilty % 8)
    versions = [("b" if each.template * 2 + real == 3 else "a") for each in plan.nodes for real in each.locals]
    facts = {"guilty": guilty, "local": guilty % 8, "pid": node.pid + 7 + guilty % 8, "first": plan.nodes[0].name}
    made = fill(Compiler(original, 1, 2026, pattern).skeleton(text), scribe)
    assert made == written.format(**facts, versions=versions)


def test_a_console_falls_apart_into_what_repeats_and_what_does_not(original: Original) -> None:
    found = stretches(original, 1, original.nodes[1].consoles["launcher.log"])
    assert [(each.turn, each.local) for each in found if each.turn is Turn.EACH] == [(Turn.EACH, 0)]
    (block,) = [each for each in found if each.turn is Turn.BLOCK]
    assert [(entry.local, entry.root) for entry in entries(block)] == [(0, False), (1, True)]
    assert sum(len(each.lines) for each in found) == len(samples.console(1))


def test_a_traceback_stays_with_its_rank(original: Original) -> None:
    text = (
        "[default1]:2026-03-01 10:00:00 a\n[default1]:Traceback\n[default1]:  File\n[default0]:2026-03-01 10:00:01 b\n"
    )
    found = stretches(original, 0, text)
    assert [(each.local, len(each.lines)) for each in found] == [(1, 3), (0, 1)]


def test_cascades_spread_by_communicator(original: Original) -> None:
    plan = make_plan(original, 1024, 2)
    struck = plan.struck[1] // GROUP
    groups = len(plan.nodes) // GROUP
    hops = {
        node.index: min((node.index // GROUP - struck) % groups, (struck - node.index // GROUP) % groups)
        for node in plan.nodes
    }
    assert all((node.delay == 0) == (hops[node.index] == 0) for node in plan.nodes)
    far, near = max(hops.values()), 1
    latest = max(node.delay for node in plan.nodes if hops[node.index] == near)
    assert all(node.delay > latest for node in plan.nodes if hops[node.index] == far)
    assert max(node.delay for node in plan.nodes) <= LATEST


def test_in_a_pipeline_only_the_last_rank_copies_the_last_one(original: Original) -> None:
    seen = original.truth.provable.model_copy(update={"ranks": (), "nodes": ()})
    truth = original.truth.model_copy(update={"recipe": "pipeline", "provable": seen, "injected": ()})
    plan = make_plan(Original(truth, original.nodes, original.per_node), 64, 1)
    copied = [node.template * 2 + real for node in plan.nodes for real in node.locals]
    assert (copied[0], copied[-1]) == (0, 3)
    assert set(copied[1:32]) == {1}
    assert set(copied[32:-1]) == {2}


def test_names_of_hosts_are_many_and_in_the_manner_of_the_real_ones() -> None:
    names = host_names(["rack3-gpu49", "rack3-gpu52"], 512, Random(1))
    assert len(set(names)) == 512
    assert all(name.startswith("rack3-gpu") for name in names)


def test_every_node_guilty_leaves_nothing_to_copy(original: Original) -> None:
    truth = original.truth
    seen = truth.provable.model_copy(update={"ranks": (1, 3)})
    both = Original(truth.model_copy(update={"provable": seen, "injected": ()}), original.nodes, original.per_node)
    with pytest.raises(ValueError, match="every node is guilty"):
        make_plan(both, 64, 1)


def test_noise_stands_between_timed_lines_and_takes_their_time() -> None:
    lines = ["2026-03-01 10:00:00 a\n", "2026-03-01 10:00:05 b\n", "Traceback\n"]
    made = Noise((("2025-01-01 00:00:00 rank 9: retrying\n", 1.0),)).among(lines, 17, Random(1))
    assert made == [lines[0], "2026-03-01 10:00:05 rank 17: retrying\n", *lines[1:]]


def test_an_archive_that_holds_no_such_node_is_refused(tmp_path: Path) -> None:
    source = samples.write_set(tmp_path) / "job-001" / "job"
    with pytest.raises(ValueError, match="holds no folder"):
        read_original(source, samples.TRUTH.model_copy(update={"nodes": ("a", "b")}))
