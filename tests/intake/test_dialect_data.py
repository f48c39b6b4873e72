"""The dialect entries: each proves itself on its own examples, and none steals another's lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.errors import KnowledgeError
from assistant.intake.dialects import EPOCHS, GENERIC, Dialects, compiled, fold_digits, load_dialects, problems_of
from assistant.intake.models import Dialect, MarkKind, MarkPattern

DIALECTS = load_dialects()
ALL = (*DIALECTS.prefixes, *DIALECTS.times, *DIALECTS.envelopes, *DIALECTS.progress)


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.id)
def test_an_entry_matches_its_examples_and_none_of_its_counter_examples(dialect: Dialect) -> None:
    assert problems_of(dialect) == []


def test_every_kind_has_entries_sorted_by_priority() -> None:
    for entries in (DIALECTS.prefixes, DIALECTS.times, DIALECTS.envelopes, DIALECTS.progress):
        assert entries
        assert [e.priority for e in entries] == sorted(e.priority for e in entries)


def first_iteration(dialects: Dialects, line: str) -> str | None:
    """The dialect that gives a line its iteration, as the scan chooses it."""
    for dialect in dialects.progress:
        for mark in dialect.marks:
            if mark.mark is MarkKind.ITERATION and compiled(mark.pattern).search(line):
                return dialect.id
    return None


def iteration_examples() -> list[tuple[str, str]]:
    marks = [(d.id, m) for d in DIALECTS.progress for m in d.marks if m.mark is MarkKind.ITERATION]
    return [(owner, text) for owner, mark in marks for text in mark.examples]


@pytest.mark.parametrize(("owner", "line"), iteration_examples(), ids=lambda value: value[:40])
def test_an_iteration_line_belongs_to_its_own_dialect(owner: str, line: str) -> None:
    assert first_iteration(DIALECTS, line) == owner


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (" iteration       10/     100 | consumed samples: 160 | lm loss: 9.9E+00 |", 10),
        ("[2026-11-29 17:36:46,1] [INFO] [logging.py:96:log_dist] [Rank 0] step=40, skipped=0, lr=[1e-05]", 40),
        ("  5%|5         | 50/1000 [00:10<03:20,  4.70it/s]", 50),
        ("Epoch 3:  12%|#2  | 12/100 [00:10<01:13,  1.20it/s, v_num=0]", 12),
        ("Training epoch 0, iteration 12/99 | lr: 1e-05 | global_step: 12 | reduced_train_loss: 11.03", 12),
        ("[titan] 2026-11-29 17:36:46,1 - root - INFO - step: 10  loss:  5.12  grad_norm:  1.2  memory: 20GiB", 10),
        ("DLL 2026-11-29 17:36:46.338296 - Iteration 84 | train_loss : 1.1", 84),
        ("DLL 2026-11-29 17:36:46.338296 - (3, 120) train.loss : 2.1", 120),
        ("epoch: 1 step: 10, loss is 2.3", 10),
        ('{"event": "data", "data": {"progress": [58, 60], "task": "early_stop"}, "pipe": "data"}', 58),
        ("completed step: 12, seconds: 1.203, TFLOP/s/device: 180.2, loss: 5.120", 12),
        ("train step 12 loss 2.31", 12),
        ("epoch 1 batch 12", 12),
        ("Epoch 3/10", 3),
    ],
)
def test_the_iteration_number_is_read(line: str, number: int) -> None:
    for dialect in DIALECTS.progress:
        for mark in dialect.marks:
            match = compiled(mark.pattern).search(line) if mark.mark is MarkKind.ITERATION else None
            if match:
                assert int(match.groupdict()["iteration"] or -1) == number
                return
    pytest.fail("no dialect knows the line")


@pytest.mark.parametrize(
    "line",
    [
        "eval_iter: 10",
        "  max_steps: 100",
        "step ID 4711",
        "saved to /out/step_12/model.pt",
        "RuntimeError: failed at step 12",
        "Step 3/14 : RUN pip install torch",
        "slurmstepd: error: *** STEP 4711.0 ON n03 CANCELLED AT 2026-11-29T17:36:46 ***",
        "socket timeout after 12 s",
    ],
)
def test_lookalikes_are_no_iterations(line: str) -> None:
    assert first_iteration(DIALECTS, line) is None


def marks_of(line: str) -> set[tuple[str, str | None]]:
    return {
        (str(mark.mark), mark.stage)
        for dialect in DIALECTS.progress
        for mark in dialect.marks
        if compiled(mark.pattern).search(line)
    }


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("{'train_runtime': 812.4, 'train_loss': 1.2}", ("goal", "shutdown")),
        ("`Trainer.fit` stopped: `max_steps=100` reached.", ("goal", "shutdown")),
        (':::MLLOG {"key": "run_stop", "metadata": {"status": "success"}}', ("goal", "shutdown")),
        (':::MLLOG {"key": "run_stop", "metadata": {"status": "aborted"}}', ("stage", "shutdown")),
        (':::MLLOG {"key": "eval_start", "value": 0.1}', ("stage", "evaluation")),
        ("***** Running Evaluation *****", ("stage", "evaluation")),
        ("saving checkpoint at iteration      10 to /ckpt in torch format", ("stage", "checkpoint_save")),
        ("  successfully saved checkpoint at iteration      10 to /ckpt", ("checkpoint", "training")),
        (" loading checkpoint from /ckpt at iteration 500", ("stage", "checkpoint_load")),
        ("> initializing torch distributed ...", ("stage", "startup")),
        ("> building train, validation, and test datasets ...", ("stage", "loading")),
        ("INFO:torch.distributed.launcher.api:Starting elastic_operator with launch configs:", ("attempt", "startup")),
        ("[default] Worker group FAILED. 2/3 attempts left; will restart worker group", ("attempt", "startup")),
    ],
)
def test_stages_and_ends_are_recognised(line: str, mark: tuple[str, str]) -> None:
    assert mark in marks_of(line)


def test_generic_dialects_rank_behind_frameworks_and_epochs_last() -> None:
    priority = {dialect.id: dialect.priority for dialect in DIALECTS.progress}
    assert priority["megatron"] < GENERIC <= priority["generic-step"] < EPOCHS <= priority["generic-epoch"]


def test_folding_turns_every_digit_into_zero() -> None:
    assert fold_digits("step 12 of 100") == "step 00 of 000"


def test_a_pattern_that_needs_a_digit_fails_on_folded_text() -> None:
    mark = MarkPattern(MarkKind.ITERATION, r"^v2 step (?P<iteration>\d+)", examples=("v2 step 4",))
    problems = problems_of(Dialect("x", "x", "progress", marks=(mark,)))
    assert any("folded" in problem for problem in problems)


ENTRY = "id: mine\ntitle: Mine\nkind: prefix\nformat: outer\npattern: '{pattern}'\nexamples: ['a1: x']\n"


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_a_later_folder_replaces_an_entry_of_the_same_id(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    write(first, "mine.yaml", ENTRY.format(pattern="^a1: "))
    write(second, "mine.yaml", ENTRY.format(pattern="^a1:"))
    assert [d.pattern for d in load_dialects([first, second]).prefixes] == ["^a1:"]


@pytest.mark.parametrize(
    "text",
    [
        "id: [",
        "id: mine\n",
        ENTRY.format(pattern="(?=x)"),
        ENTRY.format(pattern="^a1: ").replace("id: mine", "id: other"),
        ENTRY.format(pattern="^a1: ") + "colour: red\n",
        ENTRY.format(pattern="^a1: ").replace("outer", "sideways"),
    ],
    ids=["broken yaml", "incomplete", "look-ahead", "wrong name", "unknown key", "unknown format"],
)
def test_a_wrong_entry_is_refused_and_named(tmp_path: Path, text: str) -> None:
    write(tmp_path, "mine.yaml", text)
    with pytest.raises(KnowledgeError, match=r"mine\.yaml") as caught:
        load_dialects([tmp_path])
    assert caught.value.hint
