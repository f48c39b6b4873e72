"""Writes a made-up training job of a given size: one log a rank, many kinds of lines, one planted fault.

The same arguments give the same bytes. Rank `GUILTY` runs out of GPU memory in its last iteration; the others then time
out in a collective. Nothing in it comes from a real log.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

GUILTY = 77
VERSION = 7
"""Raised whenever other bytes are written, so that kept folders are made anew."""
_RESERVE = 2_000
"""Bytes kept free for the failure."""

_WORDS = """
verb: attached balanced bound cached checked cleared copied deferred flushed fused gathered mapped merged moved pinned
verb: resumed rotated sealed spilled swapped traced trimmed tuned wrapped
noun: activation adapter allocator attention batch bias block bucket buffer cache channel chunk cluster codec cursor
noun: embedding epoch expert feature fragment gradient graph group handle head index kernel key layer lease mask matrix
noun: memo metric mesh module moment node norm offset optimizer order page partition patch pipeline plan pool prefix
noun: probe queue quota range record region replica router sample scale segment shard slice slot span stage state stream
noun: table tensor tile token trace tracker tree unit value vector view volume weight window worker
place: forward backward prologue epilogue warmup prefetch reduce scatter gather commit
slot: of_{}_rows in_{}_ms with_{}_of_{}_kept for_layer_{} after_{}_tries
unit: trainer loader planner reducer profiler checkpointer scheduler monitor
level: DEBUG INFO INFO INFO INFO WARNING
"""


def _vocabulary() -> dict[str, list[str]]:
    words: dict[str, list[str]] = {}
    for line in _WORDS.strip().splitlines():
        kind, _, listed = line.partition(": ")
        words.setdefault(kind, []).extend(listed.split())
    return words


WORDS = _vocabulary()
SENTENCES = 400
"""Ways to build a message; each leaves room for two varying words and some numbers."""


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
        """Of the folder."""
        return f"job-{self.size // 1_000_000}mb-{self.files}-v{VERSION}"


def generate(folder: Path, shape: Shape) -> Path:
    """The folder of the job's logs, written unless it stands there already."""
    job = folder / shape.name
    done = job / "shape.json"
    if done.exists() and json.loads(done.read_text()) == asdict(shape):
        return job / "logs"
    logs = job / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    messages = _messages(shape)
    for rank in range(shape.files):
        with (logs / f"rank-{rank:05d}.log").open("w", encoding="utf-8") as out:
            out.writelines(_Writer(rank, shape, messages).text(shape.size // shape.files))
    done.write_text(json.dumps(asdict(shape)))
    return logs


def _messages(shape: Shape) -> list[str]:
    """Distinct messages with slots for numbers: few sentences, many words in them."""
    rng = random.Random(shape.seed)
    sentences = [_sentence(rng) for _ in range(SENTENCES)]
    made: dict[str, None] = {}
    while len(made) < shape.kinds:
        first, second = rng.sample(WORDS["noun"], 2)
        made[rng.choice(sentences).replace("FIRST", first).replace("SECOND", second)] = None
    return list(made)


def _sentence(rng: random.Random) -> str:
    kinds = ("level", "unit", "verb", "slot", "place")
    level, unit, verb, slot, place = (rng.choice(WORDS[kind]) for kind in kinds)
    words = [verb, *rng.choices(WORDS["noun"] + WORDS["verb"], k=rng.randint(3, 11)), slot.replace("_", " "), place]
    words.insert(rng.randint(1, len(words)), "FIRST")
    words.insert(rng.randint(1, len(words)), "SECOND")
    return f"{level} {unit}: {' '.join(words)}"


class _Writer:
    """One rank's log."""

    def __init__(self, rank: int, shape: Shape, messages: list[str]) -> None:
        self._rank, self._ranks = rank, shape.files
        self._rng = random.Random(shape.seed * 1_000_003 + rank)
        own = self._rng.sample(messages, min(len(messages), max(40, shape.kinds // 40)))
        self._messages = messages[: shape.kinds // 8] + own
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
        while written < size - _RESERVE:
            iteration += 1
            for part in self._iteration(iteration):
                written += len(part)
                yield part
        yield self._out_of_memory() if self._fails else self._timeout(iteration)

    def _clock(self) -> str:
        whole = int(self._second)
        return f"{8 + whole // 3600 % 14:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"

    def _stamp(self) -> str:
        self._second += self._rng.random() * 0.05
        return f"2026-11-29 {self._clock()}.{int(self._second * 1000) % 1000:03d}"

    def _nccl(self, text: str) -> str:
        return f"{self._host}:{self._pid}:{self._pid + 60} [{self._rank % 8}] NCCL INFO {text}\n"

    def _start(self) -> Iterator[str]:
        rank, following = self._rank, (self._rank + 1) % self._ranks
        yield f"{self._stamp()} INFO launcher: starting rank {rank} of the job on {self._host}\n"
        for channel in range(16):
            peers = f"{rank}[{rank % 8}] -> {following}[{following % 8}]"
            yield self._nccl(f"Channel {channel:02d}/0 : {peers} via NET/IB/{channel % 4}/GDRDMA")
        comm = self._rng.getrandbits(44)
        yield self._nccl(f"ncclCommInitRank comm 0x{comm:x} rank {rank} nranks {self._ranks} - Init COMPLETE")

    def _iteration(self, number: int) -> Iterator[str]:
        rng = self._rng
        yield " | ".join(
            (
                f"[{self._stamp()}] iteration {number:8d}/  500000",
                f"consumed samples: {number * 1024:12d}",
                f"elapsed time per iteration (ms): {2000 + rng.random() * 400:.1f}",
                f"learning rate: {3e-4 * rng.random():.6E}",
                "global batch size:  1024",
                f"lm loss: {2 + rng.random():.6E}",
                "loss scale: 1.0",
                f"grad norm: {rng.random() * 3:.3f}",
                "number of skipped iterations:   0 |\n",
            )
        )
        for _ in range(rng.randint(14, 30)):
            yield self._line(number)

    def _line(self, number: int) -> str:
        kind = self._rng.random()
        if kind < 0.72:
            return self._message()
        if kind < 0.76:
            address, count = self._rng.getrandbits(46), self._rng.randrange(10**8)
            return self._nccl(f"AllReduce: opCount {number:x} sendbuff 0x{address:x} count {count} datatype 9 op 0")
        return self._usual(kind)

    def _message(self) -> str:
        rng = self._rng
        values = rng.randrange(1, 10 ** rng.randint(1, 6)), rng.randrange(1, 9000)
        text = rng.choice(self._messages).format(*values)
        return f"{self._stamp()} {self._host} {text}\n"

    def _usual(self, kind: float) -> str:
        rng = self._rng
        if kind < 0.85:
            times = rng.random() * 900, rng.random() * 1500
            return f"    (rank {self._rank}) forward-compute: {times[0]:.2f}  backward-compute: {times[1]:.2f}\n"
        if kind < 0.92:
            shard, spent = rng.randrange(99999), rng.randrange(900)
            text = f"INFO loader: worker {rng.randrange(8)} read /data/corpus/shard-{shard:05d}.bin in {spent} ms"
        elif kind < 0.98:
            used = rng.random() * 70
            text = f"INFO memory: allocated {used:.2f} GiB, reserved {used + 5:.2f} GiB, retries {rng.randrange(4)}"
        else:
            size, tries = rng.randrange(10**9), rng.randrange(3)
            text = f"WARNING storage: slow write of {size} bytes, retry {tries} succeeded after {rng.random():.3f} s"
        return f"{self._stamp()} {text}\n"

    def _out_of_memory(self) -> str:
        frames = ((311, "<module>", "main()"), (288, "main", "loss.backward()"))
        stack = "".join(f'  File "/opt/train/train.py", line {n}, in {name}\n    {code}\n' for n, name, code in frames)
        return (
            f"Traceback (most recent call last):\n{stack}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
            "2.50 GiB. GPU 5 has a total capacity of 79.10 GiB of which 1.02 GiB is free.\n"
        )

    def _timeout(self, iteration: int) -> str:
        self._second += 600
        return (
            f"[rank{self._rank}]:[E1129 {self._clock()}.000000000 ProcessGroupNCCL.cpp:632] [Rank {self._rank}] "
            f"Watchdog caught collective operation timeout: WorkNCCL(SeqNum={iteration * 40}, OpType=ALLREDUCE, "
            "NumelIn=65536, NumelOut=65536, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
        )
