"""Tensor- and data-parallel training: each layer is split over pairs of ranks, the pairs average their gradients."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from evals.lab.jobs.harness import Harness, launch
from evals.lab.jobs.loop import load_shards, save_shards, train
from evals.lab.jobs.mesh import grid

KINDS = ("exception", "sigkill", "sigsegv", "silent_exit", "hang_compute", "memory_limit")
SPLIT = 2
"""Ranks that share one layer."""
LAYERS = 2


class Block(nn.Module):
    """Two linear layers with a residual path, as in a transformer's feed-forward part."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(hidden, 2 * hidden)
        self.down = nn.Linear(2 * hidden, hidden)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The block's output, of the shape of its input."""
        added: torch.Tensor = self.down(torch.relu(self.up(inputs)))
        return inputs + added


class Split:
    """The model, split and replicated, and its optimizer."""

    def __init__(self, run: Harness) -> None:
        self.run = run
        run.at("build")
        torch.manual_seed(17)
        hidden = run.settings.hidden
        self.model = nn.Sequential(*(Block(hidden) for _ in range(LAYERS)), nn.Linear(hidden, 10))
        self.mesh = grid(run.world // SPLIT, ("dp", "tp"), run.settings.timeout)
        self.split()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        load_shards(run, self.model, self.optimizer)

    def split(self) -> None:
        """Columns of the first layer and rows of the second go to the ranks of a pair."""
        tensor, data = (self.mesh.get_local_rank(name) for name in ("tp", "dp"))
        self.run.say(f"parallel dims: tp {SPLIT} dp {self.run.world // SPLIT}, this rank is tp {tensor} dp {data}")
        for block in list(self.model)[:LAYERS]:
            parallelize_module(block, self.mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        fully_shard(self.model, mesh=self.mesh["dp"])

    def advance(self, inputs: torch.Tensor, classes: torch.Tensor) -> float:
        """One optimizer step; the ranks of a pair work on the batch of the first of them."""
        group = self.mesh.get_group("tp")
        dist.broadcast(inputs, src=dist.get_global_rank(group, 0), group=group)
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(inputs), classes)
        loss.backward()  # type: ignore[no-untyped-call]
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
    job = Split(run)
    run.say("training ...")
    train(run, job)
    run.finish()


if __name__ == "__main__":
    launch(main)
