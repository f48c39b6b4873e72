"""Everything that torchrun left behind in one job, read and put on one clock, before it becomes signals."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from statistics import median

from assistant.intake.models import Source
from assistant.signals.failures import Entry
from assistant.signals.launcher import Agent, Closed
from assistant.signals.lines import Line, glog_time
from assistant.signals.models import Signal, SignalKind, SignalPlace
from assistant.signals.reports import ErrorFile
from assistant.signals.whereabouts import Whereabouts, rank_folder
from assistant.signals.windows import known_records

ORIGIN = "torchelastic"
QUARTER_HOUR = 900.0
"""Time zones differ by whole multiples of it."""
LONGEST_TEXT = 4096


@dataclass(frozen=True, slots=True)
class Console:
    """What the launchers in one source said."""

    source: Source
    entries: tuple[Entry, ...]
    agents: dict[int | None, Agent]

    def closed(self, pid: int | None) -> Closed | None:
        """The agent's order to stop this worker."""
        return next((a.closed[pid] for a in self.agents.values() if pid in a.closed), None) if pid else None


@dataclass
class Remains:
    """Consoles, error files, and who is who; all that follows is looked up once."""

    where: Whereabouts
    consoles: list[Console] = field(default_factory=list)
    files: list[ErrorFile] = field(default_factory=list)

    def identify(self) -> None:
        """Adds what the launchers know of ranks and hosts to what the scan knows."""
        for console in self.consoles:
            for entry in console.entries:
                self.where.learn(entry.error_file, entry.rank)
                self.where.learn_host(entry.rank, self.where.node(console.source, entry.host, entry.rank) or "")
            for agent in console.agents.values():
                self.where.learn_map(console.source, agent.ranks)
            told = {entry.local_rank: entry.rank for entry in console.entries}
            if len(told) == len(console.entries):
                self.where.learn_map(console.source, told)
        self.where.settle()

    @cached_property
    def by_tail(self) -> dict[str, ErrorFile]:
        """Error files by the end of their path, which is the same here and on the machine that wrote it."""
        return {folder.tail: file for file in self.files if (folder := rank_folder(file.source.name))}

    @cached_property
    def by_worker(self) -> dict[tuple[int, int], Entry]:
        """Block entries by rank and attempt."""
        found: dict[tuple[int, int], Entry] = {}
        for console in self.consoles:
            for entry in console.entries:
                found.setdefault((entry.rank, self.attempt_of(entry, console)), entry)
        return found

    def file_of(self, entry: Entry) -> ErrorFile | None:
        """The error file that a block entry names."""
        folder = rank_folder(entry.error_file) if entry.error_file else None
        return self.by_tail.get(folder.tail) if folder else None

    @cached_property
    def zone(self) -> float:
        """Seconds by which launchers' local times are ahead of the error files' epoch seconds."""
        gaps = []
        for console in self.consoles:
            for entry in console.entries:
                file = self.file_of(entry)
                if file and file.report.time is not None and entry.time is not None:
                    gaps.append(entry.time - file.report.time)
        return _zone(gaps)

    @cached_property
    def shift(self) -> float:
        """Seconds to add to a launcher's local time to bring it to the scan's clock, which knows zones where it can."""
        gaps = []
        for record in known_records(self.where.scan):
            if record.own_time and record.time is not None:
                local = glog_time(record.text, datetime.fromtimestamp(record.time, UTC).year)
                gaps += [] if local is None else [record.time - local]
        return _zone(gaps)

    @cached_property
    def year(self) -> int | None:
        """The year that launcher lines leave out."""
        known = [entry.time for console in self.consoles for entry in console.entries if entry.time is not None]
        known += [file.report.time + self.zone for file in self.files if file.report.time is not None]
        known += [record.time for record in known_records(self.where.scan) if record.time is not None]
        return datetime.fromtimestamp(known[0], UTC).year if known else None

    def on_scan_clock(self, local: float | None) -> float | None:
        """A launcher's local time as the scan's other times."""
        return None if local is None else local + self.shift

    def time_of(self, line: Line) -> float | None:
        """When a launcher wrote a line."""
        record = self.where.record_before(line.source, line.line)
        if record and record.line == line.line and record.time is not None:
            return record.time
        return self.on_scan_clock(glog_time(line.text, self.year)) if self.year else None

    def attempt_of(self, entry: Entry, console: Console) -> int:
        """A block describes the last attempt, which the path of an error file numbers."""
        folder = rank_folder(entry.error_file) if entry.error_file else None
        if folder:
            return folder.attempt
        return max(self.where.attempts_beside(console.source), self.attempt_at(entry.place))

    def attempt_at(self, line: Line) -> int:
        """The attempt that the scan counts at a line."""
        record = self.where.record_before(line.source, line.line)
        return record.attempt if record else 0

    def spoken(self, kind: SignalKind, line: Line, console: Console, rank: int | None = None) -> Signal:
        """A signal that rests on one line of a launcher."""
        return Signal(
            ORIGIN,
            kind,
            node=self.where.node(console.source, "", rank),
            rank=rank,
            time=self.time_of(line),
            evidence=(cited(line),),
            attempt=self.attempt_at(line),
        )


def cited(line: Line) -> SignalPlace:
    """The line as evidence."""
    return SignalPlace(line.source, line.line, line.offset, line.text[:LONGEST_TEXT])


def _zone(gaps: list[float]) -> float:
    return round(median(gaps) / QUARTER_HOUR) * QUARTER_HOUR if gaps else 0.0
