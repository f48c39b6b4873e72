from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assistant.baselines.statistics import from_scans
from assistant.events.models import Scan
from assistant.intake.models import Stream, WriterKind
from assistant.patterns import cross_job, temporal
from assistant.patterns.models import PatternResult
from assistant.patterns.spatial import compare
from evals.planted import COUNTS, Plan, rank_streams, scan_of

Place = tuple[str | None, int | None]


def node_streams(count: int) -> list[Stream]:
    return [Stream(n, f"n{n}.log", "", WriterKind.NODE, node=f"n{n:04d}") for n in range(count)]


def noisy(nodes: int, columns: int, planted: dict[tuple[int, str], int], seed: int = 0) -> Scan:
    """Nodes that all write 50 constant and some noisy events, and the planted ones."""
    chance = np.random.default_rng(seed)
    texts = [f"constant <*> {n}" for n in range(50)] + [f"noise <*> {n}" for n in range(columns)]
    texts += sorted({text for _, text in planted})
    counts = np.zeros((nodes, len(texts)), dtype=np.int64)
    counts[:, :50] = 3
    counts[:, 50 : 50 + columns] = chance.poisson(chance.gamma(1, 3, columns), (nodes, columns))
    for (node, text), count in planted.items():
        counts[node, texts.index(text)] += count
    place, template = np.nonzero(counts)
    table = pl.DataFrame({"template": template, "stream": place, "count": counts[place, template]})
    filled = table.with_columns(pl.lit(0).alias(name) for name in COUNTS if name not in table.columns)
    return scan_of(node_streams(nodes), texts, filled.select(pl.col(k).cast(v) for k, v in COUNTS.items()))


def first(result: PatternResult) -> Place | None:
    return (result.places[0].node, result.places[0].rank) if result.places else None


def protected(scan: Scan, text: str) -> frozenset[int]:
    return frozenset(at for at, template in enumerate(scan.templates) if template.text == text)


@pytest.mark.parametrize("seed", range(5))
def test_one_fatal_line_on_one_of_128_noisy_nodes_is_found(seed: int) -> None:
    scan = noisy(128, 100, {(77, "Xid <*> fell off the bus"): 1}, seed)
    result = compare(scan, protected=protected(scan, "Xid <*> fell off the bus"))
    assert first(result) == ("n0077", None)
    assert "only here of 128 nodes" in result.places[0].reasons[0]
    assert result.places[0].templates[0] in protected(scan, "Xid <*> fell off the bus")
    assert sum(place.score > 0.5 for place in result.places) == 1


def test_one_line_new_to_healthy_runs_is_found_without_any_signature() -> None:
    healthy = from_scans([noisy(128, 100, {}, seed) for seed in (7, 8, 9)])
    scan = noisy(128, 100, {(77, "something never heard of"): 1})
    assert first(compare(scan, cross=cross_job.compare(scan, healthy))) == ("n0077", None)


def test_the_forest_finds_one_of_4096_nodes() -> None:
    scan = noisy(4096, 20, {(1234, f"noise <*> {n}"): 200 for n in range(5)})
    result = compare(scan)
    assert first(result) == ("n1234", None)
    assert "forest over nodes" in result.note


@pytest.mark.parametrize("nodes", [2, 3, 8, 64])
def test_nodes_that_are_all_alike_are_not_blamed(nodes: int) -> None:
    scan = noisy(nodes, 0, {(node, "CUDA error"): 1 for node in range(nodes)})
    result = compare(scan, protected=protected(scan, "CUDA error"))
    assert result.ran
    assert result.places == ()
    assert "all alike" in result.note


@pytest.mark.parametrize(("nodes", "seed"), [(8, 1), (64, 2), (512, 3)])
def test_noise_alone_makes_no_strong_candidate(nodes: int, seed: int) -> None:
    assert all(place.score < 0.4 for place in compare(noisy(nodes, 100, {}, seed)).places)


def hang(silent: int, ranks: int = 16) -> Scan:
    """All ranks wait for one that has stopped writing."""
    plan = Plan(rank_streams(ranks))
    for rank in range(ranks):
        for iteration in range(30):
            plan.mark(rank, "iteration", time=100.0 + iteration, iteration=iteration)
        if rank != silent:
            for _ in range(20):
                plan.say(rank, "collective timed out", time=730.0, faults=("collective-timeout",))
    return plan.scan()


def test_the_silent_rank_comes_before_its_loud_victims() -> None:
    scan = hang(11)
    result = compare(scan, progress=temporal.compare(scan).progress)
    best = next(place for place in result.places if place.rank is not None)
    assert best.rank == 11
    assert any("before its peers stopped" in reason for reason in best.reasons)
    assert any(reason.startswith("lacks") for reason in best.reasons)
    assert all(place.score < best.score / 2 for place in result.places if place.rank not in (None, 11))


def test_rank_0_can_be_the_silent_one() -> None:
    scan = hang(0)
    result = compare(scan, progress=temporal.compare(scan).progress)
    assert next(place for place in result.places if place.rank is not None).rank == 0


def test_the_lagging_rank_is_named_with_its_iteration() -> None:
    plan = Plan(rank_streams(8))
    for rank in range(8):
        for iteration in range(29 if rank == 3 else 30):
            plan.mark(rank, "iteration", iteration=iteration)
    scan = plan.scan()
    result = compare(scan, progress=temporal.compare(scan).progress)
    assert first(result) == ("n000", 3)
    assert result.places[0].reasons[0] == "its last iteration is 28, that of its peers 29"


def test_a_node_lacking_a_line_that_all_others_wrote_stands_out() -> None:
    scan = noisy(32, 0, {(node, "joined the group"): 1 for node in range(32) if node != 9})
    result = compare(scan)
    assert first(result) == ("n0009", None)
    assert result.places[0].reasons[0] == 'lacks "joined the group", which 31 of 32 nodes wrote'


def test_what_only_rank_0_writes_makes_it_no_candidate() -> None:
    plan = Plan(rank_streams(16))
    for rank in range(16):
        plan.say(rank, "hello")
    for text in ("saving the settings", "writing the summary", "throughput <*>"):
        plan.say(0, text, times=100)
        plan.say(15, f"last rank: {text}", times=100)
    assert compare(plan.scan()).places == ()


def test_a_fatal_line_of_rank_0_still_counts() -> None:
    plan = Plan(rank_streams(16))
    for rank in range(16):
        plan.say(rank, "hello")
    plan.say(0, "CUDA out of memory", faults=("gpu-oom",))
    scan = plan.scan()
    assert first(compare(scan, protected=protected(scan, "CUDA out of memory"))) == ("n000", 0)


def test_pipeline_stages_are_compared_within_themselves() -> None:
    """The last of 16 stages writes losses by nature; of its four ranks, one writes something else."""
    plan = Plan(rank_streams(64, per_node=4), facts=({"world_size": "64", "pp": "16"},))
    for rank in range(64):
        plan.say(rank, "hello")
        if rank >= 60:
            plan.say(rank, "loss <*>", times=50)
        if rank == 61:
            plan.say(rank, "socket was reset", faults=("reset",))
    result = compare(plan.scan())
    assert [place.rank for place in result.places if place.rank is not None] == [61]
    assert all("loss" not in reason for place in result.places for reason in place.reasons)


def test_the_first_of_two_ranks_with_fatal_lines_comes_first() -> None:
    plan = Plan(rank_streams(32))
    for rank in range(32):
        plan.say(rank, "hello", time=1.0)
    plan.say(20, "bus error", time=50.0, faults=("a",))
    plan.say(9, "peer is gone", time=51.0, faults=("b",))
    assert [place.rank for place in compare(plan.scan()).places if place.rank is not None][:2] == [20, 9]


def test_what_the_job_went_on_after_weighs_less() -> None:
    plan = Plan(rank_streams(16))
    for rank in range(16):
        for iteration in range(40):
            plan.mark(rank, "iteration", iteration=iteration)
            if (rank, iteration) == (5, 3):
                plan.say(rank, "write failed, trying again", faults=("io",))
            if (rank, iteration) == (9, 39):
                plan.say(rank, "read failed", faults=("io",))
    scores = {place.rank: place.score for place in compare(plan.scan()).places}
    assert scores[9] > scores.get(5, 0.0)


def test_many_nodes_with_ordinary_lines_of_their_own_are_no_candidates() -> None:
    assert compare(noisy(64, 0, {(node, f"mounted volume <*> {node}"): 1 for node in range(64)})).places == ()


def test_few_ranks_are_compared_without_a_forest() -> None:
    plan = Plan(rank_streams(8))
    for rank in range(8):
        plan.say(rank, "retry", times=2000 if rank == 6 else 3)
    result = compare(plan.scan())
    assert first(result) == ("n000", 6)
    assert "forest" not in result.note
    assert "2,000 lines" in result.places[0].reasons[0]


def test_one_mixed_log_leaves_nothing_to_compare() -> None:
    plan = Plan([Stream(0, "job.log", "")])
    plan.say(0, "hello")
    result = compare(plan.scan())
    assert not result.ran
    assert result.note


def test_scores_stay_between_0_and_1_and_the_order_is_stable() -> None:
    planted = {(node, f"failure {n}"): 100 for n in range(30) for node in (4, 5, n % 7)}
    scan = noisy(40, 50, planted)
    fatal = frozenset(at for at, template in enumerate(scan.templates) if template.text.startswith("failure"))
    result = compare(scan, protected=fatal)
    assert result == compare(scan, protected=fatal)
    assert all(0 < place.score <= 1 for place in result.places)
    assert [place.score for place in result.places] == sorted((p.score for p in result.places), reverse=True)
    assert all(len(place.reasons) <= 5 for place in result.places)


def test_hostile_template_text_is_cut_and_freed_of_control_characters() -> None:
    text = "\x1b[31m" + "x" * 5000
    scan = noisy(16, 0, {(3, text): 1})
    result = compare(scan, protected=protected(scan, text))
    assert len(result.places[0].reasons[0]) < 200
    assert "\x1b" not in result.places[0].reasons[0]
