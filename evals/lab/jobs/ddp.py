"""Data-parallel training of a small network: the plainest recipe."""

from __future__ import annotations

import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from evals.lab.jobs.harness import Harness, launch


def build(run: Harness) -> tuple[DistributedDataParallel, torch.optim.Optimizer]:
    """The model, wrapped, with the weights of the checkpoint where the run goes on from one."""
    run.at("build")
    torch.manual_seed(17)
    hidden = run.settings.hidden
    plain = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10))
    run.say(f"building model: {sum(p.numel() for p in plain.parameters())} parameters")
    state = run.resume()
    if state is not None:
        plain.load_state_dict(state)
        run.loaded()
    model = DistributedDataParallel(plain)
    return model, torch.optim.SGD(model.parameters(), lr=1e-2)


def advance(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor, classes: torch.Tensor
) -> tuple[float, float]:
    """One optimizer step, gradients averaged over all ranks; the loss, and the seconds until the averaging began."""
    began = time.monotonic()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), classes)
    computed = time.monotonic() - began
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return float(loss.detach()), computed


def evaluate(run: Harness, model: DistributedDataParallel, step: int) -> None:
    """A validation pass that ends in a reduction."""
    run.say(f"running evaluation at step {step}")
    run.at("evaluate", step)
    with torch.no_grad():
        score = float(model.module(torch.ones(4, run.settings.hidden)).mean())
    run.say(f"validation loss at step {step}: {run.reduced(-step, score):.4f}")


def train(run: Harness, model: DistributedDataParallel, optimizer: torch.optim.Optimizer) -> None:
    """The loop: a step, its line, now and then an evaluation or a checkpoint."""
    run.say("training ...")
    for step, (inputs, classes) in enumerate(run.batches(), start=run.settings.resume + 1):
        began = time.monotonic()
        run.at("step", step)
        waited = time.monotonic() - began
        loss, computed = advance(model, optimizer, inputs, classes)
        if run.settings.reduced_loss:
            loss = run.reduced(step, loss)
        time.sleep(max(0.0, run.settings.pace - (time.monotonic() - began)))
        run.progress(step, loss, time.monotonic() - began, waited + computed)
        if step % run.settings.evaluate_every == 0:
            evaluate(run, model, step)
        if step % run.settings.save_every == 0:
            run.save(step, model.module.state_dict())


def main(run: Harness) -> None:
    """From process group to the end of training."""
    run.start()
    model, optimizer = build(run)
    train(run, model, optimizer)
    run.finish()


if __name__ == "__main__":
    launch(main)
