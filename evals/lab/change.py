"""What an injection does to a drawn job, in one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evals.lab.draw import Draw
from evals.lab.jobs.settings import Callback


@dataclass(frozen=True, slots=True)
class Change:
    """Callbacks, settings and launch options, with whom they strike and where."""

    callbacks: tuple[Callback, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    node_settings: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    launch: Mapping[str, object] = field(default_factory=dict)
    """Fields of `Job`."""
    ranks: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    """Nodes as a whole."""
    place: str = "step"
    step: int | None = None
    shows: tuple[str, ...] = ()
    provable: Mapping[str, object] = field(default_factory=dict)
    """Fields of `Provable` that differ from what the catalogue says."""
    fails: bool = True
    unsure: bool = False
    """The logs of this very job hint at the guilty one rather than prove it."""
    silent: bool = False
    """They do not even hint."""
    further: tuple[Change, ...] = ()
    kind: str = ""
    """Of a further one."""
    causes: tuple[str, ...] = ()
    """Of a further one."""


def strike(name: str, draw: Draw, rank: int, place: str = "step", step: int | None = None, **more: object) -> Change:
    """One callback at one rank."""
    step = step if step is not None else step_at(draw, place)
    shown = more.pop("shows", ())
    settings = more.pop("settings", {})
    planned = Callback(name, place, (rank,), step or 0, **more)  # type: ignore[arg-type]
    return Change((planned,), settings=settings, ranks=(rank,), place=place, step=step or None, shows=shown)  # type: ignore[arg-type]


def step_at(draw: Draw, place: str) -> int:
    """A step at which the place is come to; 0 for places before training."""
    if place in ("evaluate", "save"):
        return int(str(draw.job.settings[f"{place}_every"])) * draw.chance.choice((1, 2))
    return draw.step() if place not in ("start", "group", "build") else 0


def any_place(draw: Draw) -> str:
    """Mostly a step; now and then an evaluation, a checkpoint or the building of the model."""
    return draw.chance.choice(("step", "step", "step", "step", "evaluate", "save", "build"))
