"""Writes a made-up training job of a given size: one log a rank, many kinds of lines, one planted fault.

The same arguments give the same bytes. Rank `GUILTY` runs out of GPU memory in the last iteration; the others then time out
in a collective. Nothing in it comes from a real log.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

GUILTY = 77
VERSION = 4
"""Raised whenever other bytes are written, so that kept folders are made anew."""

_VERBS = "attached balanced bound cached checked cleared copied deferred flushed fused gathered mapped merged moved pinned".split()
_NOUNS = (
    "activation adapter allocator attention batch bias block bucket buffer cache channel chunk cluster codec cursor embedding "
    "epoch expert feature fragment gradient graph group handle head index kernel key layer lease mask matrix memo metric "
    "mesh module moment node norm offset optimizer order page partition patch pipeline plan pool prefix probe queue quota "
    "range record region replica router sample scale segment shard slice slot span stage state stream table tensor tile "
    "token trace tracker tree unit value vector view volume weight window worker"
).split()
_PLACES = "forward backward prologue epilogue warmup prefetch reduce scatter gather commit".split()
_LEVELS = ("DEBUG", "INFO", "INFO", "INFO", "WARNING")


@dataclass(frozen=True, slots=True)
class Shape:
    """How a job is cut up."""

    size: int
    """Bytes of the whole job, about."""
    files: int = 256
    kinds: int = 24_000
    """Distinct messages besides the usual training lines."""
    seed: int = 20_261

    @property
    def name(self) -> str:
        return f"job-{self.size // 1_000_000}mb-{self.files}-v{VERSION}"


def generate(folder: Path, shape: Shape) -> Path:
    """The job's folder, written unless it stands there already."""
    job = folder / shape.name
    done = job / "shape.json"
    if done.exists() and json.loads(done.read_text()) == asdict(shape):
        return job / "logs"
    logs = job / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    messages = _messages(shape)
    per_file = shape.size // shape.files
    for number in range(shape.files):
        with (logs / f"rank-{number:05d}.log").open("w", encoding="utf-8") as out:
            out.writelines(_Writer(number, shape, messages).text(per_file))
    done.write_text(json.dumps(asdict(shape)))
    return logs


def _messages(shape: Shape) -> list[str]:
    """Distinct messages with slots for numbers."""
    rng = random.Random(shape.seed)
    made: dict[str, None] = {}
    while len(made) < shape.kinds:
        a, b, c, d = rng.sample(_NOUNS, 4)
        slots = ("of {} rows", "in {} ms", "at 0x{:x}", "with {} of {} kept", "for layer {}")
        made[f"{rng.choice(_VERBS)} the {a} {b} {rng.choice(slots)} during {rng.choice(_PLACES)} because {c} {d} asked"] = None
    return list(made)


class _Writer:
    """One rank's log."""

    def __init__(self, rank: int, shape: Shape, messages: list[str]) -> None:
        self._rank = rank
        self._rng = random.Random(shape.seed * 1_000_003 + rank)
        common = messages[: shape.kinds // 8]
        self._messages = common + self._rng.sample(messages, min(len(messages), max(40, shape.kinds // 40)))
        self._host = f"gpu-{rank // 8:03d}"
        self._pid = 20_000 + rank * 7
        self._second = 0.0
        self._fails = rank == GUILTY % shape.files

    def text(self, size: int) -> Iterator[str]:
        """Lines of about `size` bytes together, the failure last."""
        written, iteration = 0, 0
        for part in self._start():
            written += len(part)
            yield part
        while written < size - 6_000:
            iteration += 1
            part = "".join(self._iteration(iteration))
            written += len(part)
            yield part
        yield from self._failure(iteration)

    def _stamp(self) -> str:
        self._second += self._rng.random() * 0.05
        whole = int(self._second)
        return f"2026-11-29 {8 + whole // 3600 % 14:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{int(self._second * 1000) % 1000:03d}"

    def _nccl(self, text: str) -> str:
        return f"{self._host}:{self._pid}:{self._pid + 60} [{self._rank % 8}] NCCL INFO {text}\n"

    def _start(self) -> Iterator[str]:
        yield f"{self._stamp()} INFO launcher: starting rank {self._rank} of the job on {self._host}\n"
        for channel in range(16):
            peers = f"{self._rank}[{self._rank % 8}] -> {(self._rank + 1) % 256}[{(self._rank + 1) % 8}]"
            yield self._nccl(f"Channel {channel:02d}/0 : {peers} via NET/IB/{channel % 4}/GDRDMA")
        yield self._nccl(f"ncclCommInitRank comm 0x{self._rng.getrandbits(44):x} rank {self._rank} nranks 256 - Init COMPLETE")

    def _iteration(self, number: int) -> Iterator[str]:
        rng = self._rng
        yield (
            f"[{self._stamp()}] iteration {number:8d}/  500000 | consumed samples: {number * 1024:12d} | elapsed time per iteration "
            f"(ms): {2000 + rng.random() * 400:.1f} | learning rate: {3e-4 * rng.random():.6E} | global batch size:  1024 | lm loss: "
            f"{2 + rng.random():.6E} | loss scale: 1.0 | grad norm: {rng.random() * 3:.3f} | number of skipped iterations:   0 |\n"
        )
        for _ in range(rng.randint(14, 30)):
            yield self._line(number)

    def _line(self, number: int) -> str:
        rng, kind = self._rng, self._rng.random()
        if kind < 0.72:
            message = rng.choice(self._messages)
            values = (rng.randrange(1, 10 ** rng.randint(1, 6)), rng.randrange(1, 9000))
            return f"{self._stamp()} {rng.choice(_LEVELS)} trainer.{self._host}: {message.format(*values)}\n"
        if kind < 0.80:
            return f"{self._stamp()} INFO loader: worker {rng.randrange(8)} read /data/corpus/shard-{rng.randrange(99999):05d}.bin in {rng.randrange(900)} ms\n"
        if kind < 0.87:
            return self._nccl(f"AllReduce: opCount {number:x} sendbuff 0x{rng.getrandbits(46):x} count {rng.randrange(10**8)} datatype 9 op 0")
        if kind < 0.93:
            return f"    (rank {self._rank}) forward-compute: {rng.random() * 900:.2f}  backward-compute: {rng.random() * 1500:.2f}\n"
        if kind < 0.97:
            return f"{self._stamp()} INFO memory: allocated {rng.random() * 70:.2f} GiB, reserved {rng.random() * 78:.2f} GiB, retries {rng.randrange(4)}\n"
        return f"{self._stamp()} WARNING storage: slow write of {rng.randrange(10**9)} bytes, retry {rng.randrange(3)} succeeded after {rng.random():.3f} s\n"

    def _failure(self, iteration: int) -> Iterator[str]:
        if self._fails:
            yield (
                "Traceback (most recent call last):\n"
                '  File "/work/train.py", line 311, in <module>\n    main()\n'
                '  File "/work/train.py", line 288, in main\n    loss.backward()\n'
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 5 has a total capacity of 79.10 GiB "
                "of which 1.02 GiB is free.\n"
            )
            return
        self._second += 600
        yield (
            f"[rank{self._rank}]:[E1129 {8 + int(self._second) // 3600 % 14:02d}:{int(self._second) // 60 % 60:02d}:"
            f"{int(self._second) % 60:02d}.000000000 ProcessGroupNCCL.cpp:632] [Rank {self._rank}] Watchdog caught collective "
            f"operation timeout: WorkNCCL(SeqNum={iteration * 40}, OpType=ALLREDUCE, NumelIn=65536, NumelOut=65536, "
            "Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
        )
