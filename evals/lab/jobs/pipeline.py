"""Pipeline- and data-parallel training in two stages, told the Megatron way: iterations by the last rank alone."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.nn.parallel import DistributedDataParallel

from evals.lab.jobs.harness import Harness, launch
from evals.lab.jobs.loop import train
from evals.lab.jobs.mesh import grid

STAGES = 2
PARTS = 4
"""Micro-batches that a batch is cut into."""


class Staged:
    """This rank's stage, its replicas in the other pipelines, and the schedule of micro-batches."""

    def __init__(self, run: Harness) -> None:
        self.run = run
        self.mesh = grid(STAGES, ("pp", "dp"), run.settings.timeout)
        self.number = self.mesh.get_local_rank("pp")
        self.last = self.number == STAGES - 1
        run.at("build")
        layers = self.build()
        self.model = DistributedDataParallel(layers, process_group=self.mesh.get_group("dp"))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-2)
        stage = PipelineStage(self.model, self.number, STAGES, torch.device("cpu"), group=self.mesh.get_group("pp"))
        self.schedule = Schedule1F1B(stage, n_microbatches=PARTS, loss_fn=nn.functional.cross_entropy)
        self.passed("model, optimizer, and learning rate scheduler are built")

    def build(self) -> nn.Sequential:
        """The stage's layers, with the weights of its checkpoint where the run goes on from one."""
        torch.manual_seed(17 + self.number)
        hidden = self.run.settings.hidden
        tail = [nn.Linear(hidden, 10)] if self.last else []
        layers = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), *tail)
        count = sum(p.numel() for p in layers.parameters())
        if self.mesh.get_local_rank("dp") == 0:
            self.run.say(
                f" > number of parameters on (tensor, pipeline) model parallel rank (0, {self.number}): {count}"
            )
        state = self.run.resume()
        if state is not None:
            layers.load_state_dict(state)
            self.run.loaded()
        return layers

    def passed(self, what: str) -> None:
        """A mark with the time of day, told by the first rank after all have reached it."""
        dist.barrier()
        if self.run.rank == 0:
            self.run.say(f"[after {what}] datetime: {datetime.now():%Y-%m-%d %H:%M:%S}")

    def advance(self, inputs: torch.Tensor, classes: torch.Tensor) -> float:
        """One optimizer step; zero on all stages but the last, which alone knows the loss."""
        losses: list[torch.Tensor] = []
        self.optimizer.zero_grad()
        if self.last:
            self.schedule.step(target=classes, losses=losses)
        else:
            self.schedule.step(inputs)
        self.optimizer.step()
        return sum(float(loss.detach()) for loss in losses) / PARTS

    def validate(self) -> float:
        """The norm of this stage's weights: a forward pass would need the whole pipeline."""
        return sum(float(p.detach().norm()) for p in self.model.parameters())

    def save(self, step: int) -> None:
        """Every rank writes its stage."""
        began = time.monotonic()
        self.run.save(step, self.model.module.state_dict())
        if self.run.rank == self.run.world - 1:
            self.run.say(f"(min, max) time across ranks (ms): save-checkpoint: {(time.monotonic() - began) * 1000:.2f}")


def main(run: Harness) -> None:
    """From process group to the end of training."""
    run.settings = replace(run.settings, sharded=True)
    run.start()
    if run.rank == 0:
        run.say(f"using world size: {run.world}, data-parallel size: {run.world // STAGES}, pipeline size: {STAGES}")
    job = Staged(run)
    if run.rank == 0:
        run.say("training ...")
    job.passed("training is set up")
    train(run, job, reports=run.rank == run.world - 1)
    run.finish()


if __name__ == "__main__":
    launch(main)
