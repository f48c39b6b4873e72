"""The loss that a progress line states is found in plain words too, and nothing else is taken for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.patterns.losses import loss_curve
from assistant.pipeline import Options, examine

SAYS = [
    " iteration {n}/40 | loss: {loss}",
    " iteration 1{n}/40 | loss: {loss}",
    "{n}/40 | loss: {loss}",
    "2031-04-02 10:00:{n} INFO [{n}/40] lr: 1e-05 | loss: {loss}",
    "2031-04-02 10:00:{n} [INFO] train: Step: {n}/90 | loss: {loss} | step time: 200.0 ms",
    "iter {n}: loss {loss}, time 812.1ms, mfu 41%",
    "2031-04-02 10:00:{n} step {n}: train_loss={loss} eval_loss=9.9",
    "2031-04-02 10:00:{n} step {n} val_loss=9.9 total_loss={loss}",
    "Training:  12%|#2 | {n}/40 [00:10<01:20,  1.1it/s, loss={loss}]",
    'Step {n}/100, "loss": {loss}, lr: 1e-05',
    '{{"step": {n}, "lr": 1e-05, "loss": {loss}}}',
    '{{"loss": {loss}, "step": {n}}}',
    "{{'loss': {loss}, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.{n}}}",
    "step {n} loss scale 65536.0 loss {loss}",
]
SAYS_NOT = [
    "step {n}: eval_loss={loss}, lr 1e-05",
    "step {n}: loss scale: {loss}, lr 1e-05",
    "step {n}: packet loss 3%, lr 1e-05",
    "step {n}: the loss of 3 ranks, lr 1e-05",
    "2031/04/{n} | loss: {loss}",
]


def curve(folder: Path, line: str) -> list[float]:
    file = folder / "rank0.log"
    lines = [line.format(n=number, loss=f"2.{99 - number}") for number in range(10, 40)]
    file.write_text("\n".join([*lines, "torch.OutOfMemoryError: CUDA out of memory."]) + "\n")
    return [loss for _, loss in loss_curve(examine([str(file)], Options()).reading.scan)]


@pytest.mark.parametrize("line", SAYS)
def test_a_loss_in_plain_words_is_read(tmp_path: Path, line: str) -> None:
    found = curve(tmp_path, line)
    assert (found[0], found[-1], len(found)) == (2.89, 2.60, 30)


@pytest.mark.parametrize("line", SAYS_NOT)
def test_another_number_is_no_training_loss(tmp_path: Path, line: str) -> None:
    assert curve(tmp_path, line) == []


def test_a_loss_that_became_nan_in_plain_words_is_told(tmp_path: Path) -> None:
    file = tmp_path / "rank0.log"
    lines = [f"step {number} | loss: {'nan' if number > 20 else 2.5}" for number in range(30)]
    file.write_text("\n".join([*lines, "RuntimeError: stopped"]) + "\n")
    seen = examine([str(file)], Options())
    assert "the loss became NaN at iteration 21" in seen.findings.temporal.note
    assert len(loss_curve(seen.reading.scan)) == 21


def test_the_curve_is_of_the_writer_with_the_most_losses(tmp_path: Path) -> None:
    for rank, count in ((0, 3), (1, 30)):
        text = "".join(f"step {number} | loss: {rank + 1}.5\n" for number in range(count))
        (tmp_path / f"rank-{rank}.log").write_text(text)
    found = loss_curve(examine([str(tmp_path)], Options()).reading.scan)
    assert set(found) == {(number, 2.5) for number in range(30)}
