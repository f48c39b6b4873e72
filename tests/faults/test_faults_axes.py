"""Every entry stands on the axes of the failure studies, and its place there does not contradict the entry."""

from __future__ import annotations

import pytest

from assistant.case.vocabulary import ActionKind, Stage
from assistant.faults.axes import Axes, Fix, RootCause, Symptom
from assistant.faults.library import load_library
from assistant.faults.models import Fault, FaultRole

LIBRARY = load_library()
ORDER = list(Stage)


def axes(fault: Fault) -> Axes:
    assert fault.axes is not None, fault.id
    return fault.axes


@pytest.mark.parametrize("fault", LIBRARY, ids=lambda fault: fault.id)
def test_stages_stand_in_order_and_hold_the_stage_that_the_entry_names(fault: Fault) -> None:
    stages = axes(fault).stages
    assert list(stages) == sorted(set(stages), key=ORDER.index)
    assert fault.stage is None or fault.stage in stages


@pytest.mark.parametrize("fault", LIBRARY, ids=lambda fault: fault.id)
def test_what_is_no_failure_has_no_cause_and_nothing_to_fix(fault: Fault) -> None:
    harmless = fault.role in (FaultRole.BENIGN, FaultRole.TEARDOWN)
    assert (axes(fault).root_cause is RootCause.NONE) is harmless
    assert (axes(fault).fix is Fix.NONE) is harmless


@pytest.mark.parametrize("fault", [f for f in LIBRARY if f.role is FaultRole.CASCADE], ids=lambda fault: fault.id)
def test_a_victims_report_shows_no_defect_of_its_own_that_could_be_mended(fault: Fault) -> None:
    assert axes(fault).fix is Fix.FIND_CAUSE


@pytest.mark.parametrize("fault", LIBRARY, ids=lambda fault: fault.id)
def test_the_kind_of_cause_agrees_with_layer_and_action(fault: Fault) -> None:
    kind, layer = axes(fault).root_cause, fault.cause.partition(".")[0]
    if kind is RootCause.ACCELERATOR_HARDWARE:
        assert layer == "hardware"
    if kind is RootCause.NUMERICAL_INSTABILITY:
        assert layer == "numerics"
    if fault.role is FaultRole.ROOT and fault.action.kind is ActionKind.FIX_CODE:
        assert axes(fault).fix in (Fix.CHANGE_CODE, Fix.CHANGE_CONFIGURATION, Fix.FIND_CAUSE)


def test_every_word_of_the_vocabularies_is_used() -> None:
    used = [axes(fault) for fault in LIBRARY]
    assert {one.symptom for one in used} == set(Symptom)
    assert {one.root_cause for one in used} == set(RootCause)
    assert {one.fix for one in used} == set(Fix)
    assert {stage for one in used for stage in one.stages} == set(Stage)
