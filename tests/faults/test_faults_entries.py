"""Every entry that ships keeps its promises: examples fire it, counter-examples do not, and it says what to do."""

from __future__ import annotations

import pytest

from assistant.case.vocabulary import ActionKind
from assistant.faults.check import check_fault, check_library
from assistant.faults.library import build, load_library
from assistant.faults.matcher import Matcher
from assistant.faults.models import Blame, Examples, Fault, FaultRole

LIBRARY = load_library()
MATCHER = Matcher(LIBRARY)
BLAMING = [fault for fault in LIBRARY if fault.blame is Blame.SUBJECT]
ROOTS = [fault for fault in LIBRARY if fault.role is FaultRole.ROOT]


@pytest.mark.parametrize("fault", LIBRARY, ids=lambda fault: fault.id)
def test_examples_of_an_entry_hold(fault: Fault) -> None:
    assert check_fault(MATCHER, fault) == []


@pytest.mark.parametrize("fault", LIBRARY, ids=lambda fault: fault.id)
def test_an_entry_has_a_counter_example_and_a_source(fault: Fault) -> None:
    assert fault.examples.no_match
    assert fault.references


@pytest.mark.parametrize("fault", ROOTS, ids=lambda fault: fault.id)
def test_a_root_says_what_to_do_and_what_it_does_not_prove(fault: Fault) -> None:
    assert fault.does_not_prove
    assert fault.action.kind is not ActionKind.NONE or fault.cause.startswith("scheduler.")
    assert all(step.text for step in fault.action.steps)


@pytest.mark.parametrize("fault", LIBRARY, ids=lambda fault: fault.id)
def test_an_id_is_kebab_case(fault: Fault) -> None:
    assert fault.id == fault.id.lower().strip("-").replace("_", "-").replace(" ", "-")


@pytest.mark.parametrize("fault", BLAMING, ids=lambda fault: fault.id)
def test_an_entry_that_blames_its_subject_can_name_one(fault: Fault) -> None:
    naming = ("(?P<rank>", "(?P<local_rank>", "(?P<task>", "(?P<node>", "(?P<device>", "(?P<peer>", "(?P<pid>")
    assert any(group in signature.regex for signature in fault.signatures for group in naming)


def test_the_whole_library_passes_its_own_check() -> None:
    assert check_library(LIBRARY) == []


def changed(fault: Fault, **examples: tuple[str, ...]) -> Fault:
    return fault.model_copy(update={"examples": Examples(**{"match": ("x",), **examples}), "explains": ()})


def problems(fault: Fault) -> list[str]:
    return [problem.message for problem in check_library(build([fault]))]


def test_the_check_finds_an_example_that_does_not_fire() -> None:
    assert "does not match its own example" in problems(changed(LIBRARY["disk-full"], match=("all is well",)))


def test_the_check_finds_a_counter_example_that_fires() -> None:
    text = "OSError: [Errno 28] No space left on device"
    found = problems(changed(LIBRARY["disk-full"], match=(text,), no_match=(text,)))
    assert found == ["matches an example that it must not match"]


def test_the_check_finds_an_entry_that_another_root_outranks() -> None:
    disk = changed(LIBRARY["disk-full"], match=("OSError: [Errno 28] No space left on device",))
    vague = changed(LIBRARY["python-exception"], match=("OSError: [Errno 28] No space left on device",))
    found = check_library(build([disk, vague]))
    assert [(problem.fault, problem.message) for problem in found] == [
        ("python-exception", "comes after the root entry disk-full")
    ]


def test_the_check_finds_an_example_that_another_root_matches_too() -> None:
    disk = changed(LIBRARY["disk-full"], match=("OSError: [Errno 28] No space left on device",))
    quota = changed(LIBRARY["quota-exceeded"], match=("x",)).model_copy(update={"signatures": disk.signatures})
    said = [problem.message for problem in check_library(build([disk, quota]))]
    assert "shares its example with the root entry quota-exceeded" in said
    assert "has a signature of the entry disk-full too" in said
    beside = disk.model_copy(update={"beside": ("quota-exceeded",)})
    assert not any("shares" in problem.message for problem in check_library(build([beside, quota])))


def test_the_check_finds_an_entry_that_is_not_sorted() -> None:
    fault = LIBRARY["disk-full"].model_copy(update={"axes": None, "explains": ()})
    assert problems(fault) == ["has no `axes`"]


def test_the_check_finds_an_entry_that_fires_on_a_healthy_line() -> None:
    library = build([LIBRARY["disk-full"].model_copy(update={"explains": ()})])
    line = "note: No space left on device was handled"
    found = check_library(library, healthy_lines=[line])
    assert [(problem.fault, problem.message, problem.text) for problem in found] == [
        ("disk-full", "matches a line of a healthy run", line)
    ]
