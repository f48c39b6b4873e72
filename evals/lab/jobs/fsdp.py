"""Fully sharded data-parallel training (FSDP2, `fully_shard`): parameters are gathered anew for every layer."""

from __future__ import annotations

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from evals.lab.jobs.harness import Harness, launch
from evals.lab.jobs.loop import load_shards, save_shards, train

LAYERS = 4


class Sharded:
    """The model, wrapped layer by layer, and its optimizer."""

    def __init__(self, run: Harness) -> None:
        self.run = run
        run.at("build")
        torch.manual_seed(17)
        hidden = run.settings.hidden
        layers = [nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU()) for _ in range(LAYERS)]
        self.model = nn.Sequential(*layers, nn.Linear(hidden, 10))
        run.say(f"building model: {sum(p.numel() for p in self.model.parameters())} parameters")
        self.shard()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        load_shards(run, self.model, self.optimizer)

    def shard(self) -> None:
        """Spreads every layer over all ranks."""
        mesh = init_device_mesh("cpu", (self.run.world,))
        for layer in (*self.model, self.model):
            fully_shard(layer, mesh=mesh)
        self.run.say(f"applied fully_shard to {LAYERS + 1} modules over {self.run.world} ranks")

    def advance(self, inputs: torch.Tensor, classes: torch.Tensor) -> float:
        """One optimizer step with clipped gradients."""
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(inputs), classes)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())

    def validate(self) -> float:
        """The mean of the outputs for a batch of ones."""
        with torch.no_grad():
            return float(self.model(torch.ones(4, self.run.settings.hidden)).mean())

    def save(self, step: int) -> None:
        """A distributed checkpoint."""
        save_shards(self.run, self.model, self.optimizer, step)


def main(run: Harness) -> None:
    """From process group to the end of training."""
    run.start()
    job = Sharded(run)
    run.say("training ...")
    train(run, job)
    run.finish()


if __name__ == "__main__":
    launch(main)
