"""How a job looks before anything is done to it: drawn from a seed, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from evals.lab.job import Job
from evals.lab.jobs.voices import VOICES

HOSTS = ("n{:02}", "gpu-{:03}", "node{}", "cn-0-{}", "worker-{}", "ip-10-4-{}-17", "hpc{:04}", "rack3-gpu{}")
SHAPES = (((1, 4), 9), ((2, 2), 7), ((4, 1), 4), ((2, 4), 1), ((4, 2), 1))
"""Launchers and ranks per launcher, with weights: eight ranks cost twice the time."""
LARGE_VOICES = {(2, 4): ("ranked", "objects"), (4, 2): ("timed", "megatron")}
"""Dialects of the large shapes, so that few healthy twins serve them all."""
CAN_LABEL = ("ranked", "objects", "deepspeed")
"""Dialects whose lines tell the rank by themselves."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A job without a fault and the chance that draws the fault."""

    job: Job
    chance: random.Random
    number: int
    """How many-eth run of its kind it is."""

    def rank(self, among: tuple[int, ...] | None = None) -> int:
        """Some rank."""
        return self.chance.choice(among or tuple(range(self.job.world)))

    def node(self) -> int:
        """Some node."""
        return self.chance.randrange(self.job.nodes)

    def step(self, first: int = 4, last: int | None = None) -> int:
        """Some step; far enough from both ends."""
        total = int(str(self.job.settings["steps"]))
        return self.chance.randint(first, last or total - 4)

    @property
    def labelled(self) -> bool:
        """Whether one can tell which rank wrote a line."""
        return self.job.streams != "console" or self.job.voice in CAN_LABEL

    @property
    def all_log(self) -> bool:
        """Whether every rank tells its progress."""
        return self.job.settings["who_logs"] == "all"


def shape_of(chance: random.Random, nodes: str) -> tuple[int, int]:
    """Launchers and ranks per launcher, for `any`, `several` or `one`."""
    fits = [(shape, weight) for shape, weight in SHAPES if nodes == "any" or (shape[0] > 1) == (nodes == "several")]
    return chance.choices([shape for shape, _ in fits], [weight for _, weight in fits])[0]


def plain_job(kind: str, flavour: str, number: int, seed: int, shape: tuple[int, int] | None, nodes: str) -> Draw:
    """A healthy job of the plain recipe, with the seed's shape, dialect and ways."""
    chance = random.Random(f"{seed} {kind} {flavour} {number}")
    launchers, ranks = shape or shape_of(chance, nodes)
    voice = chance.choice(LARGE_VOICES.get((launchers, ranks), tuple(VOICES)))
    job = Job(
        name=f"{kind}-{number:02}",
        kind=kind,
        flavour=flavour,
        seed=seed,
        recipe="ddp",
        voice=voice,
        nodes=launchers,
        per_node=ranks,
        hosts=hosts_of(chance, launchers),
        streams=chance.choice(("redirects", "redirects", "tee", "console")),
        rendezvous=chance.choice(("static", "static", "c10d")) if launchers > 1 else "static",
        verbose=chance.random() < 0.3,
        reaper=chance.choice(("term", "term", "kill")),
        settings=settings_of(chance, voice),
    )
    return Draw(job, chance, number)


def hosts_of(chance: random.Random, count: int) -> tuple[str, ...]:
    """Names of nodes after one pattern, not always in a row."""
    pattern = chance.choice(HOSTS)
    numbers = sorted(chance.sample(range(1, 60), count)) if chance.random() < 0.5 else range(7, 7 + count)
    return tuple(pattern.format(number) for number in numbers)


def settings_of(chance: random.Random, voice: str) -> Mapping[str, object]:
    """The ways of a job that have nothing to do with faults."""
    return {
        "voice": voice,
        "who_logs": chance.choice(("all", "all", "first")),
        "record": chance.random() < 0.7,
        "steps": chance.choice((16, 20, 24)),
        "pace": chance.choice((0.1, 0.15)),
        "timeout": 12.0,
        "evaluate_every": chance.choice((6, 10)),
        "save_every": chance.choice((5, 8)),
        "sharded": chance.random() < 0.4,
        "timers": chance.random() < 0.25,
        "reduced_loss": chance.random() < 0.5,
        "settings_shown": chance.random() < 0.7,
        "loader_workers": 1 if chance.random() < 0.15 else 0,
    }
