"""A team's memory: what is kept of a confirmed case, who writes, what comes back, what leaves."""

from __future__ import annotations

import json
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.case.models import Candidate
from assistant.errors import StoreError, UnknownIncident, UsageError
from assistant.incidents.confirm import Ruling, incident_of
from assistant.incidents.exchange import exported, imported
from assistant.incidents.recurrence import recurrences, told
from assistant.incidents.store import IncidentStore
from tests.samples import failed_case

NOW = datetime(2026, 3, 24, 9, 0, tzinfo=UTC)


def test_a_confirmed_case_keeps_what_it_is_recognised_by() -> None:
    incident = incident_of(failed_case(), Ruling(fix="smaller micro batch", by="mara"), now=NOW)
    assert incident.cause == failed_case().verdict.cause
    assert (incident.nodes, incident.ranks) == (("gpu-07",), (5,))
    assert incident.evidence
    assert incident.trace.templates
    assert (incident.confirmed_by, incident.fix, incident.date) == ("mara", "smaller micro batch", "2026-03-04")


def test_a_correction_overrules_cause_and_blame() -> None:
    incident = incident_of(failed_case(), Ruling(cause="hardware.gpu_memory", nodes=("gpu-03",)), now=NOW)
    assert (incident.cause, incident.nodes, incident.ranks) == ("hardware.gpu_memory", ("gpu-03",), ())
    assert incident_of(failed_case(), Ruling(nobody=True), now=NOW).suspect is None


@pytest.mark.parametrize("cause", ["memory.nope", "unknown", "none", ""])
def test_a_cause_that_is_none_is_refused(cause: str) -> None:
    case = failed_case()
    unknown = case.model_copy(update={"verdict": case.verdict.model_copy(update={"cause": "unknown"})})
    with pytest.raises(UsageError, match="cause"):
        incident_of(unknown, Ruling(cause=cause or None))


def test_a_second_ruling_is_a_revision_and_the_first_stays(tmp_path: Path) -> None:
    store = IncidentStore(tmp_path / "incidents")
    first = store.add(incident_of(failed_case(), Ruling(), now=NOW))
    second = store.add(incident_of(failed_case(), Ruling(note="it was the driver"), now=NOW))
    assert (first.revision, second.revision) == (1, 2)
    assert store.get(first.id).note == "it was the driver"
    assert [one.note for one in store.history(first.id)] == ["", "it was the driver"]


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    store = IncidentStore(tmp_path)
    incident = incident_of(failed_case(), Ruling(), now=NOW)
    writers = [
        threading.Thread(target=store.add, args=(incident.model_copy(update={"note": str(number)}),))
        for number in range(12)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(int(one.note) for one in store.history(incident.id)) == list(range(12))


def test_what_is_stored_is_for_its_owner_only(tmp_path: Path) -> None:
    IncidentStore(tmp_path / "i").add(incident_of(failed_case(), Ruling(), now=NOW))
    files = [path for path in (tmp_path / "i").rglob("*.json")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]
    assert stat.S_IMODE((tmp_path / "i").stat().st_mode) == 0o700


def test_a_damaged_file_is_named_and_the_rest_is_served(tmp_path: Path) -> None:
    store = IncidentStore(tmp_path)
    kept = store.add(incident_of(failed_case(), Ruling(), now=NOW))
    (tmp_path / "i-broken").mkdir()
    (tmp_path / "i-broken" / "1.json").write_text('{"store":1,"incident":{')
    (tmp_path / "i-newer").mkdir()
    (tmp_path / "i-newer" / "1.json").write_text('{"store":99,"incident":{}}')
    found, damaged = store.all()
    assert [one.id for one in found] == [kept.id]
    assert any("i-broken" in line for line in damaged)
    assert any("newer version" in line for line in damaged)


def test_an_unknown_name_and_a_path_are_no_incidents(tmp_path: Path) -> None:
    for name in ("i-0", "../../etc", ""):
        with pytest.raises(UnknownIncident):
            IncidentStore(tmp_path).get(name)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        IncidentStore(tmp_path / "file").add(incident_of(failed_case(), Ruling(), now=NOW))


def test_the_same_failure_on_the_same_node_is_recognised_and_counted() -> None:
    case = failed_case()
    earlier = [
        incident_of(case, Ruling(fix=fix), now=NOW).model_copy(
            update={"id": f"i-{day}", "case": f"c-{day}", "date": day}
        )
        for fix, day in (("rebooted", "2026-03-04"), ("replaced the board", "2026-03-20"))
    ]
    found = recurrences(case, earlier)
    assert [one.same_nodes for one in found] == [("gpu-07",), ("gpu-07",)]
    lines = told(case, found, today=NOW)
    assert lines == ["Third time on gpu-07 in 20 days, last 2026-03-20, last fix: replaced the board."]


def test_a_case_is_no_recurrence_of_itself_and_another_failure_is_none() -> None:
    case = failed_case()
    own = incident_of(case, Ruling(), now=NOW)
    other = own.model_copy(
        update={"case": "c-9", "cause": "storage.disk_full", "faults": (), "trace": type(own.trace)(), "stage": None}
    )
    assert recurrences(case, [own, other]) == []


def test_the_same_failure_elsewhere_is_told_without_a_count() -> None:
    case = failed_case()
    other = incident_of(case, Ruling(nodes=("gpu-99",), fix="less memory"), now=NOW)
    found = recurrences(case, [other.model_copy(update={"case": "c-9"})])
    assert told(case, found, today=NOW) == [
        "Seen before on gpu-99: 1 like incident, last 2026-03-04, last fix: less memory."
    ]
    moved = case.model_copy(update={"suspects": (Candidate(node="gpu-99", score=0.9),)})
    assert told(moved, recurrences(moved, [other.model_copy(update={"case": "c-9"})]), today=NOW)[0].startswith(
        "Second"
    )


def test_an_export_masks_secrets_and_comes_back_whole(tmp_path: Path) -> None:
    incident = incident_of(
        failed_case(), Ruling(note="used password=hunter2-long on gpu-07", by="a@b.example.com"), now=NOW
    )
    line = next(iter(exported([incident])))
    assert "hunter2-long" not in line
    assert "a@b.example.com" not in line
    assert "gpu-07" in line
    hidden = next(iter(exported([incident], hosts=True)))
    assert "gpu-07" not in hidden
    store = IncidentStore(tmp_path)
    back, problems = imported([line, "", "{broken"], "team.jsonl")
    assert [problem.message.partition(": ")[0] for problem in problems] == ["team.jsonl:3"]
    assert store.merge(back).added == (incident.id,)
    assert store.merge(back).known == 1
    assert json.loads(line)["cause"] == incident.cause
