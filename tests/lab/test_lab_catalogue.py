"""The catalogue of fault kinds, the split, the injections and the rules of labels belong together."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from assistant.case.vocabulary import Status
from evals.jobset import load_split
from evals.lab.assemble import INJECTIONS, assembled
from evals.lab.draw import SHAPES, plain_job
from evals.lab.faults import CALLBACKS
from evals.lab.job import Job
from evals.lab.kinds import kinds
from evals.lab.labelling import candidates, rules

WAYS = [(name, flavour) for name, kind in kinds().items() for flavour in (list(kind.flavours) or [""])]
MOUNTS = {"full", "read_only", "closed"}


def some_jobs(name: str, flavour: str) -> list[Job]:
    """The kind in every shape that it can have."""
    several = kinds()[name].nodes == "several" or flavour in ("launcher", "one")
    shapes = [shape for shape, _ in SHAPES if not several or shape[0] > 1]
    return [assembled(plain_job(name, flavour, number, 3, shape, "any")) for shape in shapes for number in range(3)]


def test_the_split_names_exactly_the_kinds_of_the_catalogue() -> None:
    split = load_split()
    named = [*split.tune, *split.report, *split.both]
    assert sorted(named) == sorted(kinds())
    assert len(named) == len(set(named)) == 41


def test_every_kind_has_an_injection_and_every_injection_a_kind() -> None:
    assert set(INJECTIONS) == set(kinds())


def test_rules_of_labels_name_kinds_and_flavours_that_exist() -> None:
    known = {*kinds(), *(f"{name}/{flavour}" for name, flavour in WAYS)}
    assert {kind for rule in rules() for kind in rule.kinds} <= known


@pytest.mark.parametrize(("name", "flavour"), WAYS)
def test_a_kind_can_be_assembled_in_every_shape(name: str, flavour: str) -> None:
    for job in some_jobs(name, flavour):
        assert {planned.name for planned in job.callbacks} <= set(CALLBACKS)
        assert all(0 <= rank < job.world for planned in job.callbacks for rank in planned.ranks)
        assert {mount.how for mount in job.mounts} <= MOUNTS
        assert all(re.compile(label.pattern) for label in candidates(job))


@pytest.mark.parametrize(("name", "flavour"), WAYS)
def test_what_is_provable_names_only_ranks_and_nodes_that_were_struck(name: str, flavour: str) -> None:
    for job in some_jobs(name, flavour):
        struck = {rank for one in job.injected if one.rank is not None for rank in [one.rank]}
        for one in job.injected:
            if one.rank is None and one.node:
                struck |= set(job.ranks_of(job.hosts.index(one.node)))
        assert set(job.provable.ranks) <= struck
        assert set(job.provable.nodes) <= set(job.hosts)
        assert job.provable.iteration is None or job.provable.status is Status.FAILED


def test_two_faults_have_a_further_failure_on_another_node() -> None:
    for job in some_jobs("two_faults", ""):
        (further,) = job.provable.further
        assert further.causes
        assert job.node_of(further.ranks[0]) != job.node_of(job.provable.ranks[0])


def test_a_reduced_loss_proves_nobody_and_the_own_loss_the_rank() -> None:
    assert all(job.provable.ranks == () for job in some_jobs("nan_one_rank", "reduced"))
    told = [job for job in some_jobs("nan_one_rank", "own") if job.streams != "console"]
    assert told
    assert all(len(job.provable.ranks) == 1 for job in told)


def test_two_nodes_cannot_tell_whose_link_was_cut() -> None:
    for job in some_jobs("link_cut", ""):
        assert bool(job.provable.nodes) == (job.nodes > 2)


def test_the_same_seed_draws_the_same_job_and_another_seed_another() -> None:
    first, again, other = (assembled(plain_job("sigkill", "", 1, seed, None, "any")) for seed in (7, 7, 8))
    assert first == again
    assert replace(first, seed=8) != other


def test_hosts_of_a_job_are_as_many_as_its_nodes_and_all_different() -> None:
    for number in range(40):
        job = plain_job("nothing", "", number, 1, random.Random(number).choice(SHAPES)[0], "any").job
        assert len(set(job.hosts)) == job.nodes
