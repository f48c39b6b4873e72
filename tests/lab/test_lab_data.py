"""The packed set: complete, small, neutral. Skipped where it was not made."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from assistant.case.vocabulary import Role, Status
from evals.jobset import LAB, archive_of, load_split, load_truth, unpacked
from evals.lab.labelling import all_labels
from evals.scorers.labelled import matchers
from evals.scorers.records import records_of
from evals.truth import Truth

pytestmark = pytest.mark.skipif(not (LAB / "truth.json").is_file(), reason="not made: python -m evals.lab make")

TELLING = re.compile(r"(?i)\binjected\b|injector|chaos|sabotag|evals|/tmp/run-|/root\b|rootrank|marker|callbacks\.json")
LARGEST = 8_000_000


@cache
def truths() -> tuple[Truth, ...]:
    """All jobs of the set."""
    return load_truth(LAB).jobs


@cache
def texts(name: str) -> dict[str, str]:
    """All files of a job."""
    with unpacked(archive_of(LAB, name)) as folder:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_text("utf-8", "replace") for path in files}


def test_every_kind_has_three_runs_and_the_set_is_large_enough() -> None:
    split, counts = load_split(), Counter(truth.kind for truth in truths())
    assert {kind: counts[kind] for kind in (*split.tune, *split.report) if counts[kind] < 3} == {}
    assert counts["nothing"] >= 80
    assert len(truths()) - counts["nothing"] >= 120


def test_the_set_is_small_and_every_archive_is_in_the_truth() -> None:
    files = sorted(LAB.glob("*.tar.zst"))
    assert [file.name.split(".")[0] for file in files] == [truth.job for truth in truths()]
    assert sum(file.stat().st_size for file in LAB.iterdir()) < LARGEST


def test_nothing_in_an_archive_tells_what_was_done() -> None:
    found = {
        f"{truth.job}/{name}": match.group()
        for truth in truths()
        for name, text in texts(truth.job).items()
        if (match := TELLING.search(name) or TELLING.search(text))
    }
    assert found == {}


def test_every_job_has_healthy_twins_and_no_twin_is_its_own() -> None:
    healthy = {truth.job for truth in truths() if truth.kind == "nothing"}
    for truth in truths():
        if truth.kind != "nothing":
            assert truth.twins
            assert set(truth.twins) <= healthy


def test_failed_jobs_are_labelled_and_healthy_ones_are_not() -> None:
    for truth in truths():
        roles = {label.role for label in truth.labels}
        if truth.kind == "nothing":
            assert not roles
        elif truth.provable.status is Status.FAILED:
            assert roles & {Role.INITIATING, Role.CASCADE}
        else:
            assert roles <= {Role.CONTEXT}


def test_no_rule_holds_for_a_record_of_a_healthy_job() -> None:
    some = truths()[0].model_copy(update={"labels": tuple(all_labels())})
    ready = matchers(some)
    for truth in [truth for truth in truths() if truth.kind == "nothing"][::4]:
        with unpacked(archive_of(LAB, truth.job)) as folder:
            assert not [record.head for record in records_of(folder) if any(label(record) for label in ready)]


def test_guilty_nodes_and_ranks_are_of_the_job() -> None:
    for truth in truths():
        assert set(truth.provable.nodes) <= set(truth.nodes)
        assert all(0 <= rank < truth.world_size for rank in truth.provable.ranks)
