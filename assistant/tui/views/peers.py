"""One node against the others, or one rank where there is one node: how both stand, what each wrote. No screen here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.case.models import Case
from assistant.case.text import clean, plural, ranges
from assistant.errors import NothingFound
from assistant.patterns.contrast import Contrast, with_peers
from assistant.tools.desk import Desk
from assistant.tools.places import sides
from assistant.tui.views.standings import Standing


@dataclass(frozen=True, slots=True)
class Story:
    """What one side tells."""

    name: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Peers:
    """A place beside its peers."""

    own: Story
    others: Story
    contrast: Contrast


def against_peers(desk: Desk, rows: Sequence[Standing], chosen: Standing) -> Peers:
    """The node of a row against the other nodes; where there is only one, the row's rank against the other ranks.

    Raises NothingFound where there is nobody to compare with, RootrankError where the logs cannot be read.
    """
    nodes = {row.node for row in rows}
    by_node = len(nodes) > 1
    if not by_node and len(rows) < 2:
        raise NothingFound("there is no other node and no other rank to compare with", hint="add the logs of its peers")
    own, others = (_of_node if by_node else _of_rank)(rows, chosen)
    name = clean(chosen.node) if by_node else f"rank {chosen.rank}"
    rest = plural(len(nodes) - 1, "other node") if by_node else plural(len(others), "other rank")
    return Peers(
        Story(name, tuple(_facts(desk.case, own, one_node=by_node))), Story(rest, tuple(_facts(desk.case, others))),
        _contrast(desk, chosen, by_node=by_node),
    )  # fmt: skip


def _of_node(rows: Sequence[Standing], chosen: Standing) -> tuple[list[Standing], list[Standing]]:
    return [row for row in rows if row.node == chosen.node], [row for row in rows if row.node != chosen.node]


def _of_rank(rows: Sequence[Standing], chosen: Standing) -> tuple[list[Standing], list[Standing]]:
    return [chosen], [row for row in rows if row != chosen]


def _contrast(desk: Desk, chosen: Standing, *, by_node: bool) -> Contrast:
    scan = desk.examination.reading.scan
    if by_node:
        return with_peers(scan, *sides(scan, chosen.node))
    ranked = [stream for stream in scan.streams if stream.rank is not None]
    own = [stream.id for stream in ranked if stream.rank == chosen.rank]
    return with_peers(scan, own, [stream.id for stream in ranked if stream.rank != chosen.rank])


def _facts(case: Case, rows: Sequence[Standing], *, one_node: bool = False) -> list[str]:
    """State, ranks, how far they came, when they wrote last, how many errors."""
    told = [f"ranks {ranges(row.rank for row in rows if row.rank is not None)}"]
    states = sorted({row.state.value.replace("_", " ") for row in rows})
    told += [", ".join(f"{state} ({sum(_state(row) == state for row in rows)})" for state in states)]
    if one_node:
        told += [clean(node.why) for node in case.nodes if rows and node.node == rows[0].node and node.why]
    reached = [row.last_iteration for row in rows if row.last_iteration is not None]
    told += [f"last iteration {_span(min(reached), max(reached))}" if reached else "no iteration"]
    times = sorted(row.last_time[:19] for row in rows if row.last_time)
    told += [f"last line {_from_to(times[0], times[-1])} UTC"] if times else []
    return [*told, f"{sum(row.errors for row in rows)} failure records"]


def _state(row: Standing) -> str:
    return row.state.value.replace("_", " ")


def _from_to(first: str, last: str) -> str:
    """Two times, the day of the second only where it is another one."""
    day = len("2031-04-02T") if first[:10] == last[:10] else 0
    return (first if first == last else f"{first} to {last[day:]}").replace("T", " ")


def _span(low: object, high: object) -> str:
    return f"{low}" if low == high else f"{low} to {high}"
