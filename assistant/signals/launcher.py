"""Single lines in which torchrun's agent says what it does with its workers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from assistant.intake.numerals import whole
from assistant.signals.lines import Line, writer_pid

FAILED = re.compile(
    r"failed \(exitcode: (?P<code>-?\d{1,10})\) local_rank: (?P<local>\d{1,4}) \(pid: (?P<pid>\d{1,10})\)"
)
CLOSING = re.compile(r"(?:Sending|Closing) process (?P<pid>\d{1,10}) (?:closing|via) signal (?P<signal>[\w.]+)")
FORCED = re.compile(
    r"Unable to shutdown process (?P<pid>\d{1,10}) via .{1,40}, forcefully exitt?ing via (?P<signal>[\w.]+)"
)
STOPPED = re.compile(r"Received (?:Signals\.)?(?P<signal>\w+) death signal, shutting down workers")
STOPPED_BY = re.compile(r"SignalException: Process (?P<pid>\d{1,10}) got signal: (?P<signal>\d{1,3})")
LOCALS = re.compile(r"\blocal_ranks=\[(?P<ranks>[\d, ]{1,4000})\]")
GLOBALS = re.compile(r"\bglobal_ranks=\[(?P<ranks>[\d, ]{1,4000})\]")
WORDS = re.compile(
    r"failed \(exitcode: |closing signal |via signal |forcefully exitt?ing via|death signal|got signal: |local_ranks=\["
    r"|global_ranks=\[|Root Cause|observed failure|ChildFailedError|Rendezvous complete"
)
"""What marks a record or template as a launcher's, masked or not."""
SIGNALS = {"15": "SIGTERM", "9": "SIGKILL", "2": "SIGINT", "1": "SIGHUP", "3": "SIGQUIT"}


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker whose end the agent saw first."""

    local_rank: int
    pid: int
    exitcode: int
    place: Line


@dataclass(frozen=True, slots=True)
class Closed:
    """A worker that the agent told to stop."""

    pid: int
    signal: str
    place: Line
    forced: bool = False
    """It did not stop when asked (deaf, or deep in the kernel)."""


@dataclass(slots=True)
class Agent:
    """What one agent said; several may share a file, told apart by their pid."""

    failed: list[Failed] = field(default_factory=list)
    closed: dict[int, Closed] = field(default_factory=dict)
    ranks: dict[int, int] = field(default_factory=dict)
    """Local to global rank."""
    map_place: Line | None = None
    stopped: tuple[str, Line] | None = None
    """The signal by which the agent itself was told to stop."""


def agents(lines: Iterable[Line]) -> dict[int | None, Agent]:
    """Everything the agents in these lines said, by agent pid (None where the line does not tell)."""
    found: dict[int | None, Agent] = {}
    writer: int | None = None
    for line in lines:
        writer = writer_pid(line.text) or writer
        if WORDS.search(line.text):
            _take(line, found.setdefault(writer, Agent()))
    return found


def _take(line: Line, agent: Agent) -> None:
    text = line.text
    if match := FAILED.search(text):
        agent.failed.append(Failed(int(match["local"]), int(match["pid"]), int(match["code"]), line))
    elif match := FORCED.search(text):
        agent.closed[int(match["pid"])] = Closed(int(match["pid"]), _name(match["signal"]), line, forced=True)
    elif match := CLOSING.search(text):
        agent.closed.setdefault(int(match["pid"]), Closed(int(match["pid"]), _name(match["signal"]), line))
    elif match := STOPPED.search(text) or STOPPED_BY.search(text):
        agent.stopped = agent.stopped or (_name(match["signal"]), line)
    elif match := LOCALS.search(text):
        agent.ranks = dict.fromkeys(_numbers(match["ranks"]), -1)
    elif match := GLOBALS.search(text):
        agent.ranks = dict(zip(agent.ranks, _numbers(match["ranks"]), strict=False))
        agent.map_place = line


def _name(text: str) -> str:
    bare = text.removeprefix("Signals.")
    return SIGNALS.get(bare, bare)


def _numbers(text: str) -> list[int]:
    return [number for part in text.split(",") if (number := whole(part.strip())) is not None]
