"""torchelastic's own answer: the "Root Cause (first observed failure)" that each launcher prints when a worker fails.

With several launchers the block with the earliest time is taken, as torchelastic itself does among its own workers. The
cause is what its line says: the signal, or that the worker left with a code. Where the block shows a traceback, the
exception. It always blames somebody where it prints a block; where no launcher does, all went well for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assistant.case.vocabulary import UNKNOWN_CAUSE, Status
from evals.prediction import Context, Prediction, Suspect
from evals.rivals.exceptions import cause_of_exception
from evals.rivals.lines import JobLog, Line
from evals.rivals.local import answer

_LABELS = re.compile(r"^(?:\[\w+\]:|\d+: )+")
_FIELD = re.compile(r"^\s{0,4}(time|host|rank|exitcode|error_file)\s*: (.*)$")
_HEADINGS = ("Failures:", "Root Cause (first observed failure)")
_ENDS = re.compile(r"^(?:\s*[=-]{20,}\s*$|\[\d+\]:\s*$|Failures:|Root Cause \(first)")
_RULE = re.compile(r"^\s*(?:=|-){20,}\s*$")
_RAISED = re.compile(r"^\s+([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)): ?")
_SIGNALS = {4: "illegal_instruction", 6: "abort", 7: "bus_error", 9: "killed", 11: "segfault"}


@dataclass(frozen=True, slots=True)
class Failure:
    """One entry of a failure block."""

    root: bool
    reported: float = 0.0
    """When its launcher began to report, as its last line before the block says; splits equal seconds of `time`."""
    time: str = ""
    host: str = ""
    rank: int | None = None
    exit_code: int | None = None
    raised: str = ""
    """The exception that its traceback ends with."""


@dataclass(frozen=True, slots=True)
class Torchelastic:
    """The launchers' own root-cause lines."""

    name: str = "torchelastic"
    version: str = "as logged"
    fingerprint: str = "torchelastic/1"

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The answer for one job; healthy runs are not used."""
        return answer(job, _said)


def _said(log: JobLog) -> Prediction:
    found = list(failures(log.lines()))
    if not found:
        return Prediction(status=Status.HEALTHY, cause="none", ranks=(), nodes=(), blamed=())
    found.sort(key=lambda failure: (not failure.root, failure.time, failure.reported))
    first = found[0]
    return Prediction(
        status=Status.FAILED,
        cause=cause_of(first),
        ranks=tuple(dict.fromkeys(f.rank for f in found if f.rank is not None)),
        nodes=tuple(dict.fromkeys(f.host for f in found if f.host)),
        blamed=(Suspect(rank=first.rank, node=first.host or None),),
    )


def cause_of(failure: Failure) -> str:
    """The cause class that an entry amounts to."""
    code = failure.exit_code
    if failure.raised:
        return cause_of_exception(failure.raised)
    if code is not None and code < 0:
        return f"process.{_SIGNALS[-code]}" if -code in _SIGNALS else UNKNOWN_CAUSE
    return "process.exit" if code else UNKNOWN_CAUSE


def failures(lines: Iterable[Line]) -> Iterator[Failure]:
    """All entries of all failure blocks."""
    for body, root, reported in _entries(lines):
        fields = {found[1]: found[2] for text in body if (found := _FIELD.match(text))}
        raised = [found[1] for text in body if (found := _RAISED.match(text))]
        yield Failure(
            root=root,
            reported=reported,
            time=fields.get("time", ""),
            host=fields.get("host", "").strip(),
            rank=_first_number(fields.get("rank", "")),
            exit_code=_first_number(fields.get("exitcode", "")),
            raised=raised[-1] if raised else "",
        )


def _entries(lines: Iterable[Line]) -> Iterator[tuple[list[str], bool, float]]:
    """The lines of each entry, whether it is the root cause, and when its launcher began to report."""
    block = _Block()
    for line in lines:
        text = _LABELS.sub("", line.text)
        if block.body and (line.source != block.source or _ENDS.match(text)):
            yield block.body, block.root, block.reported
        block.take(line, text)
    if block.body:
        yield block.body, block.root, block.reported


@dataclass(slots=True)
class _Block:
    """The failure block that is being read."""

    source: str = ""
    inside: bool = False
    root: bool = False
    reported: float = 0.0
    body: list[str] = field(default_factory=list)

    def take(self, line: Line, text: str) -> None:
        """One more line."""
        if line.source != self.source or _ENDS.match(text):
            self.body = []
        if line.source != self.source or (self.root and _RULE.match(text)):
            self.inside, self.root = False, False
        if text.startswith(_HEADINGS):
            self.reported = self.reported if self.inside else line.time or 0.0
            self.inside, self.root = True, text.startswith(_HEADINGS[1])
        elif self.inside and (self.body or _FIELD.match(text)):
            self.body.append(text)
        self.source = line.source


def _first_number(text: str) -> int | None:
    found = re.search(r"-?\d+", text)
    return int(found[0]) if found else None
