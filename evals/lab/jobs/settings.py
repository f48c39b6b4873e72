"""What one laboratory job is told: a JSON file given with `--config`, so that no command line gives a fault away."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Callback:
    """Something that happens at a place of the job, to some ranks, at one step or from it on."""

    name: str
    """Key of `CALLBACKS`."""
    place: str
    ranks: tuple[int, ...] = ()
    """Empty is everybody."""
    step: int = 0
    until: int | None = None
    """Last step it happens at; null is only at `step`."""
    attempt: int = -1
    """Only in this attempt of the launcher; -1 is each."""
    delay: float = 0.0
    """Seconds to wait before."""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """One job's settings; times are seconds."""

    voice: str = "plain"
    who_logs: str = "all"
    """`all` ranks, or the `first` only."""
    steps: int = 20
    pace: float = 0.15
    """Shortest time of a step."""
    timeout: float = 8.0
    """Of the process group."""
    evaluate_every: int = 10
    save_every: int = 8
    checkpoints: str = "checkpoints"
    resume: int = 0
    """Step whose checkpoint is loaded first; 0 is a fresh start."""
    sharded: bool = False
    """Each rank writes and reads its own file, else the first rank writes and all read."""
    hidden: int = 64
    batch_size: int = 8
    samples: int = 0
    """Size of the data set; 0 is as many as the steps need."""
    loader_workers: int = 0
    loader_timeout: float = 0.0
    timers: bool = False
    """Each rank also tells how long it computed and how long it waited."""
    reduced_loss: bool = False
    """The logged loss is the mean over the ranks, not the rank's own."""
    loss_limit: float = 0.0
    """The run stops once the loss is above so many times its mean; 0 checks only that it is finite."""
    settings_shown: bool = True
    packages: tuple[str, ...] = ()
    """Modules beside the script that the job imports first."""
    package_check: bool = False
    """Whether the ranks compare the versions of those modules."""
    record: bool = True
    marker: str = ""
    """Prefix of the private files that tell what really happened; never inside the job's folder."""
    callbacks: tuple[Callback, ...] = ()


def read_settings() -> Settings:
    """The settings named on the command line; what a newer file says besides is an error."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--local-rank", "--local_rank", type=int, default=None, help="given by some launchers")
    document = json.loads(parser.parse_args().config.read_text(encoding="utf-8"))
    return settings_from(document)


def settings_from(document: Mapping[str, Any]) -> Settings:
    """Settings from parsed JSON; an unknown key is a ValueError."""
    unknown = set(document) - {one.name for one in fields(Settings)}
    if unknown:
        raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
    planned = tuple(Callback(**{**one, "ranks": tuple(one.get("ranks", ()))}) for one in document.get("callbacks", ()))
    return Settings(**{**document, "callbacks": planned, "packages": tuple(document.get("packages", ()))})
