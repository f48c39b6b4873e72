"""The failure block that torchrun prints when a worker fails.

    train.py FAILED
    ------------------------------------
    Failures:
    [1]:
      time      : 2026-01-31_12:00:03
      host      : n02
      rank      : 5 (local_rank: 1)
      exitcode  : -15 (pid: 4322)  (SIGTERM)
      error_file: <N/A>
      traceback : Signal 15 (SIGTERM) received by PID 4322
    ------------------------------------
    Root Cause (first observed failure):
    [0]:
      ...

The format is that of torch.distributed.elastic.multiprocessing.errors, torch 1.9 (which says `msg`) to 2.13. Blocks of
several launchers may be interleaved in one file; lines are told apart by whatever stands in front of them. "Root cause"
is torchrun's name for the failure with the smallest time in whole seconds, the lowest rank among equals: a claim, no
proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from assistant.signals.lines import Line

INDEX = re.compile(r"^(?P<prefix>.{0,120}?)\[(?P<index>\d{1,6})\]:\s{0,9}$")
FIELD = re.compile(
    r"^(?P<prefix>.{0,120}?)\s{0,40}\b(?P<name>time|host|rank|exitcode|error_file|traceback|msg)"
    r"\s{0,9}: ?(?P<value>.*)$"
)
ROOT = re.compile(r"^(?P<prefix>.{0,120}?)Root Cause(?: \(first observed failure\))?:\s{0,9}$")
RULE = re.compile(r"^(?P<prefix>.{0,120}?)\s{0,40}(?:={20,}|-{20,}|\*{20,})\s{0,9}$")
FRAME = 400
"""Longest line that can be part of a block's frame."""
RANK = re.compile(r"^(\d{1,7}) \(local_rank: (\d{1,4})\)")
EXIT = re.compile(r"^(-?\d{1,10}) \(pid: (\d{1,10})\)")
TIME_FORMAT = "%Y-%m-%d_%H:%M:%S"
LONGEST_MESSAGE = 2000


@dataclass(frozen=True, slots=True)
class Entry:
    """One failed worker of a block."""

    root: bool
    rank: int
    local_rank: int
    exitcode: int | None
    pid: int | None
    time: float | None
    """Local time read as if it were UTC, epoch seconds; whole seconds."""
    host: str
    error_file: str | None
    message: str
    place: Line
    """The line with the exit code, else the one with the rank."""
    prefix: str


@dataclass(slots=True)
class _Draft:
    prefix: str
    root: bool
    fields: dict[str, str] = field(default_factory=dict)
    places: dict[str, Line] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)

    def entry(self) -> Entry | None:
        rank = RANK.match(self.fields.get("rank", ""))
        if rank is None:
            return None
        ended = EXIT.match(self.fields.get("exitcode", ""))
        error_file = self.fields.get("error_file", "").strip()
        return Entry(
            root=self.root,
            rank=int(rank.group(1)),
            local_rank=int(rank.group(2)),
            exitcode=int(ended.group(1)) if ended else None,
            pid=int(ended.group(2)) if ended else None,
            time=_time(self.fields.get("time", "")),
            host=self.fields.get("host", "").strip(),
            error_file=None if error_file in ("", "<N/A>") else error_file,
            message=_message(self.fields.get("traceback", ""), self.body),
            place=self.places.get("exitcode", self.places["rank"]),
            prefix=self.prefix,
        )


def entries(lines: Iterable[Line]) -> Iterator[Entry]:
    """The failed workers of all blocks in the lines, in the order in which they end."""
    reader = _Reader()
    for line in lines:
        yield from reader.feed(line)
    yield from reader.rest()


class _Reader:
    """One draft for each prefix, since the launchers of several nodes may share a file."""

    def __init__(self) -> None:
        self._drafts: dict[str, _Draft] = {}
        self._roots: set[str] = set()

    def feed(self, line: Line) -> Iterator[Entry]:
        text = line.text.rstrip()
        short = text if len(text) <= FRAME else ""
        if found := ROOT.match(short):
            yield from self._finish(_key(found))
            self._roots.add(_key(found))
        elif found := INDEX.match(short):
            yield from self._finish(_key(found))
            self._drafts[_key(found)] = _Draft(_key(found), _key(found) in self._roots)
        elif found := RULE.match(short):
            if _key(found) in self._drafts:
                self._roots.discard(_key(found))
            yield from self._finish(_key(found))
        else:
            self._fill(line, text)

    def _fill(self, line: Line, text: str) -> None:
        found = FIELD.match(text)
        draft = self._drafts.get(_key(found)) if found else None
        name = found.group("name").replace("msg", "traceback") if found else ""
        if found and draft and name not in draft.fields:
            draft.fields[name] = found.group("value")
            draft.places[name] = line
            return
        for prefix, open_draft in self._drafts.items():
            rest = text.lstrip()[len(prefix) :] if prefix else text
            if text.lstrip().startswith(prefix) and "traceback" in open_draft.fields and len(open_draft.body) < 5000:
                open_draft.body.append(rest)

    def _finish(self, prefix: str) -> Iterator[Entry]:
        draft = self._drafts.pop(prefix, None)
        entry = draft.entry() if draft else None
        if entry:
            yield entry

    def rest(self) -> Iterator[Entry]:
        """Entries of blocks that the file cuts off."""
        for prefix in list(self._drafts):
            yield from self._finish(prefix)


def _key(found: re.Match[str]) -> str:
    return found.group("prefix").strip()


def _time(text: str) -> float | None:
    try:
        return datetime.strptime(text.strip(), TIME_FORMAT).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _message(first: str, body: list[str]) -> str:
    """What stands below the last stack frame of the indented traceback; the first line where there is no stack."""
    frames = [n for n, text in enumerate(body) if text.startswith("    ") or text.lstrip().startswith("File ")]
    rest = [text.strip() for text in body[frames[-1] + 1 :] if text.strip()] if frames else []
    return ("\n".join(rest) or first.strip())[:LONGEST_MESSAGE]
