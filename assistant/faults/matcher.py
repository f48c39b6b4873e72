"""One pass over a record tells which library entries it matches (an RE2 set: about 400,000 lines a second)."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.faults.gate import gate_of
from assistant.faults.library import Library
from assistant.faults.models import Fault, FaultRole, Signature, Specificity
from assistant.intake.regexes import Regex, compile_regex, compile_set

_SPECIFICITY = {kind: place for place, kind in enumerate(Specificity)}
_ROLE = {role: place for place, role in enumerate(FaultRole)}


@dataclass(frozen=True, slots=True)
class Hit:
    """A signature that matched, and where in the record."""

    fault: Fault
    signature: Signature
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Compiled:
    place: int
    fault: Fault
    signature: Signature
    regex: Regex
    requires: tuple[Regex, ...]
    excludes: tuple[Regex, ...]

    def hit(self, record: str) -> Hit | None:
        found = self.regex.search(record)
        if found is None or any(needed.search(record) is None for needed in self.requires):
            return None
        if any(barred.search(record) is not None for barred in self.excludes):
            return None
        return Hit(self.fault, self.signature, found.start(), found.end())


class Matcher:
    """The library as the scan uses it (`events.models.RecordMatcher`). Unchanging once built, so safe in threads."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._compiled = tuple(
            _compile(place, fault, signature) for place, fault in enumerate(library) for signature in fault.signatures
        )
        self._set = compile_set([one.signature.regex for one in self._compiled])
        grave = (one for one in self._compiled if one.fault.role is not FaultRole.BENIGN)
        self._gate = tuple(gate_of(one.signature.regex for one in grave))

    def gate(self) -> list[str]:
        """Line regexes, each complete in itself, of which at least one matches every line worth a closer look."""
        return list(self._gate)

    def match(self, record: str) -> tuple[str, ...]:
        """Ids of the entries that match: decisive, specific, generic; within these roots before consequences."""
        return tuple(dict.fromkeys(hit.fault.id for hit in self.hits(record)))

    def hits(self, record: str) -> tuple[Hit, ...]:
        """Every matching signature in the order of `match`, with the place of its first match."""
        candidates = (self._compiled[index] for index in self._set.Match(record) or ())
        found = [(_order(one.place, hit), hit) for one in candidates if (hit := one.hit(record)) is not None]
        return tuple(hit for _, hit in sorted(found, key=lambda pair: pair[0]))


def _order(place: int, hit: Hit) -> tuple[int, int, int, int, int]:
    length = hit.end - hit.start
    return (_SPECIFICITY[hit.fault.specificity], _ROLE[hit.fault.role], -length, place, hit.start)


def _compile(place: int, fault: Fault, signature: Signature) -> _Compiled:
    return _Compiled(
        place,
        fault,
        signature,
        compile_regex(signature.regex),
        tuple(compile_regex(regex) for regex in signature.requires),
        tuple(compile_regex(regex) for regex in signature.excludes),
    )
