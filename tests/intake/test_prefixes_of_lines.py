"""Labels at the start of lines: found by sample, split off in bulk."""

from __future__ import annotations

import polars as pl
import pytest

from assistant.intake.dialects import load_dialects
from assistant.intake.prefixes import Labels, join_keys, parse_key, sniff_prefixes, split_line, split_series

PREFIXES = load_dialects().prefixes


def sniff(lines: list[str], *, sole: bool = False) -> Labels:
    return sniff_prefixes(lines, PREFIXES, sole_writer=sole)


def keys(lines: list[str], *, sole: bool = False) -> list[str]:
    return split_series(sniff(lines, sole=sole), pl.Series(lines))["key"].to_list()


@pytest.mark.parametrize(
    ("line", "key", "message"),
    [
        ("12: loading", "task=12", "loading"),
        ("  3: ready", "task=3", "ready"),
        ("[default3]:step 4", "local=3", "step 4"),
        ("[trainer0]: step 4", "local=0", " step 4"),
        ("[rank3]: Traceback", "rank=3", "Traceback"),
        ("[pod/llm-worker-3/pytorch] step", "pod=llm-worker-3", "step"),
        ("[1,3]<stdout>:step", "task=3", "step"),
        ("n03:42:43 [1] NCCL INFO x", "nccl=n03/42", "[1] NCCL INFO x"),
        ("(RayTrainWorker pid=123, ip=10.0.0.1) step", "ray=10.0.0.1/123", "step"),
        ("node12: step", "node=node12", "step"),
        ("[Rank 3] loading", "rank=3", "loading"),
        ("[default3]:[rank11]: Traceback", "local=3;rank=11", "Traceback"),
    ],
)
def test_a_label_names_its_writer_and_leaves_the_message(line: str, key: str, message: str) -> None:
    labels = sniff([line] * 5)
    assert split_line(labels, line) == (key, message)


def test_launcher_lines_keep_an_empty_key() -> None:
    lines = ["0: a", "1: b", "0: c", "1: d", "srun: error: n07: task 1: Exited", "+ echo done"]
    assert keys(lines)[-2:] == ["", ""]


def test_labels_that_start_late_are_found_in_the_later_part_of_the_sample() -> None:
    lines = ["+ setting up"] * 30 + [f"{i % 4}: x" for i in range(30)]
    assert keys(lines)[-1] == "task=1"


def test_ranks_that_repeat_their_tasks_make_the_task_a_rank() -> None:
    lines = ["0: step 1", "1: step 1", "1: [rank1]: Traceback", "0: step 2"]
    assert keys(lines) == ["rank=0", "rank=1", "rank=1", "rank=0"]


def test_ranks_of_a_launcher_a_node_stay_apart_from_the_task() -> None:
    lines = ["0: start", "1: start", "1: [rank13]: Traceback", "0: [rank0]: x"]
    assert keys(lines) == ["task=0", "task=1", "task=1;rank=13", "task=0;rank=0"]


def test_rank_zero_alone_does_not_prove_that_tasks_are_ranks() -> None:
    assert keys(["0: [rank0]: x", "1: y", "0: z"]) == ["task=0;rank=0", "task=1", "task=0"]


def test_nccl_lines_of_one_process_a_task_stay_with_the_task_and_keep_their_host() -> None:
    lines = [f"{i}: n0{i}:{100 + i}:7 [0] NCCL INFO x" for i in range(4)]
    frame = split_series(sniff(lines), pl.Series(lines))
    assert frame["key"].to_list() == ["task=0", "task=1", "task=2", "task=3"]
    assert frame["message"][2] == "n02:102:7 [0] NCCL INFO x"


def test_a_file_of_one_process_is_one_writer_with_or_without_labels() -> None:
    assert keys(["step 1", "step 2", "[rank7]: Traceback", "n03:4:5 [1] NCCL WARN x"], sole=True) == ["rank=7"] * 4


def test_a_mentioned_rank_identifies_the_writer_and_stays_in_the_message() -> None:
    lines = ["2026-11-29 17:36:46 INFO [rank: 3] loading", "2026-11-29 17:36:46 INFO [rank: 4] loading"]
    frame = split_series(sniff(lines), pl.Series(lines))
    assert frame["key"].to_list() == ["rank=3", "rank=4"]
    assert frame["message"].to_list() == lines


@pytest.mark.parametrize(
    "lines",
    [
        [f"{n}: def f():" for n in range(1, 40)],
        ["Warning: x", "Epoch: y", "step1: a", "note: b", "c", "d", "e", "f"],
        ["12:30:01 started", "12:30:02 done"],
    ],
    ids=["line numbers", "words with colons", "clock"],
)
def test_lookalikes_are_not_taken_for_labels(lines: list[str]) -> None:
    assert set(keys(lines)) == {""}


def test_bulk_and_single_splitting_agree() -> None:
    lines = ["0: [rank8]: a", "1: [rank9]: b", "plain", "", "1: x [rank: 3] y", "0: [rank8]: é"]
    labels = sniff(lines)
    frame = split_series(labels, pl.Series(lines))
    assert list(zip(frame["key"], frame["message"], strict=True)) == [split_line(labels, line) for line in lines]


def test_a_source_without_labels_is_returned_as_it_is() -> None:
    lines = pl.Series(["a", "b"])
    assert split_series(Labels(), lines)["message"].to_list() == ["a", "b"]


def test_keys_join_and_come_apart() -> None:
    assert join_keys("pod=a", "rank=3") == "pod=a;rank=3"
    assert join_keys("", "rank=3") == "rank=3"
    assert parse_key("task=1;nccl=n03/42") == {"task": "1", "nccl": "n03/42"}
