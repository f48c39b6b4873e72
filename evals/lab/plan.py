"""All jobs of the set, drawn from one seed: every kind in its flavours, other recipes, healthy twins of all."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from evals.lab.assemble import assembled
from evals.lab.draw import Draw, plain_job
from evals.lab.job import Job
from evals.lab.kinds import kinds
from evals.lab.workplace import recipes

SEED = 20261129
HEALTHY = 84
"""How many healthy jobs there are at least."""
FOR_RECIPES = ("exception", "sigkill", "sigsegv", "silent_exit", "hang_compute", "nan_one_rank", "memory_limit")
"""Kinds that other recipes are broken with unless they name their own."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a recipe's script says of itself in upper-case constants."""

    name: str
    kinds: tuple[str, ...]
    needs: tuple[str, ...]
    worlds: tuple[tuple[int, int], ...]
    voices: tuple[str, ...]
    startup: float

    def missing(self) -> tuple[str, ...]:
        """Packages that are not installed."""
        return tuple(name for name in self.needs if find_spec(name) is None)


AS_RECIPES_NEED = {"timeout": 20.0, "loader_workers": 0, "who_logs": "all"}
"""Settings of all but the plain recipe, which start more slowly."""


def other_recipes() -> list[Recipe]:
    """All but the plain one, as their scripts describe themselves; nothing is imported."""
    return [_described(name, path) for name, path in recipes().items() if name != "ddp"]


def _described(name: str, path: Path) -> Recipe:
    told: dict[str, object] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=key)], value=value) if key.isupper():
                told[key] = _literal(value)
            case ast.AnnAssign(target=ast.Name(id=key), value=ast.expr() as value) if key.isupper():
                told[key] = _literal(value)
    return Recipe(
        name,
        told.get("KINDS") or FOR_RECIPES,  # type: ignore[arg-type]
        told.get("NEEDS") or (),  # type: ignore[arg-type]
        (told.get("WORLDS") or ((1, 4),))[:2],  # type: ignore[index]
        told.get("VOICES") or ("timed",),  # type: ignore[arg-type]
        float(str(told.get("STARTUP") or 0.0)),
    )


def _literal(value: ast.expr) -> object:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None


def planned(seed: int = SEED) -> list[Job]:
    """Every job, in stable order; the same for the same seed and the same recipes."""
    broken = [*_of_plain_recipe(seed), *_of_other_recipes(seed)]
    return [*broken, *_healthy(broken, seed)]


def in_order_of_need(jobs: list[Job]) -> list[Job]:
    """First runs of every kind first, healthy ones in between, so that a set made half-way is a small set of all."""
    place: Counter[str] = Counter()
    keys = {}
    for job in jobs:
        place[job.kind] += 1
        keys[job.name] = place[job.kind] / (20 if job.kind == "nothing" else 1)
    return sorted(jobs, key=lambda job: (keys[job.name], job.name))


def _of_plain_recipe(seed: int) -> Iterator[Job]:
    for name, kind in kinds().items():
        for number in range(kind.runs):
            flavour = kind.flavour(number)
            several = "several" if (name, flavour) in NEEDS_SEVERAL else kind.nodes
            yield assembled(plain_job(name, flavour, number, seed, None, several))


NEEDS_SEVERAL = {("never_started", "launcher"), ("master_unresolvable", "one")}
"""Flavours that make sense only with several launchers, though their kind does not ask for them."""


def _of_other_recipes(seed: int) -> Iterator[Job]:
    for recipe in other_recipes():
        for number, kind in enumerate(recipe.kinds):
            yield assembled(_with_recipe(recipe, kind, number, seed))


def _with_recipe(recipe: Recipe, kind: str, number: int, seed: int) -> Draw:
    shape = recipe.worlds[number % len(recipe.worlds)]
    voice = recipe.voices[number % len(recipe.voices)]
    draw = plain_job(kind, kinds()[kind].flavour(number), number, seed + len(recipe.name), shape, "any")
    settings = {**draw.job.settings, "voice": voice, **AS_RECIPES_NEED}
    job = replace(
        draw.job,
        name=f"{kind}-{recipe.name}-{number:02}",
        recipe=recipe.name,
        voice=voice,
        settings=settings,
        patience=draw.job.patience + recipe.startup,
    )
    return replace(draw, job=job)


def _healthy(broken: list[Job], seed: int) -> Iterator[Job]:
    """Two twins for each recipe, dialect and shape; then more of the commonest until there are enough."""
    looks = Counter((job.recipe, job.voice, job.nodes, job.per_node) for job in broken)
    wanted = [look for look in sorted(looks) for _ in range(2)]
    common = [look for look, _ in sorted(looks.items(), key=lambda pair: (-pair[1], pair[0])) if look[0] == "ddp"]
    while len(wanted) < HEALTHY:
        wanted.append(common[len(wanted) % len(common)])
    seen: Counter[tuple[str, str, int, int]] = Counter()
    for look in wanted:
        yield _twin(*look, seen[look], seed)
        seen[look] += 1


def _twin(recipe: str, voice: str, nodes: int, per_node: int, number: int, seed: int) -> Job:
    """Named by its look, so that it stays the same when other jobs come or go."""
    name = f"nothing-{recipe}-{voice}-{nodes}x{per_node}-{number}"
    draw = plain_job("nothing", name, number, seed, (nodes, per_node), "any")
    job = replace(
        draw.job, name=name, flavour="", voice=voice, recipe=recipe, settings={**draw.job.settings, "voice": voice}
    )
    if recipe == "ddp":
        return assembled(replace(draw, job=job, number=draw.chance.randrange(8)))
    described = next(one for one in other_recipes() if one.name == recipe)
    settings = {**job.settings, **AS_RECIPES_NEED}
    job = replace(job, settings=settings, patience=job.patience + described.startup)
    return assembled(replace(draw, job=job, number=0))  # a fresh start without packages: what every recipe can do


def twins_of(job: Job, jobs: list[Job]) -> list[Job]:
    """Healthy jobs of the same recipe, dialect and shape; of the same number of ranks where there is none."""
    alike = [one for one in jobs if one.kind == "nothing" and (one.recipe, one.voice) == (job.recipe, job.voice)]
    same = [one for one in alike if (one.nodes, one.per_node) == (job.nodes, job.per_node)]
    return same or [one for one in alike if one.world == job.world]
