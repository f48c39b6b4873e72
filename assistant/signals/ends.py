"""How workers ended, by the words of their launcher: by themselves, or because it told them to stop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assistant.signals.consoles import ORIGIN, Console, Remains, cited
from assistant.signals.failures import Entry
from assistant.signals.launcher import Agent
from assistant.signals.models import Signal, SignalKind


def ends(found: Remains) -> Iterator[Signal]:
    """Each worker's end, each launcher's claim of a root cause, and launchers that were stopped themselves."""
    for console in found.consoles:
        for entry in console.entries:
            yield from _listed(entry, console, found)
        for agent in console.agents.values():
            yield from _failed(agent, console, found)
            yield from _closed(agent, console, found)
            if agent.stopped:
                name, line = agent.stopped
                yield replace(found.spoken(SignalKind.STOPPED, line, console), value=name)


def maps(found: Remains) -> Iterator[Signal]:
    """Each launcher's own mapping of local to global ranks."""
    for console in found.consoles:
        for agent in console.agents.values():
            for local, rank in agent.ranks.items():
                if rank >= 0 and agent.map_place:
                    mapped = found.spoken(SignalKind.RANK_MAP, agent.map_place, console, rank)
                    yield replace(mapped, local_rank=local, value=f"local {local} is global {rank}")


def _listed(entry: Entry, console: Console, found: Remains) -> Iterator[Signal]:
    """A worker that a failure block describes; its error file has the message that the block only indents."""
    file = found.file_of(entry)
    end = Signal(
        ORIGIN,
        SignalKind.CLOSED if _ordered(entry, console) else SignalKind.EXIT,
        node=found.where.node(console.source, entry.host, entry.rank),
        rank=entry.rank,
        local_rank=entry.local_rank,
        pid=entry.pid,
        time=found.on_scan_clock(entry.time),
        exitcode=entry.exitcode,
        value=file.report.message if file else entry.message,
        evidence=(cited(entry.place),),
        attempt=found.attempt_of(entry, console),
    )
    yield end
    if entry.root:
        yield replace(end, kind=SignalKind.FIRST_FAILURE)


def _ordered(entry: Entry, console: Console) -> bool:
    """The launcher asked this process to stop, and it ended by that signal."""
    closed = console.closed(entry.pid)
    return closed is not None and (entry.exitcode == -15 or (closed.forced and entry.exitcode == -9))


def _failed(agent: Agent, console: Console, found: Remains) -> Iterator[Signal]:
    """Failures that no block describes: those of earlier attempts."""
    listed = {entry.pid for entry in console.entries}
    ranks = _ranks(agent, console)
    for failed, attempt in zip(agent.failed, attempts(agent, console, found), strict=True):
        if failed.pid in listed:
            continue
        rank = ranks.get(failed.local_rank, found.where.rank_beside(console.source, failed.local_rank))
        loose = found.spoken(SignalKind.EXIT, failed.place, console, rank)
        yield replace(loose, local_rank=failed.local_rank, pid=failed.pid, exitcode=failed.exitcode, attempt=attempt)


def _closed(agent: Agent, console: Console, found: Remains) -> Iterator[Signal]:
    """Workers that were told to stop and that no block describes; the agent names them by pid only."""
    listed = {entry.pid for entry in console.entries}
    stopped = [closed for closed in agent.closed.values() if closed.pid not in listed]
    beside = found.where.ranks_beside(console.source) | set(_ranks(agent, console).values())
    only = beside.pop() if len(stopped) == len(beside) == 1 else None
    numbered = list(zip(agent.failed, attempts(agent, console, found), strict=True))
    for closed in stopped:
        loose = found.spoken(SignalKind.CLOSED, closed.place, console, only)
        attempt = next((n for failed, n in numbered if failed.place.line > closed.place.line), loose.attempt)
        yield replace(loose, pid=closed.pid, value=closed.signal, attempt=attempt)


def _ranks(agent: Agent, console: Console) -> dict[int, int]:
    return {entry.local_rank: entry.rank for entry in console.entries} | agent.ranks


def attempts(agent: Agent, console: Console, found: Remains) -> list[int]:
    """The attempt that each failure the agent saw belongs to.

    At its default log level the agent does not say that it restarts its workers; the attempt folders beside its console
    do. It prints a block for the last failure only, and none where the last attempt went well.
    """
    known = found.where.attempts_beside(console.source)
    count = len(agent.failed)
    listed = {entry.pid for entry in console.entries}
    ended = bool(count) and agent.failed[-1].pid in listed
    last = known if ended or known < count else known - 1
    return [max(0, last - (count - 1 - position)) for position in range(count)]
