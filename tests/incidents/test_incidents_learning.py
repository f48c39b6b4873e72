"""A learned signature earns its place: it fires on its case, on no healthy run, and a person approves it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.case.models import Case, EventReport
from assistant.case.vocabulary import Role
from assistant.errors import NothingToLearn, StoreError, UnknownProposal
from assistant.faults.library import build, load_library
from assistant.faults.matcher import Matcher
from assistant.incidents.confirm import Ruling, incident_of
from assistant.incidents.learning import FILE_NAME, LOG, Learning
from assistant.incidents.models import Incident
from assistant.incidents.proposals import Experience, Proposal, propose, regex_of
from tests.samples import failed_case

TEMPLATE = "[rank<NUM>]: frobnicator lease of shard <NUM> refused by <IP>: <*>"
LINE = "[rank5]: frobnicator lease of shard 12 refused by 10.0.0.9:5000: quota"
EMPTY = build([])


def strange_case() -> Case:
    """A failure of a kind that no library knows."""
    case = failed_case()
    event = EventReport(id="t1", template=TEMPLATE, role=Role.INITIATING, count=1, evidence=("E1",))
    evidence = (case.evidence[0].model_copy(update={"text": LINE}), *case.evidence[1:])
    return case.model_copy(update={"events": (event,), "evidence": evidence, "suspects": case.suspects})


def confirmed() -> Incident:
    """What a person said of it."""
    ruling = Ruling(cause="platform.service", note="the lease service was over quota", fix="raise the quota", by="mara")
    return incident_of(strange_case(), ruling, now=datetime(2026, 3, 24, tzinfo=UTC))


def proposal(experience: Experience | None = None) -> Proposal:
    """The proposal for it."""
    return propose(confirmed(), strange_case(), EMPTY, experience or Experience())


def test_a_proposal_shows_what_it_matches_and_would_have_matched() -> None:
    past = strange_case().model_copy(update={"case": "c-99"})
    found = proposal(Experience(healthy_templates=[("nightly", "training step <NUM>")], cases=[past, failed_case()]))
    assert LINE in found.trial.own
    assert found.trial.past == ("c-99: memory.gpu_oom",)
    assert found.trial.sound


def test_the_expression_keeps_the_words_and_frees_the_slots() -> None:
    assert regex_of("lease (v<NUM>) of <PATH> refused") == r"lease \(v\S+\) of \S+ refused"


def test_what_healthy_runs_show_is_not_learned() -> None:
    for experience in (
        Experience(healthy_templates=[("nightly", TEMPLATE)]),
        Experience(healthy_lines=[("healthy.log:7", LINE.replace("12", "13"))]),
    ):
        with pytest.raises(NothingToLearn, match="healthy runs"):
            proposal(experience)


def test_what_the_library_knows_is_not_learned_again() -> None:
    with pytest.raises(NothingToLearn):
        propose(confirmed(), failed_case(), load_library(), Experience())


def test_nothing_enters_the_library_by_itself(tmp_path: Path) -> None:
    learning = Learning(tmp_path / "log", tmp_path / "faults")
    learning.propose(proposal(), "mara")
    assert len(learning.state()) == 1
    assert "lease" not in (tmp_path / "faults" / FILE_NAME).read_text()


def test_an_approved_signature_fires_and_a_withdrawn_one_is_gone(tmp_path: Path) -> None:
    learning = Learning(tmp_path / "log", tmp_path / "faults")
    found = proposal()
    learning.propose(found, "mara")
    fault = learning.approve(found.id, confirmed(), "jon")
    library = load_library([tmp_path / "faults"])
    assert Matcher(library).match(LINE) == (fault.id,)
    assert (fault.cause, fault.action.text) == ("platform.service", "raise the quota")
    learning.withdraw(found.id, "jon")
    assert fault.id not in (tmp_path / "faults" / FILE_NAME).read_text()
    assert [(entry.move, entry.by) for entry in learning.log()] == [
        ("proposed", "mara"), ("approved", "jon"), ("withdrawn", "jon"),
    ]  # fmt: skip


def test_a_learned_entry_keeps_the_promises_of_the_library(tmp_path: Path) -> None:
    from assistant.faults.check import check_library

    learning = Learning(tmp_path / "log", tmp_path / "faults")
    learning.propose(proposal(), "")
    learning.approve(proposal().id, confirmed(), "")
    whole = load_library([*_shipped(), tmp_path / "faults"])
    assert [problem for problem in check_library(whole) if problem.fault == proposal().id] == []


def test_an_unknown_proposal_and_a_damaged_log_are_told(tmp_path: Path) -> None:
    learning = Learning(tmp_path, tmp_path / "faults")
    with pytest.raises(UnknownProposal):
        learning.approve("learned-0", confirmed(), "")
    (tmp_path / LOG).write_text("{}\n")
    with pytest.raises(StoreError, match=r"learning\.jsonl:1"):
        learning.log()


def _shipped() -> list[Path]:
    from assistant.paths import locate

    return [folder / "faults" for folder in locate("knowledge")]
