"""Runs drawn at random from all that the catalogue can vary, so that nothing is fitted to the catalogue itself."""

from __future__ import annotations

import random

from evals.torchrun.cases import EXCEPTION, HANG, Run

CAUSES: dict[str, tuple[str, ...]] = {
    "exception": EXCEPTION,
    "oom": ("memory.gpu_oom",),
    "segv": ("process.segfault",),
    "bus": ("process.bus_error",),
    "abort": ("process.abort",),
    "kill": ("process.killed", "memory.host_oom"),
    "exit": ("process.exit",),
    "hang": HANG,
    "deaf": HANG,
    "space": ("storage.disk_full",),
}
HOSTS = ("n{:02}", "gpu-{:03}", "node{}", "cn-0-{}", "worker-{}")


def varied(seed: int, count: int) -> list[Run]:
    """The same runs for the same seed."""
    chance = random.Random(seed)
    return [_one(chance, f"random-{seed}-{number:02}") for number in range(count)]


def _one(chance: random.Random, name: str) -> Run:
    nodes, per_node = chance.choice([(1, 4), (4, 1), (2, 2)])
    mishap = chance.choice(sorted(CAUSES))
    rank, step = chance.randrange(nodes * per_node), chance.randint(3, 18)
    pattern, first = chance.choice(HOSTS), chance.randint(1, 40)
    streams = chance.choice(("redirects", "tee", "console"))
    voice = chance.choice(("plain", "timed", "megatron", "trainer"))
    return Run(
        name,
        mishap=mishap,
        rank=rank,
        guilty=rank,
        step=step,
        iteration=None if voice == "trainer" else step,
        nodes=nodes,
        per_node=per_node,
        voice=voice,
        who_logs=chance.choice(("all", "all", "first")),
        record=chance.random() < 0.7,
        streams=streams,
        rendezvous=chance.choice(("static", "c10d")) if nodes > 1 else "static",
        hosts=tuple(pattern.format(first + node) for node in range(4)),
        verbose=chance.random() < 0.3,
        reaper=chance.choice(("term", "kill")),
        causes=CAUSES[mishap],
    )
