"""Everything that can be found, in one shape: pages of facts, fault-library entries, incidents."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.faults.models import Fault
from assistant.incidents.models import Incident
from assistant.retrieval.models import Kind


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it."""

    heading: str
    text: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """One thing to find."""

    id: str
    kind: Kind
    title: str
    sections: tuple[Section, ...]
    file: str = ""
    source: str = ""
    layer: str = ""
    vendor: str = ""
    framework: str = ""
    versions: str = ""
    date: str = ""
    checked: str = ""
    origin: str = "shipped"
    codes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    stage: str = ""
    confirmed: bool = False

    @property
    def key(self) -> str:
        """Unique among all documents."""
        return f"{self.kind}:{self.id}"


def of_fault(fault: Fault, file: str = "", origin: str = "shipped") -> Document:
    """A library entry: what it is, how it shows, what it does not prove, what to do."""
    steps = "\n".join(f"- {step.text}" + (f" `{step.command}`" if step.command else "") for step in fault.action.steps)
    sections = (
        Section("", fault.explanation),
        Section("How it shows", "\n".join(fault.examples.match)),
        Section("What it does not prove", fault.does_not_prove),
        Section("What to do", f"{fault.action.text}\n{steps}"),
    )
    best = fault.references[0] if fault.references else None
    return Document(
        fault.id,
        "fault",
        fault.title,
        _filled(sections),
        file=file,
        source=best.source if best else "",
        layer=layer_of(fault.cause),
        checked=best.checked if best else "",
        origin=origin,
        faults=(fault.id,),
        stage=fault.stage.value if fault.stage else "",
    )


def of_incident(incident: Incident, file: str = "") -> Document:
    """An incident: how it showed, what it was, what was done."""
    setting = ", ".join(filter(None, (incident.framework, incident.hardware, incident.scale)))
    shown = "\n".join((incident.symptom, *incident.log_lines, *incident.evidence))
    sections = (
        Section("How it showed", "\n".join(filter(None, (shown, setting)))),
        Section("What it was", "\n".join(filter(None, (incident.root_cause, incident.suspect, incident.note)))),
        Section("What was done", "\n".join(filter(None, (incident.fix, incident.lesson)))),
    )
    return Document(
        incident.id,
        "incident",
        incident.title,
        _filled(sections),
        file=file,
        source=incident.source,
        layer=layer_of(incident.cause),
        framework=incident.framework or "",
        date=incident.confirmed_at or incident.date or "",
        checked=incident.checked,
        origin="team" if incident.origin == "team" else "shipped",
        codes=incident.codes,
        faults=tuple(dict.fromkeys((*incident.faults, *incident.trace.faults))),
        templates=tuple(sighting.id for sighting in incident.trace.templates),
        stage=incident.stage.value if incident.stage else "",
        confirmed=incident.confirmed_at is not None,
    )


def layer_of(cause: str) -> str:
    """The layer of a cause class; empty for `none` and `unknown`."""
    return cause.partition(".")[0] if "." in cause else ""


def _filled(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section.text.strip())
