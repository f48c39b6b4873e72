"""rank_status and compare_nodes: how one place did, and what it has that its peers lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import Field

from assistant.case.models import EventReport, Evidence
from assistant.case.text import clean, plural, ranges
from assistant.diagnosis.ledger import iso
from assistant.errors import NothingFound
from assistant.events.models import Scan
from assistant.intake.models import Stream
from assistant.patterns.contrast import Difference, with_peers
from assistant.patterns.models import RankProgress
from assistant.tools.desk import Desk
from assistant.tools.finding import Finding, Tool, found, limited, quoted
from assistant.tools.lines import Line, evidence_of
from assistant.tools.models import Arguments

LAST = 5
"""Last lines of a rank that are shown."""


class RankArguments(Arguments):
    """Which rank."""

    rank: int = Field(ge=0)
    """Its global rank."""


def rank_status(desk: Desk, arguments: Arguments) -> Finding:
    """How far a rank came, what it reported, and its last lines."""
    assert isinstance(arguments, RankArguments)
    rank = arguments.rank
    rows = [*_blame(desk, rank), *_events(desk, lambda event: rank in event.ranks)]
    streams = [stream for stream in desk.examination.reading.scan.streams if stream.rank == rank]
    if not streams and not rows:
        raise NothingFound(f"no line of rank {rank} was found", hint=_known_ranks(desk))
    rows = [f"Rank {rank}:", *rows]
    rows += [_reach(progress) for progress in desk.examination.findings.temporal.progress if progress.rank == rank]
    rows += [clean(f"Signal {signal.origin}: {signal.kind.value} {_signal(signal.exitcode, signal.value)}")
             for signal in desk.examination.findings.signals if signal.rank == rank][:10]  # fmt: skip
    cited = [item for item in desk.case.evidence if item.rank == rank][:LAST]
    last = [item for item in _last_lines(desk, streams) if item not in cited]
    rows += ["Lines that the case cites:", *map(quoted, cited)] if cited else []
    return found([*rows, "Last lines:", *map(quoted, last)] if last else rows, [*cited, *last])


def _blame(desk: Desk, rank: int) -> Iterator[str]:
    for candidate in desk.case.candidates:
        if candidate.rank == rank:
            word = "Blamed" if candidate in desk.case.suspects else "Not blamed, but a candidate"
            cited = f" [{', '.join(candidate.evidence)}]" if candidate.evidence else ""
            yield f"{word}, score {candidate.score:.2f}: {clean('; '.join(candidate.reasons))}{cited}"
    for node in desk.case.nodes:
        if rank in node.ranks:
            yield f"Runs on node {clean(node.node)}, which is {node.state.value}: {clean(node.why)}"


def _events(desk: Desk, fits: object) -> list[str]:
    assert callable(fits)
    chosen: list[EventReport] = [event for event in desk.case.events if fits(event)]
    rows = [f"{e.role.value}: {clean(e.template)[:200]} [{', '.join(e.evidence[:3])}]" for e in chosen]
    return limited(rows, 10, "list_events shows all")[0]


def _reach(progress: RankProgress) -> str:
    iteration = "no iteration" if progress.last_iteration is None else f"iteration {progress.last_iteration}"
    when = f", last line {iso(progress.last_time)}" if progress.last_time is not None else ""
    told = [word for word, holds in (("silent", progress.silent), ("behind its peers", progress.lagging)) if holds]
    return f"Came to {iteration}{when}{': ' + ' and '.join(told) if told else ''}"


def _signal(exitcode: int | None, value: str) -> str:
    return value if exitcode is None else f"exit code {exitcode} {value}".strip()


def _last_lines(desk: Desk, streams: Iterable[Stream]) -> list[Evidence]:
    scan = desk.examination.reading.scan
    tails = [record for stream in streams for record in scan.tails.get(stream.id, ())]
    latest = sorted(tails, key=lambda record: (record.time or 0.0, record.source, record.line))[-LAST:]
    return [evidence_of(desk, scan.sources[r.source], Line(r.line, r.offset, r.raw)) for r in latest]


def _known_ranks(desk: Desk) -> str:
    ranks = {stream.rank for stream in desk.examination.reading.scan.streams if stream.rank is not None}
    return f"ranks with lines: {ranges(ranks)}" if ranks else "no line of this job could be given to a rank"


class NodeArguments(Arguments):
    """Which nodes."""

    node: str
    other: str | None = None
    """Compare with this node; without it, with all others together."""
    limit: int = Field(default=15, ge=1, le=100)


def compare_nodes(desk: Desk, arguments: Arguments) -> Finding:
    """What a node wrote that the others did not, and the reverse."""
    assert isinstance(arguments, NodeArguments)
    scan = desk.examination.reading.scan
    own, peers = sides(scan, arguments.node, arguments.other)
    found_apart = with_peers(scan, own, peers)
    peer_name = arguments.other or "its peers"
    rows = [_head(desk, name) for name in filter(None, (arguments.node, arguments.other))]
    parts = [
        (f"Only on {arguments.node}", found_apart.only_here),
        (f"Only on {peer_name}", found_apart.only_there),
        ("At another rate", found_apart.changed),
    ]
    for title, differences in parts:
        shown = [_told(one) for one in differences]
        rows += [f"{title}: {plural(len(shown), 'template')}", *limited(shown, arguments.limit, "raise `limit`")[0]]
    return found(map(clean, rows))


def sides(scan: Scan, node: str, other: str | None = None) -> tuple[list[int], list[int]]:
    """The streams of a node, and those of another or of all others. Raises NothingFound."""
    nodes = sorted({stream.node for stream in scan.streams if stream.node is not None})
    for name in filter(None, (node, other)):
        if name not in nodes:
            hint = f"nodes: {', '.join(map(clean, nodes[:20]))}" if nodes else "the logs name no node"
            raise NothingFound(f"no line of node {clean(name)!r} was found", hint=hint)
    own = [stream.id for stream in scan.streams if stream.node == node]
    wanted = {other} if other else set(nodes) - {node}
    return own, [stream.id for stream in scan.streams if stream.node in wanted]


def _told(one: Difference) -> str:
    return f"  {one.here:.3g} against {one.there:.3g} lines a writer: {one.text[:200]}"


def _head(desk: Desk, name: str) -> str:
    for node in desk.case.nodes:
        if node.node == name:
            came = "no iteration" if node.last_iteration is None else f"iteration {node.last_iteration}"
            return f"{name}: ranks {ranges(node.ranks)}, {node.state.value} ({node.why}), {came}"
    return f"{name}: not in the case"


RANK_STATUS = Tool(
    "rank_status",
    "How one rank did: whether it is blamed and why, its node, how far it came, exit signals, its last lines.",
    RankArguments,
    rank_status,
)
COMPARE_NODES = Tool(
    "compare_nodes",
    "Compares what a node wrote with another node or with all its peers: what only it has, what it lacks, what it "
    "wrote at another rate.",
    NodeArguments,
    compare_nodes,
)
