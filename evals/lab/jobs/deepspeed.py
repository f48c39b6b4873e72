"""ZeRO training with DeepSpeed on the CPU, which logs in its own way; started by its own launcher or by torchrun."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import deepspeed  # type: ignore[import-not-found]
import torch
from deepspeed.utils.logging import set_log_level_from_string  # type: ignore[import-not-found]
from torch import nn

from evals.lab.jobs.harness import Harness, launch
from evals.lab.jobs.loop import train

NEEDS = ("deepspeed",)
STARTUP = 12.0
VOICES = ("deepspeed",)
STAGE = 1
"""How much ZeRO shards: the optimizer's state."""


class Engine:
    """DeepSpeed's engine around a small network."""

    def __init__(self, run: Harness) -> None:
        self.run = run
        run.at("build")
        torch.manual_seed(17)
        hidden = run.settings.hidden
        plain = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10))
        optimizer = torch.optim.AdamW(plain.parameters(), lr=1e-3)
        self.engine: Any = deepspeed.initialize(model=plain, optimizer=optimizer, config=self.config())[0]
        self.resume()

    def config(self) -> dict[str, Any]:
        """DeepSpeed's configuration from the job's settings."""
        return {
            "train_micro_batch_size_per_gpu": self.run.settings.batch_size,
            "gradient_accumulation_steps": 1,
            "gradient_clipping": 1.0,
            "steps_per_print": 1,
            "zero_optimization": {"stage": STAGE},
            "zero_allow_untested_optimizer": True,
            "bf16": {"enabled": True},
        }

    def resume(self) -> None:
        """Goes on from a checkpoint where the settings name one."""
        step = self.run.settings.resume
        if step:
            self.run.at("resume", step)
            found, _ = self.engine.load_checkpoint(self.run.settings.checkpoints, tag=f"global_step{step}")
            if found is None:
                raise FileNotFoundError(f"no checkpoint global_step{step} in {self.run.settings.checkpoints}")
            self.run.loaded()

    def advance(self, inputs: torch.Tensor, classes: torch.Tensor) -> float:
        """One step of the engine."""
        loss = nn.functional.cross_entropy(self.engine(inputs.bfloat16()).float(), classes)
        self.engine.backward(loss)
        self.engine.step()
        return float(loss.detach())

    def validate(self) -> float:
        """The mean of the outputs for a batch of ones."""
        with torch.no_grad():
            return float(self.engine(torch.ones(4, self.run.settings.hidden).bfloat16()).float().mean())

    def save(self, step: int) -> None:
        """Every rank writes its part of the optimizer's state, the first also the weights."""
        began = time.monotonic()
        self.run.at("save", step)
        folder = Path(self.run.settings.checkpoints) / f"global_step{step}"
        folder.mkdir(parents=True, exist_ok=True)
        self.run.at("write", step, folder / f"bf16_zero_pp_rank_{self.run.rank}_mp_rank_00_optim_states.pt")
        self.engine.save_checkpoint(self.run.settings.checkpoints, tag=f"global_step{step}")
        self.run.say(f"checkpoint of step {step} saved in {time.monotonic() - began:.2f} s")


def main(run: Harness) -> None:
    """From process group to the end of training."""
    set_log_level_from_string("info")
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # else half a minute of compiling; gloo does as well
    run.start()
    deepspeed.init_distributed("gloo")
    job = Engine(run)
    run.say("training ...")
    train(run, job)
    run.finish()


if __name__ == "__main__":
    launch(main)
