"""What every laboratory job shares: options, voice, data, checkpoints, and the places where something may happen.

A recipe is a script that torchrun starts. It builds a `Harness` and calls `at(PLACE, STEP)` wherever a real job could
break; what is planned for that place, rank, step and attempt then happens. Launched, this file is called `common.py`
and lies beside the recipe, so that a traceback shows what any training code base could show.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record

from evals.lab.faults import CALLBACKS
from evals.lab.jobs.dataset import batches_of
from evals.lab.jobs.settings import Callback, Settings, read_settings
from evals.lab.jobs.voices import VOICES, Progress

Value = TypeVar("Value")
PLACES = (
    "start",
    "group",
    "build",
    "resume",
    "sample",
    "batch",
    "step",
    "metrics",
    "collective",
    "evaluate",
    "save",
    "write",
)
"""Before the process group; just after it; model and data set; checkpoint load; a sample in the data loader (its worker
where there are workers); a batch as it arrives; before forward; the tensor of metrics; before its reduction; an
evaluation; a checkpoint's begin; before its file is written (the value is the path)."""


class Harness:
    """One rank's run of a recipe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rank = int(os.environ.get("RANK", "0"))
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        self.attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
        self.voice = VOICES[settings.voice]()
        self.talks = settings.who_logs == "all" or self.rank == 0
        self.losses: list[float] = []

    def at(self, place: str, step: int = 0, value: Value = None) -> Value:  # type: ignore[assignment]
        """Lets happen what is planned here; returns the value, changed where the plan changes it."""
        if place == "step" and self.settings.marker:
            Path(f"{self.settings.marker}-{self.rank}.step").write_text(str(step), encoding="ascii")
        for planned in self.settings.callbacks:
            if planned.place == place and self._fits(planned, step):
                self._note(planned, step)
                time.sleep(planned.delay)
                callback = CALLBACKS[planned.name]
                value = callback(self, value, planned.detail)
        return value

    def _fits(self, planned: Callback, step: int) -> bool:
        last = planned.step if planned.until is None else planned.until
        who = not planned.ranks or self.rank in planned.ranks
        return who and planned.attempt in (-1, self.attempt) and planned.step <= step <= last

    def _note(self, planned: Callback, step: int) -> None:
        """Tells the laboratory, and nobody else, that it happens now."""
        if self.settings.marker:
            told: dict[str, Any] = {"name": planned.name, "place": planned.place, "rank": self.rank, "step": step}
            told |= {"time": time.time(), "pid": os.getpid()}
            with Path(f"{self.settings.marker}-{self.rank}.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")

    def say(self, text: str, level: int = logging.INFO) -> None:
        """A line of the job; warnings and errors are told by any rank."""
        if self.talks or level >= logging.WARNING:
            self.voice.tell(text, level)

    def start(self) -> None:
        """Greets, imports the packages of the job, joins the process group (gloo)."""
        self.say(f"starting on {socket.gethostname()}: rank {self.rank} of {self.world}, torch {torch.__version__}")
        if self.settings.settings_shown:
            self.say(f"config: hidden_size={self.settings.hidden} batch_size={self.settings.batch_size}")
        self.at("start")
        versions = self.load_packages()
        dist.init_process_group("gloo", timeout=timedelta(seconds=self.settings.timeout))
        self.at("group")
        self.say(f"process group ready, world size {self.world}, backend gloo")
        if self.settings.package_check:
            self.compare_versions(versions)

    def load_packages(self) -> dict[str, str]:
        """Imports what the job needs and tells the versions."""
        versions = {}
        for name in self.settings.packages:
            package = __import__(name)
            versions[name] = str(package.__version__)
            self.say(f"{name} {package.__version__} loaded")
            package.register()
        return versions

    def compare_versions(self, versions: dict[str, str]) -> None:
        """All nodes must have the same packages; RuntimeError otherwise."""
        found: list[Any] = [None] * self.world
        dist.all_gather_object(found, versions)
        for name in versions:
            told = [one[name] for one in found]
            if len(set(told)) > 1:
                raise RuntimeError(f"{name} differs between ranks: {told}")

    def batches(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Batches of `(inputs [batch, hidden], classes [batch])`, from worker processes where the settings say so."""
        return batches_of(self)

    def progress(self, step: int, loss: float, took: float, computed: float | None = None) -> None:
        """The line of a finished step; `computed` is the part of `took` that this rank did not wait."""
        if self.talks:
            self.voice.progress(Progress(step, self.settings.steps, loss, took, self.settings.batch_size))
            if self.settings.timers and computed is not None:
                waited = (took - computed) * 1000
                self.say(f"timers (ms) | forward: {computed * 1000:.1f} | all-reduce and wait: {waited:.1f}")
        self.check_loss(step, loss)

    def check_loss(self, step: int, loss: float) -> None:
        """Stops a run that learns no more: FloatingPointError or RuntimeError."""
        if loss != loss or loss in (float("inf"), float("-inf")):
            raise FloatingPointError(f"loss is {loss} at step {step}, stopping")
        mean = sum(self.losses) / max(len(self.losses), 1)
        if self.settings.loss_limit and len(self.losses) > 2 and loss > self.settings.loss_limit * mean:
            raise RuntimeError(f"loss spike at step {step}: {loss:.3f} against a mean of {mean:.3f}, stopping")
        self.losses.append(loss)

    def reduced(self, step: int, loss: float) -> float:
        """The mean of the loss over the ranks, by an all-reduce of a tensor of metrics."""
        metrics = self.at("metrics", step, torch.tensor([loss, 1.0, 0.0, float(self.settings.batch_size)]))
        self.at("collective", step)
        dist.all_reduce(metrics)
        return float(metrics[0]) / self.world

    def checkpoint(self, step: int) -> Path:
        """The file this rank writes or reads."""
        name = f"rank-{self.rank:02}/model.pt" if self.settings.sharded else "model.pt"
        return Path(self.settings.checkpoints) / f"step-{step}" / name

    def save(self, step: int, state: object) -> None:
        """Writes the state (each rank its own where sharded, else the first) and waits for the others."""
        self.say(f"saving checkpoint at step {step} to {self.settings.checkpoints}")
        self.at("save", step)
        if self.settings.sharded or self.rank == 0:
            target = self.checkpoint(step)
            target.parent.mkdir(parents=True, exist_ok=True)
            self.write(state, target)
        dist.barrier()
        self.say(f"successfully saved checkpoint at step {step}")

    def write(self, state: object, target: Path) -> None:
        """Writes one file; a storage that is busy is tried again."""
        self.at("write", 0, target)
        torch.save(state, target)

    def resume(self) -> Any:  # noqa: ANN401 - whatever the recipe saved
        """The state to go on from, None for a fresh start."""
        if not self.settings.resume:
            return None
        source = self.checkpoint(self.settings.resume)
        self.say(f"loading checkpoint from {source}")
        self.at("resume", self.settings.resume)
        return torch.load(source, weights_only=True)

    def loaded(self) -> None:
        """Tells that the checkpoint is in."""
        if self.settings.resume:
            self.say(f"resumed from step {self.settings.resume}")

    def finish(self) -> None:
        """Leaves the process group."""
        dist.barrier()
        dist.destroy_process_group()
        self.say("training finished")


def launch(main: Callable[[Harness], None]) -> None:
    """Runs a recipe with the settings of the command line, with or without torchelastic's error files."""
    settings = read_settings()
    run = Harness(settings)
    (record(main) if settings.record else main)(run)
