"""One node that states a setting or a version otherwise than all others; and what must not be taken for that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.case.models import Case
from assistant.pipeline import Options, diagnose, read
from assistant.signals import settings
from assistant.signals.models import Signal, SignalKind
from tests.diagnosis.jobs import healthy_rank, stamp, waited

SAID = "the model was built with hidden_size={}"
END = f"{stamp(40)} INFO training completed successfully\n"


def write(folder: Path, says: Callable[[int], str], *, world: int = 4, hangs: bool = False, nodes: bool = True) -> str:
    """A job of one rank a node in which rank r states `says(r)` once, and that hangs or reaches its goal."""
    for rank in range(world):
        place = f"n{rank + 1:02d}/rank-{rank}.log" if nodes else f"rank-{rank}.log"
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        start, rest = healthy_rank(rank, world, 4).split("\n", 1)
        text = f"{start}\n{stamp(1.5)} INFO {says(rank)}\n{rest}{waited(30 + 0.1 * rank) if hangs else END}"
        target.write_bytes(text.encode("utf-8", "surrogateescape"))
    return str(folder)


def signals(folder: str) -> list[Signal]:
    return list(settings.read(read([folder], Options(threads=1)).scan))


def case_of(folder: str) -> Case:
    return diagnose([folder], Options(threads=1))


def odd(rank: int, text: str, usual: object, other: object, who: int = 2) -> str:
    return text.format(other if rank == who else usual)


@pytest.mark.parametrize(
    ("text", "usual", "other"),
    [
        ("global_batch_size={} on this worker", 64, 96),
        ("seq_length: {} for all samples", 4096, 2048),
        ("config precision = '{}' chosen", "bf16", "fp16"),
        ("model.hidden_size={}", 1024, 1280),
        ("per_device_train_batch_size: {}", 8, 4),
        ("train_micro_batch_size_per_gpu = {}", 8, 4),
        ("{{'hidden_size': {}, 'vocab_size': 50000, 'dtype': 'bf16'}}", 1024, 1280),
        ('{{"lr": {}, "heads": 16}}', 0.001, 0.002),
        ("python train.py --seq-length={} --lr=0.1", 4096, 2048),
        ("driver version: {} on this host", "550.54.15", "535.129.03"),
        ("NCCL version {}+cuda12.4", "2.21.5", "2.19.3"),
        ("torch {} ready", "2.13.0", "2.12.1"),
        ("deepspeed version={}", "0.16.2", "0.15.4"),
    ],
)
def test_a_setting_that_one_node_states_otherwise_is_one_signal(
    tmp_path: Path, text: str, usual: object, other: object
) -> None:
    (signal,) = signals(write(tmp_path, lambda r: odd(r, text, usual, other)))
    assert (signal.kind, signal.node, signal.rank) == (SignalKind.SETTING, "n03", 2)
    assert str(other) in signal.value
    assert str(usual) in signal.value
    assert "3 other nodes" in signal.value
    assert str(other) in signal.evidence[0].text


def test_where_no_node_is_known_ranks_are_compared(tmp_path: Path) -> None:
    (signal,) = signals(write(tmp_path, lambda r: odd(r, "micro_batch_size={}", 4, 8), nodes=False))
    assert (signal.node, signal.rank) == (None, 2)
    assert "3 other ranks" in signal.value


def test_a_node_of_several_ranks_is_named_without_a_rank(tmp_path: Path) -> None:
    for rank in range(8):
        target = tmp_path / f"n{rank // 2 + 1:02d}/rank-{rank}.log"
        target.parent.mkdir(exist_ok=True)
        size = 8 if rank // 2 == 1 else 4
        target.write_text(healthy_rank(rank, 8, 3) + f"{stamp(20)} INFO micro_batch_size={size}\n", encoding="utf-8")
    (signal,) = signals(str(tmp_path))
    assert (signal.node, signal.rank) == ("n02", None)


@pytest.mark.parametrize(
    "text",
    [
        "loaded shard {} of the corpus",
        "shard_size={} bytes at hand",
        "num_samples_length={}",
        "token_batch_size={} in this part",
        "free_memory_size={} MiB",
        "local_batch_rank={}",
        "memory.used_size: {}",
        "seed_dim={}",
        "load_time_steps={}",
        "port_width={}",
        "elapsed {} s",
        "loss={} grad_norm=1.0",
        "dataset_size={} lines found",
        "size={} of what was found",
        "data_length: {}",
        "stage_width={}",
    ],
)
def test_what_differs_from_place_to_place_in_any_healthy_job_is_no_setting(tmp_path: Path, text: str) -> None:
    assert signals(write(tmp_path, lambda r: odd(r, text, 1024, 1025))) == []


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ((4, 8), "of two nodes neither stands alone"),
        ((4, 8, 16, 4), "three values"),
        ((4, 4, 8, 8), "two against two"),
        ((1, 2, 3, 4), "a value for each"),
        ((4, 4, 4, 4), "all agree"),
    ],
)
def test_only_one_against_all_others_that_agree_stands_alone(tmp_path: Path, values: tuple[int, ...], why: str) -> None:
    found = signals(write(tmp_path, lambda r: f"batch_size={values[r]} chosen", world=len(values)))
    assert found == [], why


def test_a_node_whose_own_ranks_disagree_proves_nothing(tmp_path: Path) -> None:
    for rank in range(8):
        target = tmp_path / f"n{rank // 2 + 1:02d}/rank-{rank}.log"
        target.parent.mkdir(exist_ok=True)
        size = 8 if rank == 3 else 4
        target.write_text(healthy_rank(rank, 8, 3) + f"{stamp(20)} INFO micro_batch_size={size}\n", encoding="utf-8")
    assert signals(str(tmp_path)) == []


def test_a_setting_that_most_nodes_do_not_state_is_not_compared(tmp_path: Path) -> None:
    found = signals(write(tmp_path, lambda r: "batch_size=4 chosen" if r < 2 else "nothing to say", world=8))
    assert found == []


def test_a_setting_that_three_of_many_state_is_not_compared_either(tmp_path: Path) -> None:
    found = signals(write(tmp_path, lambda r: f"batch_size={4 + r // 2} chosen" if r < 3 else "nothing", world=8))
    assert found == []


def test_a_value_that_is_logged_all_the_time_is_no_setting(tmp_path: Path) -> None:
    def said(rank: int) -> str:
        return f"\n{stamp(2)} INFO ".join(f"lr={0.1 + n + (rank == 2)} now" for n in range(8))

    assert signals(write(tmp_path, said)) == []


@pytest.mark.parametrize("cause", ["config.argument", "platform.version_mismatch"])
def test_in_a_hang_the_node_with_other_settings_is_blamed(tmp_path: Path, cause: str) -> None:
    text, usual, other = {
        "config.argument": ("micro_batch_size={} chosen", "4", "8"),
        "platform.version_mismatch": ("NCCL version {}", "2.21.5", "2.19.3"),
    }[cause]
    case = case_of(write(tmp_path, lambda r: odd(r, text, usual, other), hangs=True))
    assert case.status == "failed"
    assert case.verdict.cause == cause
    assert [(s.node, s.rank) for s in case.suspects] == [("n03", 2)]
    assert case.verdict.confidence == "medium"
    cited = {e.id: e.text for e in case.evidence}
    assert any(other in cited[e] for e in case.suspects[0].evidence)


def test_without_such_a_node_the_same_hang_blames_nobody(tmp_path: Path) -> None:
    case = case_of(write(tmp_path, lambda _: "micro_batch_size=4 chosen", hangs=True))
    assert case.verdict.cause == "collective.hang"
    assert case.suspects == ()


def test_a_healthy_run_stays_healthy_however_its_settings_differ(tmp_path: Path) -> None:
    case = case_of(write(tmp_path, lambda r: odd(r, "micro_batch_size={}, NCCL version 2.21.5", 4, 8)))
    assert (case.status, case.verdict.cause, case.suspects) == ("healthy", "none", ())


def test_stages_of_a_pipeline_may_hold_different_numbers_of_layers(tmp_path: Path) -> None:
    def said(rank: int, layers: str) -> str:
        return f"pipeline_model_parallel_size: 4\n{stamp(1.6)} INFO {layers}={6 if rank == 3 else 8} are built"

    options = Options(threads=1, topology={"pp": 4})
    assert diagnose([write(tmp_path / "a", lambda r: said(r, "num_layers"), hangs=True)], options).suspects == ()
    assert len(diagnose([write(tmp_path / "b", lambda r: said(r, "heads"), hangs=True)], options).suspects) == 1


def test_two_nodes_that_differ_in_different_things_leave_nobody_to_blame(tmp_path: Path) -> None:
    def said(rank: int) -> str:
        return f"batch_size={8 if rank == 1 else 4} chosen\n{stamp(1.6)} INFO hidden_size={9 if rank == 3 else 7} used"

    assert case_of(write(tmp_path, said, hangs=True)).suspects == ()


@pytest.mark.parametrize(
    "hostile",
    [
        "batch_size=" + "9" * (1 << 20),
        "batch_size" * 100_000 + "=4",
        "a-" * 50_000 + "batch=4",
        "a_" * 30_000 + "x",
        "x" * (1 << 20),
        "batch_size=\x00\x01\x1b[31m\udcff\udcfe",
        "version " * 100_000 + "1.2",
    ],
    ids=["digits", "names", "dashes", "parts", "letters", "binary", "versions"],
)
def test_hostile_lines_neither_break_nor_hide_what_is_odd(tmp_path: Path, hostile: str) -> None:
    folder = write(tmp_path, lambda r: f"{odd(r, SAID, 7, 9)}\n{stamp(1.6)} INFO {hostile}")
    assert [s.value.split(",")[0] for s in signals(folder)] == ["hidden_size=9"]


def test_a_long_run_of_name_parts_is_searched_in_no_time() -> None:
    """Quadratic search would not end within the patience of whoever runs this test."""
    for line in (
        "a_" * 32_000,
        "a-" * 32_000,
        "a." * 32_000,
        "batch." * 10_000,
        "batch_" * 10_000,
        "x-version " * 6000,
    ):
        assert list(settings.values(line)) == []


def test_thousands_of_templates_are_bounded(tmp_path: Path) -> None:
    words = [a + b + c for a in "bcdfghjklm" for b in "aeiou" for c in "npqrstvwxz"]

    def said(rank: int) -> str:
        lines = [f"{word} {word}er {word}ing batch={rank}" for word in words]
        return f"\n{stamp(1.6)} INFO ".join(lines)

    folder = write(tmp_path, said)
    scanned = read([folder], Options(threads=1)).scan
    rows = list(settings._read_lines(scanned))
    assert len({template for template, _, _ in rows}) <= settings.MOST_TEMPLATES
    assert settings.read(scanned) == settings.read(scanned) == ()


def test_what_was_removed_meanwhile_is_passed_over(tmp_path: Path) -> None:
    folder = write(tmp_path, lambda r: odd(r, "batch_size={}", 4, 8))
    scanned = read([folder], Options(threads=1)).scan
    for path in tmp_path.rglob("*.log"):
        path.unlink()
    assert settings.read(scanned) == ()
