"""Fine-tuning of a tiny language model with the Hugging Face Trainer, which logs in its own way.

The model is built from a configuration, so nothing is downloaded.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.trainer_callback import TrainerControl, TrainerState

from evals.lab.jobs.harness import Harness, launch

NEEDS = ("transformers", "accelerate")
STARTUP = 10.0
VOICES = ("trainer",)
WORLDS = ((1, 2), (1, 4), (2, 1), (2, 2))
VOCABULARY = 128
LENGTH = 16


class Sentences(Dataset[dict[str, torch.Tensor]]):
    """Token sequences that follow from their index."""

    def __init__(self, run: Harness, size: int) -> None:
        self.run = run
        self.size = size

    def __len__(self) -> int:
        """How many sequences there are."""
        return self.size

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        """One sequence, which is its own label."""
        generator = torch.Generator().manual_seed(index)
        tokens = torch.randint(0, VOCABULARY, (LENGTH,), generator=generator)
        return {"input_ids": tokens, "labels": tokens}


class Pace(TrainerCallback):
    """What a project adds to the Trainer's steps."""

    def __init__(self, run: Harness) -> None:
        self.run = run
        self.began = 0.0

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **more: object
    ) -> None:
        """Before the forward pass."""
        self.began = time.monotonic()
        self.run.at("step", state.global_step + 1)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **more: object
    ) -> None:
        """Keeps the pace."""
        time.sleep(max(0.0, self.run.settings.pace - (time.monotonic() - self.began)))


class ProjectTrainer(Trainer):
    """The Trainer as a project extends it: own checks of loss, evaluation and checkpoint."""

    run: Harness

    def compute_loss(self, model: nn.Module, inputs: dict[str, Any], *more: Any, **named: Any) -> Any:  # noqa: ANN401
        """The loss of a batch, or the loss and the outputs; while training it has to be finite."""
        found: Any = super().compute_loss(model, inputs, *more, **named)
        if not model.training:
            return found
        step = self.state.global_step + 1
        loss = self.run.at("batch", step, found)
        value = float(loss.detach())
        self.run.check_loss(step, self.run.reduced(step, value) if self.run.settings.reduced_loss else value)
        return loss

    def evaluate(self, *more: Any, **named: Any) -> dict[str, float]:  # noqa: ANN401
        """The validation pass."""
        self.run.at("evaluate", self.state.global_step)
        scores: dict[str, float] = super().evaluate(*more, **named)
        return scores

    def _save_checkpoint(self, *more: Any, **named: Any) -> None:  # noqa: ANN401
        self.run.at("save", self.state.global_step)
        super()._save_checkpoint(*more, **named)

    def _save(self, output_dir: str | None = None, state_dict: dict[str, Any] | None = None) -> None:
        folder = Path(output_dir or "checkpoints")
        folder.mkdir(parents=True, exist_ok=True)
        self.run.at("write", self.state.global_step, folder / "training_args.bin")
        super()._save(output_dir, state_dict)


def arguments(run: Harness) -> TrainingArguments:
    """The Trainer's arguments from the job's settings."""
    settings = run.settings
    return TrainingArguments(
        output_dir=settings.checkpoints,
        use_cpu=True,
        ddp_backend="gloo",
        ddp_timeout=max(1, int(settings.timeout)),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.batch_size,
        logging_steps=1,
        save_steps=settings.save_every,
        eval_strategy="steps",
        eval_steps=settings.evaluate_every,
        dataloader_num_workers=settings.loader_workers,
        ddp_find_unused_parameters=False,
        report_to=[],
        log_level="info",
    )


def shape() -> GPT2Config:
    """A language model that fits anywhere."""
    return GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=LENGTH,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )


def build(run: Harness) -> ProjectTrainer:
    """Model, data and Trainer."""
    run.at("build")
    set_seed(17)
    model = GPT2LMHeadModel(shape())
    settings = run.settings
    count = settings.samples or settings.steps * settings.batch_size * run.world
    trainer = ProjectTrainer(
        model=model,
        args=arguments(run),
        train_dataset=Sentences(run, count),
        eval_dataset=Sentences(run, settings.batch_size * run.world),
        callbacks=[Pace(run)],
    )
    trainer.run = run
    return trainer


def main(run: Harness) -> None:
    """From process group to the end of training."""
    run.start()
    trainer = build(run)
    source = None
    if run.settings.resume:
        source = str(Path(run.settings.checkpoints) / f"checkpoint-{run.settings.resume}")
        run.at("resume", run.settings.resume)
    trainer.train(resume_from_checkpoint=source)
    run.finish()


if __name__ == "__main__":
    launch(main)
