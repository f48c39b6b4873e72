"""A small data-parallel training job that logs like a real one and can be made to fail in a chosen way.

Run by torchrun on the CPU (gloo). The log never says which callback was chosen, so that what it shows is what a real
failure of that kind shows. Times are seconds.
"""

from __future__ import annotations

import argparse
import ctypes
import logging
import mmap
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel

log = logging.getLogger("train")
WIDTH = 64


def options() -> argparse.Namespace:
    """The command line; `--when start` strikes before the process group exists."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--voice", choices=sorted(VOICES), default="plain")
    parser.add_argument("--who-logs", choices=("all", "first"), default="all")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--pace", type=float, default=0.2)
    parser.add_argument("--timeout", type=float, default=15.0)
    parser.add_argument("--out", type=Path, default=Path("checkpoints"))
    parser.add_argument("--callback", choices=sorted(CALLBACKS), default="nothing")
    parser.add_argument("--rank", type=int, default=-1, help="who suffers it; -1 everybody")
    parser.add_argument("--step", type=int, default=7)
    parser.add_argument("--when", choices=("start", "step", "evaluate", "save"), default="step")
    parser.add_argument("--attempt", type=int, default=-1, help="only in this attempt; -1 in each")
    parser.add_argument("--plain-main", action="store_true", help="without the @record decorator")
    return parser.parse_args()


def say_plain(step: int, total: int, loss: float, took: float) -> None:
    """`step 7 loss 2.3026 ...` on standard output, with no time."""
    print(f"step {step} loss {loss:.4f} lr 1.0e-03 ({took:.3f} s)", flush=True)


def say_timed(step: int, total: int, loss: float, took: float) -> None:
    """The logging module's line with an ISO time."""
    log.info("Step: %d/%d | loss: %.4f | step time: %.1f ms", step, total, loss, took * 1000)


def say_megatron(step: int, total: int, loss: float, took: float) -> None:
    """Megatron-LM's bar-separated iteration line."""
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    print(
        f" [{now}] iteration {step:8d}/{total:8d} | consumed samples: {step * 32:12d} | "
        f"elapsed time per iteration (ms): {took * 1000:.1f} | learning rate: 1.000000E-03 | "
        f"global batch size:    32 | lm loss: {loss:.6E} | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |",
        flush=True,
    )


def say_trainer(step: int, total: int, loss: float, took: float) -> None:
    """The dictionary line of the Hugging Face Trainer."""
    print(
        {"loss": round(loss, 4), "grad_norm": 1.0, "learning_rate": 0.001, "epoch": round(step / total, 2)}, flush=True
    )


VOICES: dict[str, Callable[[int, int, float, float], None]] = {
    "plain": say_plain,
    "timed": say_timed,
    "megatron": say_megatron,
    "trainer": say_trainer,
}


def check_sample() -> None:
    """An ordinary exception of user code."""
    sample = {"input_ids": list(range(5)), "index": 4711}
    if "labels" not in sample:
        raise KeyError("labels")


def allocate_workspace() -> None:
    """The text of a device allocator that found no room."""
    raise torch.OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.81 GiB is "
        "free. Process 4242 has 77.33 GiB memory in use. Of the allocated memory 74.20 GiB is allocated by PyTorch."
    )


def read_buffer() -> None:
    """A real segmentation fault in native code."""
    ctypes.string_at(0)


def read_page() -> None:
    """A real bus error: touches a page of a file that was cut meanwhile."""
    with tempfile.TemporaryFile() as file:
        file.truncate(1 << 16)
        pages = mmap.mmap(file.fileno(), 1 << 16)
        file.truncate(0)
        ctypes.string_at(ctypes.addressof(ctypes.c_char.from_buffer(pages, 40000)), 8)


def stop_answering() -> None:
    """A rank that no longer takes part and says nothing."""
    time.sleep(3600)


def stop_for_good() -> None:
    """The same, and deaf to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


def sum_metrics() -> None:
    """One collective more than the others do."""
    dist.all_reduce(torch.ones(7))


def load_kernels() -> None:
    """A package that one node lacks."""
    import fused_kernels_missing  # type: ignore[import-not-found]  # noqa: F401


def write_shard() -> None:
    """The error of a full file system."""
    raise OSError(28, "No space left on device", "checkpoints/step-8.pt")


def check_loss() -> None:
    """A check that stops the run when the loss is not finite."""
    raise FloatingPointError("loss is nan, stopping")


CALLBACKS: dict[str, Callable[[], None]] = {
    "nothing": lambda: None,
    "exception": check_sample,
    "oom": allocate_workspace,
    "segv": read_buffer,
    "bus": read_page,
    "abort": os.abort,
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(3),
    "exit0": lambda: os._exit(0),
    "hang": stop_answering,
    "deaf": stop_for_good,
    "extra": sum_metrics,
    "import": load_kernels,
    "space": write_shard,
    "nan": check_loss,
    "slow": lambda: time.sleep(1.0),
}


class Job:
    """One rank's run."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        self.rank = int(os.environ["RANK"])
        self.world = int(os.environ["WORLD_SIZE"])
        self.attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
        self.talks = chosen.who_logs == "all" or self.rank == 0

    def before(self, when: str, step: int) -> None:
        """Suffers the chosen callback if this is the place, the rank, the step and the attempt."""
        chosen = self.chosen
        here = chosen.when == when and chosen.rank in (-1, self.rank) and chosen.attempt in (-1, self.attempt)
        if here and (step >= chosen.step if chosen.callback == "slow" else step == chosen.step):
            CALLBACKS[chosen.callback]()

    def say(self, text: str) -> None:
        """A line of the job itself."""
        if self.talks:
            if self.chosen.voice == "timed":
                log.info(text)
            else:
                print(text, flush=True)

    def run(self) -> None:
        """From process group to the end of training."""
        self.say(f"starting on {socket.gethostname()}: rank {self.rank} of {self.world}, torch {torch.__version__}")
        self.before("start", self.chosen.step)
        dist.init_process_group("gloo", timeout=timedelta(seconds=self.chosen.timeout))
        self.say(f"process group ready, world size {self.world}, backend gloo")
        torch.manual_seed(17)
        plain = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10))
        model = DistributedDataParallel(plain)
        self.say(f"building model: {sum(p.numel() for p in model.parameters())} parameters")
        self.say("training ...")
        self.train(model, torch.optim.SGD(model.parameters(), lr=1e-3))
        dist.barrier()
        dist.destroy_process_group()
        self.say("training finished")

    def train(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """The loop: step, log, evaluate in the middle and at the end, save every eighth step."""
        for step in range(1, self.chosen.steps + 1):
            began = time.monotonic()
            self.before("step", step)
            loss = self.advance(model, optimizer)
            time.sleep(max(0.0, self.chosen.pace - (time.monotonic() - began)))
            if self.talks:
                VOICES[self.chosen.voice](step, self.chosen.steps, loss, time.monotonic() - began)
            if step % (self.chosen.steps // 2) == 0:
                self.evaluate(model, step)
            if step % 8 == 0:
                self.save(model, step)

    def advance(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> float:
        """One optimizer step on random data; the gradients are averaged over all ranks."""
        data, target = torch.randn(8, WIDTH), torch.randint(0, 10, (8,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data), target)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return float(loss.detach())

    def evaluate(self, model: nn.Module, step: int) -> None:
        """A validation pass that ends in a reduction."""
        self.say(f"running evaluation at step {step}")
        self.before("evaluate", step)
        with torch.no_grad():
            score = model(torch.randn(8, WIDTH)).mean()
        dist.all_reduce(score)
        self.say(f"validation loss at step {step}: {float(score) / self.world:.4f}")

    def save(self, model: nn.Module, step: int) -> None:
        """Rank 0 writes, the others wait."""
        self.say(f"saving checkpoint at step {step} to {self.chosen.out}")
        self.before("save", step)
        if self.rank == 0:
            self.chosen.out.mkdir(parents=True, exist_ok=True)
            torch.save(model.state_dict(), self.chosen.out / f"step-{step}.pt")
        dist.barrier()
        self.say(f"successfully saved checkpoint at step {step}")


def main() -> None:
    """Reads the options and runs, with or without error files."""
    chosen = options()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(name)s: %(message)s")
    job = Job(chosen)
    (job.run if chosen.plain_main else record(job.run))()


if __name__ == "__main__":
    main()
