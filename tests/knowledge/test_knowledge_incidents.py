"""The public incidents that ship: readable, sourced, alive in their references, and consistent with the library."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from assistant.faults.library import load_library
from assistant.faults.matcher import Matcher
from assistant.incidents.library import load_incidents
from assistant.incidents.models import Incident
from assistant.paths import locate

FILED, PROBLEMS = load_incidents([Path(locate("knowledge")[0]) / "incidents"])
INCIDENTS = [filed.incident for filed in FILED]
LIBRARY = load_library()
MATCHER = Matcher(LIBRARY)

every = pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.id)


def test_all_files_are_readable_and_hold_enough() -> None:
    assert [problem.message for problem in PROBLEMS] == []
    assert len(INCIDENTS) >= 60
    assert len({incident.cause for incident in INCIDENTS}) >= 30


def test_few_are_unverified_and_most_were_read_in_their_source() -> None:
    checked = Counter(incident.checked for incident in INCIDENTS)
    assert checked["unverified"] == 0
    assert checked["read"] > checked["secondary"]


@every
def test_an_incident_names_its_source_and_says_what_was_seen_and_found(incident: Incident) -> None:
    assert incident.source.startswith("https://")
    assert incident.symptom
    assert incident.root_cause
    assert incident.origin == "public"
    assert incident.date is None or incident.date <= date.today().isoformat()


@every
def test_an_incident_names_only_faults_that_the_library_knows(incident: Incident) -> None:
    assert [fault for fault in incident.faults if fault not in LIBRARY] == []


@every
def test_the_texts_of_an_incident_are_short(incident: Incident) -> None:
    assert all(len(line) <= 160 and "\n" not in line for line in incident.log_lines)
    assert len(incident.title) <= 120
    assert all(len(text) <= 400 for text in (incident.symptom, incident.root_cause, incident.fix, incident.lesson))


def test_lines_that_the_library_knows_lead_to_a_fault_that_the_incident_names() -> None:
    known = [(one, {hit for line in one.log_lines for hit in MATCHER.match(line)}) for one in INCIDENTS if one.faults]
    telling = [(one, hits) for one, hits in known if hits]
    agreeing = [one for one, hits in telling if hits & set(one.faults)]
    assert len(telling) >= 40
    assert len(agreeing) >= 0.9 * len(telling)
