"""How processes ended, by the words of srun, mpirun, DeepSpeed's and the older PyTorch launcher.

A task of srun is a rank only where one process runs a task; where torchrun was started by srun, a task is a node.
What is ended after srun has begun to end the step was closed by it, whatever signal it got.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from assistant.events.models import Scan
from assistant.intake.models import Source, WriterKind
from assistant.intake.nodelists import expand_hosts, expand_numbers
from assistant.intake.prefixes import parse_key
from assistant.signals.lines import Line
from assistant.signals.models import Signal, SignalKind, SignalPlace
from assistant.signals.whereabouts import Whereabouts
from assistant.signals.windows import Place, anchors, read_around

SRUN = re.compile(
    r"srun: error: (?P<host>[\w.\[\],-]{1,400}): tasks? (?P<tasks>[\d,-]{1,4000}): (?P<what>.{1,80}?)\s*$"
)
SRUN_CODE = re.compile(r"Exited with exit code (\d{1,3})")
SRUN_ENDS = re.compile(
    r"(?:srun|slurmstepd): .{0,200}?"
    r"(?:Terminating (?:Step|Job)Id|Job step aborted|Force Terminated|forcing job termination)"
    r"|slurmstepd: error: \*\*\* (?:STEP|JOB) "
)
MPI_SIGNAL = re.compile(
    r"(?P<origin>mpirun|mpiexec|prterun|orterun) noticed that process rank (?P<rank>\d{1,7}) "
    r"with PID (?P<pid>\d{1,10}) on node (?P<host>[\w.-]{1,255}) exited on signal (?P<signal>\d{1,2})"
)
MPI_NAME = re.compile(r"^.{0,80}Process name: \[(?:\[\d+,\d+\],|[\w.-]+@\d+,)(?P<rank>\d{1,7})\]")
MPI_CODE = re.compile(r"^.{0,80}Exit code:\s+(?P<code>\d{1,3})\s*$")
MPI_ABORT = re.compile(r"MPI_ABORT was invoked on rank (?P<rank>\d{1,7}) in communicator MPI_COMM_WORLD")
HYDRA = re.compile(r"=\s+(?:RANK (?P<rank>\d{1,7}) )?PID (?P<pid>\d{1,10}) RUNNING AT (?P<host>[\w.-]{1,255})")
HYDRA_CODE = re.compile(r"=\s+(?:EXIT CODE: |KILLED BY SIGNAL: )(?P<code>\d{1,3})")
LOCAL_RANK = re.compile(r"--local[-_]rank[=', ]{1,5}(?P<local>\d{1,4})\b")
DEEPSPEED = re.compile(r"exits with return code = (?P<code>-?\d{1,5})")
OLD_LAUNCH = re.compile(
    r"returned non-zero exit status (?P<code>\d{1,3})|died with <Signals\.\w{1,20}: (?P<signal>\d{1,2})>"
)
WORDS = re.compile(
    r"srun: error: .{1,400}\btasks?\b|noticed that process rank|Process name: |MPI_ABORT was invoked|RUNNING AT "
    r"|exits with return code|CalledProcessError: Command|Terminating StepId|Job step aborted"
)
"""What marks a record or template as one of these, masked or not."""
ENDS: dict[str, int] = {
    "terminated": -15,
    "killed": -9,
    "out of memory": -9,
    "segmentation fault": -11,
    "aborted": -6,
    "bus error": -7,
    "illegal instruction": -4,
    "floating point exception": -8,
    "hangup": -1,
    "interrupt": -2,
}
"""srun's words for signals (strsignal) as negative numbers."""
MOST = 100_000
"""Ends that are read of one source."""
NEAR = 8
"""Lines between the two halves of a message that spreads over several lines."""


@dataclass(frozen=True, slots=True)
class _Tellers:
    """What a line may mean depends on the lines before it in the same source."""

    source: Source
    where: Whereabouts
    tasks_are_ranks: bool


def places(scan: Scan) -> dict[int, list[Place]]:
    """What `read` wants to see of the sources."""
    return anchors(scan, WORDS)


def read(scan: Scan, lines: dict[int, tuple[Line, ...]] | None = None) -> tuple[Signal, ...]:
    """All such ends, in the order of the sources; empty where none of these launchers said anything.

    `lines` are those around `places`, where the caller has read them already.
    """
    seen = read_around(scan.sources, places(scan)) if lines is None else lines
    where = Whereabouts(scan)
    ranked = tasks_are_ranks(scan)
    found: dict[tuple[object, ...], Signal] = {}
    for source in scan.sources:
        tellers = _Tellers(source, where, ranked)
        for signal in islice(_signals([line.head for line in seen.get(source.id, ())], tellers), MOST):
            key = (signal.origin, signal.node, signal.rank, signal.local_rank, signal.pid, signal.value, signal.attempt)
            found.setdefault(key, signal)
    return tuple(found.values())


def tasks_are_ranks(scan: Scan) -> bool:
    """No launcher with workers of its own ran below the tasks."""
    if any(fact.get("dialect") in ("torchrun", "deepspeed") for fact in scan.facts):
        return False
    parts = [(parse_key(stream.key), stream.rank) for stream in scan.streams]
    tasks = [(found, rank) for found, rank in parts if "task" in found]
    if tasks:
        return all(rank is not None and int(found["task"]) == rank and "local" not in found for found, rank in tasks)
    ranked = {stream.group for stream in scan.streams if stream.rank is not None and stream.key}
    return not any(s.kind is WriterKind.LAUNCHER and (s.key or s.group not in ranked) for s in scan.streams)


def _signals(lines: Sequence[Line], tellers: _Tellers) -> Iterator[Signal]:
    ending = False
    for position, line in enumerate(lines):
        ending = ending or bool(SRUN_ENDS.search(line.text))
        if match := SRUN.search(line.text):
            yield from _srun(match, line, tellers, ending)
            continue
        after = lines[position + 1 : position + 1 + NEAR]
        for reader in READERS:
            if signal := reader(line, after, tellers):
                yield signal
                break


def _srun(match: re.Match[str], line: Line, tellers: _Tellers, ending: bool) -> Iterator[Signal]:
    code = _srun_code(match["what"])
    if code is None:
        return
    closed = code == -15 or (ending and code in (-9, 137, 143))
    names = expand_hosts(match["host"])
    base = _base("srun", line, tellers, names[0] if len(names) == 1 else "")
    base = replace(base, kind=SignalKind.CLOSED if closed else SignalKind.EXIT, exitcode=code)
    for task in expand_numbers(match["tasks"]):
        rank = task if tellers.tasks_are_ranks else None
        node = tellers.where.nodes.get(task, base.node) if rank is not None else base.node
        yield replace(base, rank=rank, node=node, value=f"task {task}: {match['what']}")


def _srun_code(what: str) -> int | None:
    if found := SRUN_CODE.search(what):
        return int(found.group(1))
    return next((code for words, code in ENDS.items() if what.lower().startswith(words)), None)


def _mpi_signal(line: Line, after: Sequence[Line], tellers: _Tellers) -> Signal | None:
    match = MPI_SIGNAL.search(line.text)
    if match is None:
        return None
    base = _base(match["origin"], line, tellers, match["host"])
    return replace(base, rank=int(match["rank"]), pid=int(match["pid"]) or None, exitcode=-int(match["signal"]))


def _mpi_name(line: Line, after: Sequence[Line], tellers: _Tellers) -> Signal | None:
    match = MPI_NAME.search(line.text)
    code = _first(MPI_CODE, after) if match else None
    if match is None or code is None:
        return None
    return replace(_base("mpirun", line, tellers, ""), rank=int(match["rank"]), exitcode=int(code["code"]))


def _mpi_abort(line: Line, after: Sequence[Line], tellers: _Tellers) -> Signal | None:
    match = MPI_ABORT.search(line.text)
    if match is None:
        return None
    return replace(_base("mpirun", line, tellers, ""), rank=int(match["rank"]), value="MPI_ABORT")


def _hydra(line: Line, after: Sequence[Line], tellers: _Tellers) -> Signal | None:
    match = HYDRA.search(line.text)
    code = _first(HYDRA_CODE, after) if match else None
    if match is None or code is None:
        return None
    number = int(code["code"])
    killed = "SIGNAL" in code.group(0) or number < 32
    base = _base("hydra", line, tellers, match["host"])
    rank = int(match["rank"]) if match["rank"] else None
    return replace(base, rank=rank, pid=int(match["pid"]), exitcode=-number if killed else number)


def _deepspeed(line: Line, after: Sequence[Line], tellers: _Tellers) -> Signal | None:
    match = DEEPSPEED.search(line.text) if "[launch.py:" in line.text else None
    if match is None or match["code"] == "0":
        return None
    return _local(replace(_base("deepspeed", line, tellers, ""), exitcode=int(match["code"])), line, tellers)


def _old_launch(line: Line, after: Sequence[Line], tellers: _Tellers) -> Signal | None:
    match = OLD_LAUNCH.search(line.text) if "CalledProcessError: Command" in line.text else None
    if match is None or not LOCAL_RANK.search(line.text):
        return None
    code = -int(match["signal"]) if match["signal"] else int(match["code"])
    return _local(replace(_base("launch", line, tellers, ""), exitcode=code), line, tellers)


def _local(signal: Signal, line: Line, tellers: _Tellers) -> Signal:
    """Adds the local rank that stands in the command, and the global one where the scan knows it."""
    match = LOCAL_RANK.search(line.text)
    if match is None:
        return signal
    local = int(match["local"])
    return replace(signal, local_rank=local, rank=tellers.where.global_rank(signal.node, local))


def _base(origin: str, line: Line, tellers: _Tellers, host: str) -> Signal:
    record = tellers.where.record_before(line.source, line.line)
    own = record if record and record.line == line.line else None
    return Signal(
        origin,
        SignalKind.EXIT,
        node=host or tellers.where.node(tellers.source),
        time=own.time if own else None,
        evidence=(SignalPlace(line.source, line.line, line.offset, line.text[:4096]),),
        attempt=record.attempt if record else 0,
    )


def _first(pattern: re.Pattern[str], lines: Sequence[Line]) -> re.Match[str] | None:
    return next((found for line in lines if (found := pattern.search(line.text))), None)


READERS: tuple[Callable[[Line, Sequence[Line], _Tellers], Signal | None], ...] = (
    _mpi_signal,
    _mpi_name,
    _mpi_abort,
    _hydra,
    _deepspeed,
    _old_launch,
)
