"""From a confirmed incident to a proposed signature, with all it matches and would have matched.

A learned rule must earn its place: it fires on its own case, stays silent on every stored healthy run, and a person
approves it. Nothing here changes the library.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import re2

from assistant.case.models import Case, EventReport, Model
from assistant.case.vocabulary import Role
from assistant.errors import NothingToLearn
from assistant.faults.library import Library
from assistant.faults.matcher import Matcher
from assistant.faults.models import FaultRole, Specificity
from assistant.incidents.confirm import telling
from assistant.incidents.models import Incident

FEWEST_LETTERS = 12
"""Letters of plain words that a signature must hold: fewer would match too much."""
MOST = 3
"""Signatures of one proposal."""
SHOWN = 10
_SLOT = re.compile(r"<(?:[A-Z]+[0-9]?|\*)>")
_SAMPLE = {
    "<NUM>": "7",
    "<IP>": "10.0.0.7:29500",
    "<PATH>": "/a/b/c",
    "<HEX>": "0x7f",
    "<TIME>": "12:00:01",
    "<*>": "x",
}
_LEVEL = re.compile(r"^(?:[EWIF]<NUM>|\[(?:<\w+>|rank<NUM>)\]:?|<TIME>|\W)+")


class Trial(Model):
    """What a signature matches, tried on everything that is stored."""

    own: tuple[str, ...] = ()
    """Texts of its own case."""
    healthy: tuple[str, ...] = ()
    """Lines or templates of healthy runs: any of them rules the signature out."""
    past: tuple[str, ...] = ()
    """Past cases that it would have matched, with their causes."""
    known: tuple[str, ...] = ()
    """Library entries that match its own case already."""

    @property
    def sound(self) -> bool:
        """It fires on its case and on no healthy run."""
        return bool(self.own) and not self.healthy


class Proposal(Model):
    """A signature that a person may approve."""

    id: str
    """`learned-` and the beginning of a hash of what it would match."""
    title: str
    cause: str
    incident: str
    regexes: tuple[str, ...]
    examples: tuple[str, ...]
    """Lines of its own case that it matches."""
    trial: Trial


@dataclass(frozen=True, slots=True)
class Experience:
    """What a signature is tried on."""

    healthy_templates: Sequence[tuple[str, str]] = ()
    """(baseline, template text)"""
    healthy_lines: Iterable[tuple[str, str]] = ()
    """(where, line)"""
    cases: Sequence[Case] = ()


def propose(incident: Incident, case: Case, library: Library, experience: Experience) -> Proposal:
    """The signature that tells this failure from healthy runs.

    Raises NothingToLearn where no event of the case is telling enough, or where healthy runs show all of them.
    """
    events = [event for event in telling(case.events) if _unknown(event, case, library)]
    regexes = {regex_of(event.template): event for event in events if is_telling(event.template)}
    if not regexes:
        raise NothingToLearn(
            f"{case.case} has no telling event that the library does not know", hint="the library knows this fault"
        )
    sound = [regex for regex in regexes if not _healthy(regex, experience)][:MOST]
    if not sound:
        raise NothingToLearn(
            f"healthy runs show all telling events of {case.case}", hint="nothing can be learned from it by its words"
        )
    own = _own(sound, case)
    title = f"Learned from {incident.id}: {incident.root_cause or incident.title}"[:160]
    digest = hashlib.sha1("\n".join(sound).encode(), usedforsecurity=False).hexdigest()
    return Proposal(
        id=f"learned-{digest[:8]}",
        title=title,
        cause=incident.cause,
        incident=incident.id,
        regexes=tuple(sound),
        examples=own[:SHOWN],
        trial=Trial(own=own[:SHOWN], past=_past(sound, case, experience.cases), known=_known(events, library)),
    )


def is_telling(template: str) -> bool:
    """Whether a template holds enough plain words to be recognised by."""
    return sum(letter.isalpha() for letter in _SLOT.sub("", _LEVEL.sub("", template))) >= FEWEST_LETTERS


def regex_of(template: str) -> str:
    """An expression of the RE2 subset for a template: its words as they are, its slots as anything without a space."""
    body = _LEVEL.sub("", template).strip()
    parts, at = [], 0
    for slot in _SLOT.finditer(body):
        parts += [re.escape(body[at : slot.start()]), ".*?" if slot[0] == "<*>" else r"\S+"]
        at = slot.end()
    return "".join([*parts, re.escape(body[at:])]).replace(r"\ ", " ")


def sample_of(template: str) -> str:
    """A line that a template stands for."""
    return _SLOT.sub(lambda slot: _SAMPLE.get(slot[0], "x1"), template)


def _unknown(event: EventReport, case: Case, library: Library) -> bool:
    """Whether the library says nothing, or nothing in particular, of an event."""
    if event.role not in (Role.INITIATING, Role.CONTEXT):
        return False
    texts = [sample_of(event.template), *(item.text for item in case.evidence if item.id in event.evidence)]
    matcher = Matcher(library)
    names = {name for text in texts for name in matcher.match(text)} | {event.fault or ""}
    entries = [library[name] for name in names if name in library]
    return all(entry.role is FaultRole.ROOT and entry.specificity is Specificity.GENERIC for entry in entries)


def _own(regexes: Sequence[str], case: Case) -> tuple[str, ...]:
    texts = [item.text for item in case.evidence] + [sample_of(event.template) for event in case.events]
    return tuple(dict.fromkeys(text for text in texts if any(_matches(regex, text) for regex in regexes)))


def _healthy(regex: str, experience: Experience) -> list[str]:
    templates = (f"{where}: {text}" for where, text in experience.healthy_templates if _matches(regex, sample_of(text)))
    lines = (f"{where}: {line[:200]}" for where, line in experience.healthy_lines if _matches(regex, line))
    return [*templates, *lines][:SHOWN]


def _past(regexes: Sequence[str], own: Case, cases: Sequence[Case]) -> tuple[str, ...]:
    found = [f"{case.case}: {case.verdict.cause}" for case in cases if case.case != own.case and _own(regexes, case)]
    return tuple(found[:SHOWN])


def _known(events: Sequence[EventReport], library: Library) -> tuple[str, ...]:
    return tuple(dict.fromkeys(event.fault for event in events if event.fault and event.fault in library))


def _matches(regex: str, text: str) -> bool:
    return re2.compile(regex).search(text) is not None
