"""Logging dialects: how a laboratory job tells its progress and everything else.

Each is modelled on the line formats of a framework or of a common logging set-up. Times are seconds.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """One finished step."""

    step: int
    total: int
    loss: float
    took: float
    batch_size: int = 8


class Plain:
    """`step 7 loss 2.3026 ...` on standard output, without a time."""

    def tell(self, text: str, level: int = logging.INFO) -> None:
        """A line of the job itself."""
        print(text if level < logging.WARNING else f"{logging.getLevelName(level)}: {text}", flush=True)

    def progress(self, one: Progress) -> None:
        """The line of a finished step."""
        self.tell(f"step {one.step} loss {one.loss:.4f} lr 1.0e-03 ({one.took:.3f} s)")


class Timed(Plain):
    """The logging module's line with its own time, on standard error."""

    form = "%(asctime)s [%(levelname)s] %(name)s: %(message)s"

    def __init__(self) -> None:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(self.form))
        self.log = logging.getLogger("train")
        self.log.addHandler(handler)
        self.log.setLevel(logging.INFO)
        self.log.propagate = False

    def tell(self, text: str, level: int = logging.INFO) -> None:
        """A line of the job itself."""
        self.log.log(level, text)

    def progress(self, one: Progress) -> None:
        """The line of a finished step."""
        self.tell(f"Step: {one.step}/{one.total} | loss: {one.loss:.4f} | step time: {one.took * 1000:.1f} ms")


class Ranked(Timed):
    """As torchtitan: a label with the global rank, no time of day in the message."""

    form = "[rank%(rank)s]:%(asctime)s - root - %(levelname)s - %(message)s"

    def tell(self, text: str, level: int = logging.INFO) -> None:
        """A line of the job itself."""
        self.log.log(level, text, extra={"rank": os.environ.get("RANK", "0")})

    def progress(self, one: Progress) -> None:
        """The line of a finished step."""
        rate = round(one.batch_size * 512 / max(one.took, 1e-6))
        self.tell(f"step: {one.step:2}  loss: {one.loss:8.4f}  memory:  0.41GiB(0.52%)  tps: {rate:,}")


class Piped(Plain):
    """As loguru: fields between bars, place of the call included."""

    def tell(self, text: str, level: int = logging.INFO) -> None:
        """A line of the job itself."""
        now = datetime.now().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        print(f"{now} | {logging.getLevelName(level):<8} | __main__:run:88 - {text}", file=sys.stderr, flush=True)

    def progress(self, one: Progress) -> None:
        """The line of a finished step."""
        self.tell(
            f"epoch 0 step {one.step}/{one.total} loss={one.loss:.5f} lr=0.001 it/s={1 / max(one.took, 1e-6):.2f}"
        )


class Megatron(Plain):
    """Megatron-LM's bar-separated iteration line."""

    def progress(self, one: Progress) -> None:
        """The line of a finished step."""
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        self.tell(
            f" [{now}] iteration {one.step:8d}/{one.total:8d} | consumed samples: {one.step * 32:12d} | "
            f"elapsed time per iteration (ms): {one.took * 1000:.1f} | learning rate: 1.000000E-03 | "
            f"global batch size:    32 | lm loss: {one.loss:.6E} | "
            "number of skipped iterations:   0 | number of nan iterations:   0 |"
        )


class Trainer(Plain):
    """The dictionary line of the Hugging Face Trainer, which names no step."""

    def progress(self, one: Progress) -> None:
        """The line of a finished step."""
        epoch = round(one.step / one.total, 2)
        print({"loss": round(one.loss, 4), "grad_norm": 1.0, "learning_rate": 0.001, "epoch": epoch}, flush=True)


class Objects(Plain):
    """One JSON object a line, with rank and UTC time."""

    def tell(self, text: str, level: int = logging.INFO) -> None:
        """A line of the job itself."""
        self._write(level, text, {})

    def progress(self, one: Progress) -> None:
        """The line of a finished step."""
        values = {"step": one.step, "total": one.total, "loss": round(one.loss, 5), "seconds": round(one.took, 3)}
        self._write(logging.INFO, "train", values)

    def _write(self, level: int, text: str, values: dict[str, float]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        rank = int(os.environ.get("RANK", "0"))
        line = {"time": now, "level": logging.getLevelName(level).lower(), "rank": rank, "msg": text, **values}
        print(json.dumps(line), flush=True)


class DeepSpeedLike(Plain):
    """DeepSpeed's bracketed time, level and place."""

    def tell(self, text: str, level: int = logging.INFO) -> None:
        """A line of the job itself."""
        now = datetime.now().strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
        rank = os.environ.get("RANK", "0")
        print(f"[{now}] [{logging.getLevelName(level)}] [logging.py:96:log_dist] [Rank {rank}] {text}", flush=True)

    def progress(self, one: Progress) -> None:
        """The line of a finished step."""
        self.tell(
            f"step={one.step}, skipped=0, lr=[0.001], mom=[[0.9, 0.95]], loss={one.loss:.4f}, time={one.took:.3f}"
        )


VOICES: dict[str, type[Plain]] = {
    "plain": Plain,
    "timed": Timed,
    "ranked": Ranked,
    "piped": Piped,
    "megatron": Megatron,
    "trainer": Trainer,
    "objects": Objects,
    "deepspeed": DeepSpeedLike,
}
