"""torchrun (torchelastic): how each worker ended, by the launcher's words and by the error files that ranks leave.

What these facts are worth: an exit code without an error file is how a process died. An exit by a signal *with* an
error file is tear-down: the exception in the file came before. Where others left error files, a rank without one is
silent: killed, hung, or stopped by its launcher before it noticed anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from statistics import median

from assistant.events.models import Scan
from assistant.intake.models import Source
from assistant.signals.failures import Entry, entries
from assistant.signals.launcher import WORDS, Agent, Closed, agents
from assistant.signals.lines import Line, glog_time
from assistant.signals.models import Signal, SignalKind, SignalPlace
from assistant.signals.reports import ErrorFile, candidates, error_files
from assistant.signals.whereabouts import RankFolder, Whereabouts, order, rank_folder
from assistant.signals.windows import Place, anchors, known_records, read_around

ORIGIN = "torchelastic"
QUARTER_HOUR = 900.0
LONGEST_TEXT = 4096


@dataclass(slots=True)
class _Console:
    """What the launchers in one source said."""

    source: Source
    entries: tuple[Entry, ...]
    agents: dict[int | None, Agent]

    def closed(self, pid: int | None) -> Closed | None:
        """The agent's order to stop this worker."""
        return next((a.closed[pid] for a in self.agents.values() if pid in a.closed), None) if pid else None


@dataclass(slots=True)
class _Reading:
    """Everything read, before it becomes signals."""

    where: Whereabouts
    consoles: list[_Console] = field(default_factory=list)
    reports: list[ErrorFile] = field(default_factory=list)
    zone: float = 0.0
    """Seconds by which the launchers' local times are ahead of the error files' epoch seconds."""
    shift: float = 0.0
    """Seconds to add to a launcher's local time to bring it to the scan's clock, which knows zones where it can."""

    def on_scan_clock(self, local: float | None) -> float | None:
        """A launcher's local time as the scan's other times."""
        return None if local is None else local + self.shift


def places(scan: Scan) -> dict[int, list[Place]]:
    """What `read` wants to see of the sources."""
    return anchors(scan, WORDS) | candidates(scan.sources)


def read(
    scan: Scan, lines: dict[int, tuple[Line, ...]] | None = None, empty: tuple[str, ...] = ()
) -> tuple[Signal, ...]:
    """All signals of torchrun's launchers and workers, in a stable order; empty where torchrun did not run.

    `lines` are those around `places`, where the caller has read them already; `empty` names sources without a byte,
    which tell that a rank ran and wrote nothing.
    """
    seen = read_around(scan.sources, places(scan)) if lines is None else lines
    reading = _Reading(Whereabouts(scan, empty))
    reports = list(error_files(scan.sources, seen))
    reading.reports = reports
    told = {file.source.id for file in reports}
    for source in scan.sources:
        own = [line.head for line in seen.get(source.id, ())]
        if own and source.id not in told:
            reading.consoles.append(_Console(source, tuple(entries(own)), agents(own)))
    _identify(reading)
    reading.zone = _zone(reading)
    reading.shift = _shift(scan)
    found = [*_ends(reading), *_stops(reading), *_maps(reading), *_reported(reading), *_unreported(reading)]
    return _unique(found)


def _identify(reading: _Reading) -> None:
    for console in reading.consoles:
        for entry in console.entries:
            reading.where.learn(entry.error_file, entry.rank)
            reading.where.learn_host(entry.rank, reading.where.node(console.source, entry.host, entry.rank) or "")
        for agent in console.agents.values():
            reading.where.learn_map(console.source, agent.ranks)
        told = {entry.local_rank: entry.rank for entry in console.entries}
        if len(told) == len(console.entries):
            reading.where.learn_map(console.source, told)
    reading.where.settle()


def _zone(reading: _Reading) -> float:
    """Launchers write local time without a zone; an entry whose error file we hold tells how far that is from UTC."""
    files = [(rank_folder(file.source.name), file.report.time) for file in reading.reports]
    times = {folder.tail: time for folder, time in files if folder and time}
    gaps = []
    for console in reading.consoles:
        for entry in console.entries:
            folder = rank_folder(entry.error_file) if entry.error_file else None
            time = times.get(folder.tail) if folder else None
            if time is not None and entry.time is not None:
                gaps.append(entry.time - time)
    return round(median(gaps) / QUARTER_HOUR) * QUARTER_HOUR if gaps else 0.0


def _shift(scan: Scan) -> float:
    gaps = []
    for record in known_records(scan):
        if record.own_time and record.time is not None:
            local = glog_time(record.text, datetime.fromtimestamp(record.time, UTC).year)
            gaps += [] if local is None else [record.time - local]
    return round(median(gaps) / QUARTER_HOUR) * QUARTER_HOUR if gaps else 0.0


def _ends(reading: _Reading) -> Iterator[Signal]:
    for console in reading.consoles:
        for entry in console.entries:
            yield from _entry_signals(entry, console, reading)
        for agent in console.agents.values():
            yield from _loose_ends(agent, console, reading)


def _entry_signals(entry: Entry, console: _Console, reading: _Reading) -> Iterator[Signal]:
    end = Signal(
        ORIGIN,
        SignalKind.CLOSED if _ordered(entry, console) else SignalKind.EXIT,
        node=reading.where.node(console.source, entry.host, entry.rank),
        rank=entry.rank,
        local_rank=entry.local_rank,
        pid=entry.pid,
        time=reading.on_scan_clock(entry.time),
        exitcode=entry.exitcode,
        value=_message(entry, reading),
        evidence=(_place(entry.place),),
        attempt=_attempt_of(entry, console, reading),
    )
    yield end
    if entry.root:
        yield replace(end, kind=SignalKind.FIRST_FAILURE)


def _message(entry: Entry, reading: _Reading) -> str:
    """The message of the worker's error file, which the block repeats only as an indented stack."""
    folder = rank_folder(entry.error_file) if entry.error_file else None
    for file in reading.reports:
        own = rank_folder(file.source.name)
        if folder and own and own.tail == folder.tail:
            return file.report.message
    return entry.message


def _ordered(entry: Entry, console: _Console) -> bool:
    """The launcher asked this process to stop, and it ended by that signal."""
    closed = console.closed(entry.pid)
    return closed is not None and (entry.exitcode == -15 or (closed.forced and entry.exitcode == -9))


def _loose_ends(agent: Agent, console: _Console, reading: _Reading) -> Iterator[Signal]:
    """Ends that no block describes: those of earlier attempts, and of launchers that were stopped themselves."""
    listed = {entry.pid for entry in console.entries}
    ranks = {entry.local_rank: entry.rank for entry in console.entries} | agent.ranks
    numbers = _attempts(agent, console, reading)
    for failed, number in zip(agent.failed, numbers, strict=True):
        if failed.pid not in listed:
            rank = ranks.get(failed.local_rank, reading.where.rank_beside(console.source, failed.local_rank))
            loose = _loose(SignalKind.EXIT, failed.place, console, reading, failed.pid, rank)
            yield replace(loose, local_rank=failed.local_rank, exitcode=failed.exitcode, attempt=number)
    stopped = [closed for closed in agent.closed.values() if closed.pid not in listed]
    beside = reading.where.ranks_beside(console.source) | set(ranks.values())
    only = beside.pop() if len(stopped) == len(beside) == 1 else None
    for closed in stopped:
        later = [n for f, n in zip(agent.failed, numbers, strict=True) if f.place.line > closed.place.line]
        loose = _loose(SignalKind.CLOSED, closed.place, console, reading, closed.pid, only)
        yield replace(loose, value=closed.signal, attempt=later[0] if later else loose.attempt)


def _attempts(agent: Agent, console: _Console, reading: _Reading) -> list[int]:
    """The attempt that each failure the agent saw belongs to.

    At its default log level the agent does not say that it restarts its workers; the attempt folders beside its console
    do. It prints a block for the last failure only, and none where the last attempt went well.
    """
    known = reading.where.attempts_beside(console.source)
    count = len(agent.failed)
    listed = {entry.pid for entry in console.entries}
    ended = bool(count) and agent.failed[-1].pid in listed
    last = known if ended or known < count else known - 1
    return [max(0, last - (count - 1 - position)) for position in range(count)]


def _loose(
    kind: SignalKind, line: Line, console: _Console, reading: _Reading, pid: int | None, rank: int | None
) -> Signal:
    return Signal(
        ORIGIN,
        kind,
        node=reading.where.node(console.source, "", rank),
        rank=rank,
        pid=pid,
        time=_line_time(line, reading),
        evidence=(_place(line),),
        attempt=_attempt(line, reading),
    )


def _stops(reading: _Reading) -> Iterator[Signal]:
    for console in reading.consoles:
        for agent in console.agents.values():
            if agent.stopped:
                name, line = agent.stopped
                yield replace(_loose(SignalKind.STOPPED, line, console, reading, None, None), value=name)


def _maps(reading: _Reading) -> Iterator[Signal]:
    for console in reading.consoles:
        for agent in console.agents.values():
            for local, rank in agent.ranks.items():
                if rank >= 0 and agent.map_place:
                    mapped = _loose(SignalKind.RANK_MAP, agent.map_place, console, reading, None, rank)
                    yield replace(mapped, local_rank=local, value=f"local {local} is global {rank}")


def _reported(reading: _Reading) -> Iterator[Signal]:
    for file in reading.reports:
        folder, report = rank_folder(file.source.name), file.report
        rank = reading.where.folders.get(folder) if folder else None
        yield Signal(
            ORIGIN,
            SignalKind.ERROR_FILE,
            node=reading.where.node(file.source, "", rank),
            rank=rank,
            local_rank=folder.local_rank if folder else None,
            time=None if report.time is None else reading.on_scan_clock(report.time + reading.zone),
            exitcode=report.exitcode,
            value=report.message,
            evidence=(_place(file.place),),
            attempt=folder.attempt if folder else 0,
        )


def _unreported(reading: _Reading) -> Iterator[Signal]:
    """Ranks without an error file in attempts in which others have one: by their folder, a block, or the world size."""
    having: dict[int, set[int | None]] = {}
    for file in reading.reports:
        folder = rank_folder(file.source.name)
        if folder:
            having.setdefault(folder.attempt, set()).add(reading.where.folders[folder])
    reported = {folder for file in reading.reports if (folder := rank_folder(file.source.name))}
    for attempt, ranks in sorted(having.items()):
        missing = [_missing(folder, reading) for folder in _open_folders(attempt, reported, reading)]
        known = ranks | {signal.rank for signal in missing}
        missing += [
            _missing(RankFolder("", attempt, entry.local_rank), reading, entry.rank)
            for entry in _unlisted(attempt, known, reading)
        ]
        known = ranks | {signal.rank for signal in missing}
        missing += [_missing(RankFolder("", attempt, -1), reading, rank) for rank in _absent(known, reading)]
        yield from (replace(signal, value=f"{len(ranks)} others left one") for signal in missing)


def _open_folders(attempt: int, reported: set[RankFolder], reading: _Reading) -> list[RankFolder]:
    return [f for f in sorted(reading.where.folders, key=order) if f.attempt == attempt and f not in reported]


def _unlisted(attempt: int, known: set[int | None], reading: _Reading) -> list[Entry]:
    """Workers of a block that have neither an error file nor a folder among the sources."""
    return [
        entry
        for console in reading.consoles
        for entry in console.entries
        if entry.error_file is None and entry.rank not in known and _attempt_of(entry, console, reading) == attempt
    ]


def _absent(known: set[int | None], reading: _Reading) -> list[int]:
    """Ranks of which nothing at all is there, once at most a quarter of the job is such."""
    world = reading.where.world_size
    if world is None or None in known:
        return []
    absent = sorted(set(range(world)) - known)
    return absent if len(absent) <= max(1, world // 4) else []


def _missing(folder: RankFolder, reading: _Reading, rank: int | None = None) -> Signal:
    rank = reading.where.folders.get(folder) if rank is None else rank
    entry = _entry_of(rank, folder.attempt, reading)
    return Signal(
        ORIGIN,
        SignalKind.NO_ERROR_FILE,
        node=reading.where.nodes.get(-1 if rank is None else rank) or reading.where.node_of_folder(folder),
        rank=rank,
        local_rank=folder.local_rank if folder.local_rank >= 0 else None,
        pid=entry.pid if entry else None,
        evidence=(_place(entry.place),) if entry else (),
        attempt=folder.attempt,
    )


def _entry_of(rank: int | None, attempt: int, reading: _Reading) -> Entry | None:
    """What a launcher's block says about a worker of an attempt."""
    for console in reading.consoles:
        for entry in console.entries:
            if rank is not None and entry.rank == rank and _attempt_of(entry, console, reading) == attempt:
                return entry
    return None


def _attempt_of(entry: Entry, console: _Console, reading: _Reading) -> int:
    """A block describes the last attempt."""
    folder = rank_folder(entry.error_file) if entry.error_file else None
    return (
        folder.attempt if folder else max(reading.where.attempts_beside(console.source), _attempt(entry.place, reading))
    )


def _attempt(line: Line, reading: _Reading) -> int:
    record = reading.where.record_before(line.source, line.line)
    return record.attempt if record else 0


def _line_time(line: Line, reading: _Reading) -> float | None:
    record = reading.where.record_before(line.source, line.line)
    if record and record.line == line.line and record.time is not None:
        return record.time
    known = [entry.time for console in reading.consoles for entry in console.entries if entry.time is not None]
    known += [f.report.time + reading.zone for f in reading.reports if f.report.time is not None]
    known += [record.time] if record and record.time is not None else []
    return reading.on_scan_clock(glog_time(line.text, datetime.fromtimestamp(known[-1], UTC).year)) if known else None


def _place(line: Line) -> SignalPlace:
    return SignalPlace(line.source, line.line, line.offset, line.text[:LONGEST_TEXT])


def _unique(found: list[Signal]) -> tuple[Signal, ...]:
    """The same fact told twice (a console saved twice, a block repeated by a wrapper) counts once."""
    seen: dict[tuple[object, ...], Signal] = {}
    for signal in found:
        key = (signal.kind, signal.node, signal.rank, signal.local_rank, signal.pid, signal.exitcode, signal.attempt)
        seen.setdefault(key, signal)
    return tuple(seen.values())
