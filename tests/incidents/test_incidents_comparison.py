"""A case beside a past incident."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.case.models import Case
from assistant.incidents.comparison import aspects, nearest, reasons
from assistant.incidents.confirm import Ruling, incident_of
from assistant.incidents.models import Incident
from assistant.pipeline import Options, diagnose


@pytest.fixture
def case(tmp_path: Path) -> Case:
    for rank in range(4):
        node = tmp_path / f"n{rank // 2}"
        node.mkdir(exist_ok=True)
        steps = "".join(f"2031-04-02 10:00:{step:02d} step {step} | loss: 2.5\n" for step in range(50))
        crash = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n" if rank == 3 else ""
        (node / f"rank-{rank}.log").write_text(steps + crash)
    return diagnose([str(tmp_path)], Options())


def signs(case: Case, incident: Incident) -> dict[str, bool | None]:
    return {one.name: one.same for one in aspects(case, incident)}


def test_the_same_failure_again_is_the_same_in_all_respects(case: Case) -> None:
    before = incident_of(case.model_copy(update={"case": "c-0"}), Ruling(fix="a smaller batch"))
    found = signs(case, before)
    assert found == dict.fromkeys(found, True) | {"framework": None, "size": None}
    why = reasons(case, before)
    assert f"same cause: {case.verdict.cause}" in why
    assert "same node: n1" in why


def test_what_differs_is_told_apart_from_what_is_not_known(case: Case) -> None:
    other = Incident(id="x", title="x", cause="network.link", symptom="x", root_cause="x", nodes=("n9",))
    found = signs(case, other)
    assert (found["cause"], found["node"], found["stage"], found["rank"]) == (False, False, None, None)
    assert reasons(case, other) == []


def test_the_most_alike_comes_first_and_never_the_case_itself(case: Case) -> None:
    own = incident_of(case, Ruling())
    before = incident_of(case.model_copy(update={"case": "c-0"}), Ruling())
    other = Incident(id="x", title="x", cause=case.verdict.cause, symptom="x", root_cause="x")
    assert [one.incident.id for one in nearest(case, [other, own, before])] == [before.id, "x"]
