"""Learned signatures: proposed, approved by a person, withdrawn - and a log of every such step.

The log is the truth: `learned.yaml`, which the library reads, is written anew from it after each step, so that any
state can be had again and nothing enters by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError

from assistant.case.models import Model
from assistant.case.vocabulary import ActionKind, Stage
from assistant.disk import append_line, locked, private_folder, replace_file, reported
from assistant.errors import NothingToLearn, StoreError, UnknownProposal
from assistant.faults.axes import Axes, Fix, RootCause, Symptom
from assistant.faults.models import Blame, Examples, Fault, FaultAction, FaultRole, Reference, Signature, Specificity
from assistant.incidents.models import Incident
from assistant.incidents.proposals import Proposal

LOG = "learning.jsonl"
FILE_NAME = "learned.yaml"
_HINT = "set incidents.folder to a folder that you can use"
Move = Literal["proposed", "approved", "withdrawn"]
_HEADER = (
    "# Written by `rootrank learn`; change it there, or your changes are lost with the next step.\n"
    "# Who approved what and when stands in the log: `rootrank learn log`.\n"
)


class Entry(Model):
    """One step in the log."""

    at: str
    move: Move
    by: str = ""
    proposal: Proposal
    fault: dict[str, Any] = Field(default_factory=dict)
    """The library entry as it was approved."""


@dataclass(frozen=True, slots=True)
class Learning:
    """The log in `folder`, and the library file that follows from it in `faults`."""

    folder: Path
    """Where the log lies: beside the team's incidents."""
    faults: Path
    """The user's folder of library entries."""

    def log(self) -> list[Entry]:
        """All steps, oldest first. Raises StoreError, naming the line, where the log is damaged."""
        path = self.folder / LOG
        if not path.exists():
            return []
        with reported(str(path), _HINT):
            lines = path.read_text("utf-8").splitlines()
        return [_entry(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]

    def state(self) -> dict[str, Entry]:
        """The last step of each proposal, by its id."""
        return {entry.proposal.id: entry for entry in self.log()}

    def propose(self, proposal: Proposal, by: str) -> None:
        """Writes a proposal down; it changes nothing else."""
        self._step(Entry(at=_now(), move="proposed", by=by, proposal=proposal))

    def approve(self, name: str, incident: Incident, by: str) -> Fault:
        """Takes a proposal into the library.

        Raises UnknownProposal, and NothingToLearn where its trial found it in a healthy run.
        """
        proposal = self.known(name).proposal
        if not proposal.trial.sound:
            raise NothingToLearn(f"{name} matches healthy runs", hint="it would raise false alarms")
        fault = fault_of(proposal, incident)
        plain = fault.model_dump(mode="json", exclude_defaults=True)
        self._step(Entry(at=_now(), move="approved", by=by, proposal=proposal, fault=plain))
        return fault

    def withdraw(self, name: str, by: str) -> None:
        """Takes a learned entry out of the library again."""
        self._step(Entry(at=_now(), move="withdrawn", by=by, proposal=self.known(name).proposal))

    def known(self, name: str) -> Entry:
        """The last step of a proposal. Raises UnknownProposal."""
        state = self.state()
        if name not in state:
            raise UnknownProposal(f"no proposal {name!r}", hint=f"proposals: {', '.join(state) or 'none yet'}")
        return state[name]

    def _step(self, entry: Entry) -> None:
        with reported(str(self.folder), _HINT), locked(self.folder, ".learning.lock"):
            line = entry.model_dump_json().encode("utf-8", "backslashreplace") + b"\n"
            append_line(self.folder / LOG, line)
            self._write_library()

    def _write_library(self) -> None:
        approved = [entry.fault for entry in self.state().values() if entry.move == "approved"]
        private_folder(self.faults)
        text = _HEADER + yaml.safe_dump(approved, sort_keys=False, allow_unicode=True, width=120)
        replace_file(self.faults / FILE_NAME, text.encode("utf-8"))


def fault_of(proposal: Proposal, incident: Incident) -> Fault:
    """The library entry that a proposal becomes."""
    who = Blame.WRITER if incident.nodes or incident.ranks else Blame.NOBODY
    who_said = incident.confirmed_by or "a person"
    told = incident.fix or "See what fixed it last time, and check whether this is the same."
    return Fault(
        id=proposal.id,
        title=proposal.title,
        cause=proposal.cause,
        role=FaultRole.ROOT,
        specificity=Specificity.SPECIFIC,
        blame=who,
        stage=incident.stage,
        axes=_axes(incident),
        signatures=tuple(Signature(regex=regex) for regex in proposal.regexes),
        does_not_prove="That it is the same failure again: it was learned from one confirmed incident.",
        explanation=incident.root_cause,
        action=FaultAction(kind=incident.action, text=told),
        references=(Reference(source=f"incident {incident.id}, confirmed by {who_said}", checked="read"),),
        examples=Examples(match=proposal.examples),
    )


def _axes(incident: Incident) -> Axes:
    """Where the studies would put it, as far as an incident tells."""
    early = incident.stage in (Stage.STARTUP, Stage.LOADING)
    hang = incident.cause == "collective.hang"
    symptom = Symptom.HANG if hang else Symptom.LAUNCH_FAILURE if early else Symptom.CRASH
    fix = _FIXES.get(incident.action, Fix.FIND_CAUSE)
    stages = (incident.stage or Stage.TRAINING,)
    return Axes(symptom=symptom, root_cause=RootCause.NOT_SHOWN, stages=stages, fix=fix)


_FIXES = {
    ActionKind.RETRY: Fix.RESUBMIT,
    ActionKind.RESTART_FROM_CHECKPOINT: Fix.RESUBMIT,
    ActionKind.REPLACE_NODE: Fix.REPLACE_HARDWARE,
    ActionKind.ROLL_BACK: Fix.RESTORE_CHECKPOINT,
    ActionKind.FIX_CONFIG: Fix.CHANGE_CONFIGURATION,
    ActionKind.FIX_CODE: Fix.CHANGE_CODE,
    ActionKind.FIX_DATA: Fix.REPAIR_DATA,
    ActionKind.FREE_RESOURCE: Fix.ADD_RESOURCE,
    ActionKind.RAISE_LIMIT: Fix.ADD_RESOURCE,
}


def _entry(path: Path, number: int, line: str) -> Entry:
    try:
        return Entry.model_validate_json(line)
    except ValidationError:
        hint = "take the line out; the other steps stay as they are"
        raise StoreError(f"{path}:{number} is damaged", hint=hint) from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
