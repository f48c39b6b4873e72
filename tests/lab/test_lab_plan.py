"""The plan of the set: large enough, the same each time, with healthy twins for every job, and telling nothing away."""

from __future__ import annotations

import re
from collections import Counter

from evals.lab.kinds import kinds
from evals.lab.make import digest
from evals.lab.pack import neutral_names
from evals.lab.plan import in_order_of_need, other_recipes, planned, twins_of

JOBS = planned()
TELLING = re.compile("|".join(["inject", "chaos", "fault", *(kind for kind in kinds() if kind != "nothing")]))


def test_the_plan_is_the_same_each_time_and_other_seeds_give_others() -> None:
    assert planned() == JOBS
    assert {digest(job) for job in planned(1)}.isdisjoint(digest(job) for job in JOBS)


def test_there_are_three_runs_of_each_kind_and_enough_in_all() -> None:
    counts = Counter(job.kind for job in JOBS)
    assert min(counts[kind] for kind in kinds()) >= 3
    assert counts["nothing"] >= 80
    assert sum(counts.values()) - counts["nothing"] >= 120


def test_every_flavour_of_every_kind_is_planned() -> None:
    planned_ways = {(job.kind, job.flavour) for job in JOBS}
    assert {(name, flavour) for name, kind in kinds().items() for flavour in kind.flavours} <= planned_ways


def test_names_of_runs_are_unique() -> None:
    assert len({job.name for job in JOBS}) == len(JOBS)


def test_every_job_has_healthy_twins_of_its_recipe_dialect_and_size() -> None:
    for job in JOBS:
        twins = twins_of(job, JOBS)
        assert twins
        assert {(twin.kind, twin.recipe, twin.voice, twin.world) for twin in twins} == {
            ("nothing", job.recipe, job.voice, job.world)
        }


def test_hosts_and_archives_tell_nothing_of_the_kind() -> None:
    names = neutral_names([job.name for job in JOBS])
    assert not any(TELLING.search(name) for name in names.values())
    assert not any(TELLING.search(host) for job in JOBS for host in job.hosts)
    first = [job.kind == "nothing" for job in sorted(JOBS, key=lambda job: names[job.name])][:40]
    assert 0 < sum(first) < 40


def test_a_set_made_half_way_has_every_kind() -> None:
    early = in_order_of_need(JOBS)[: len(kinds()) + 40]
    assert {job.kind for job in early} == set(kinds())


def test_recipes_describe_themselves_without_being_imported() -> None:
    for recipe in other_recipes():
        assert recipe.kinds
        assert set(recipe.kinds) <= set(kinds())
        assert 1 <= len(recipe.worlds) <= 2
