"""The training loop that the recipes of sharded, split and wrapped models share. Times are seconds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import torch
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

if TYPE_CHECKING:
    from evals.lab.jobs.harness import Harness


class Job(Protocol):
    """What a recipe adds to the loop."""

    def advance(self, inputs: torch.Tensor, classes: torch.Tensor) -> float:
        """One optimizer step; the loss."""

    def validate(self) -> float:
        """One forward pass on held-out data; its score on this rank."""

    def save(self, step: int) -> None:
        """Writes a checkpoint."""


def train(run: Harness, job: Job, *, reports: bool = True) -> None:
    """Steps, each with its line where this rank reports; now and then an evaluation or a checkpoint."""
    settings = run.settings
    for step, (inputs, classes) in enumerate(run.batches(), start=settings.resume + 1):
        began = time.monotonic()
        run.at("step", step)
        loss = job.advance(inputs, classes)
        if settings.reduced_loss:
            loss = run.reduced(step, loss)
        time.sleep(max(0.0, settings.pace - (time.monotonic() - began)))
        if reports:
            run.progress(step, loss, time.monotonic() - began)
        if step % settings.evaluate_every == 0:
            evaluate(run, job, step)
        if step % settings.save_every == 0:
            job.save(step)


def evaluate(run: Harness, job: Job, step: int) -> None:
    """A validation pass that ends in a reduction."""
    run.say(f"running evaluation at step {step}")
    run.at("evaluate", step)
    run.say(f"validation loss at step {step}: {run.reduced(-step, job.validate()):.4f}")


def save_shards(run: Harness, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """A distributed checkpoint: every rank writes its own shard, the first the index."""
    folder = shards(run, step)
    run.say(f"saving checkpoint at step {step} to {folder}")
    run.at("save", step)
    folder.mkdir(parents=True, exist_ok=True)
    run.at("write", step, folder / f"__{run.rank}_0.distcp")
    weights, moments = get_state_dict(model, optimizer)
    save({"model": weights, "optimizer": moments}, checkpoint_id=folder)
    run.say(f"successfully saved checkpoint at step {step}")


def load_shards(run: Harness, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Goes on from the distributed checkpoint that the settings name; nothing for a fresh start."""
    step = run.settings.resume
    if not step:
        return
    run.say(f"loading checkpoint from {shards(run, step)}")
    run.at("resume", step)
    weights, moments = get_state_dict(model, optimizer)
    load({"model": weights, "optimizer": moments}, checkpoint_id=shards(run, step))
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=moments)
    run.loaded()


def shards(run: Harness, step: int) -> Path:
    """The folder of a distributed checkpoint."""
    return Path(run.settings.checkpoints) / f"step-{step}"
