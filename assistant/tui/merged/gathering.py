"""Which logs are looked at together: those of some nodes, ranks or files, or of whom the case blames. No screen."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assistant.case.models import Case
from assistant.case.text import clean, plural
from assistant.case.vocabulary import NodeState
from assistant.errors import UsageError
from assistant.intake.models import Source
from assistant.tui.logs.writing import Writer

FEW = 16
"""Logs that are all shown where nothing is named."""
MOST = 256
"""Logs at once: each is an open file, and a line of each is looked at for each step."""
_RANKS = re.compile(r"(?:ranks?[ =:]?|r)?(\d{1,7})(?:-(\d{1,7}))?", re.I)
HINT = "name nodes (gpu-03, gpu-0*), ranks (3, 0-7) or files (n03/rank-7.err); nothing names the suspects and a peer"


@dataclass(frozen=True, slots=True)
class Gathered:
    """The logs that were chosen."""

    sources: tuple[Source, ...]
    words: str
    """Whose they are."""
    more: int = 0
    """How many others fitted but were left out, because they would be too many."""


Writers = Callable[[Source], set[Writer]]
"""Who wrote a source."""


def gather(sources: Sequence[Source], case: Case, writers: Writers, typed: str = "") -> Gathered:
    """The logs that are named; where none is, all if they are few, else those of the suspects and of a healthy peer.

    Raises UsageError for a name that fits nothing.
    """
    names = _words(typed)
    if not names and len(sources) <= FEW:
        return Gathered(tuple(sources), "all logs")
    if not names:
        return _of_suspects(sources, case, writers)
    if names == ["all"]:
        return _bounded(sources, "all logs")
    chosen: dict[int, Source] = {}
    for name in names:
        fitting = _named(sources, writers, name)
        if not fitting:
            raise UsageError(f"no log is of {clean(name)}", hint=HINT)
        chosen |= {source.id: source for source in fitting}
    return _bounded([chosen[number] for number in sorted(chosen)], clean(" ".join(names)))


def of_node(sources: Sequence[Source], writers: Writers, node: str) -> Gathered:
    """The logs of one node."""
    return _bounded([one for one in sources if node in {name for name, _ in writers(one)}], clean(node))


def _words(typed: str) -> list[str]:
    try:
        words = shlex.split(re.sub(r"\b(ranks?)[ =:]+(?=\d)", r"\1", typed.replace(",", " "), flags=re.I))
    except ValueError:
        raise UsageError(f"a quotation mark is not closed: {clean(typed)}", hint=HINT) from None
    return [word for word in words if word.lower() not in ("rank", "ranks", "node", "nodes")]


def _named(sources: Sequence[Source], writers: Writers, name: str) -> list[Source]:
    """A file first, then a node, then ranks."""
    files = [one for one in sources if one.name == name or one.name.endswith(f"/{name}")]
    files = files or [one for one in sources if fnmatchcase(one.name, name) and name.strip("*?") != ""]
    if files:
        return files
    of_nodes = [one for one in sources if any(node and fnmatchcase(node, name) for node, _ in writers(one))]
    if of_nodes:
        return of_nodes
    span = _RANKS.fullmatch(name)
    if span is None:
        return []
    low, high = int(span[1]), int(span[2] or span[1])
    return [one for one in sources if any(rank is not None and low <= rank <= high for _, rank in writers(one))]


def _of_suspects(sources: Sequence[Source], case: Case, writers: Writers) -> Gathered:
    nodes = {one.node for one in case.suspects if one.node}
    ranks = {one.rank for one in case.suspects if one.rank is not None}
    if not nodes and not ranks:
        return _bounded(sources, "all logs, as nobody is blamed")
    blamed = [one for one in sources if any(node in nodes or rank in ranks for node, rank in writers(one))]
    nodes |= {node for one in blamed for node, rank in writers(one) if rank in ranks and node}
    peer = next((one.node for one in case.nodes if one.state is NodeState.HEALTHY and one.node not in nodes), None)
    peer = peer or next((one.node for one in case.nodes if one.node not in nodes), None)
    also = [one for one in sources if peer and any(node == peer for node, _ in writers(one))]
    both = {one.id: one for one in (*blamed, *also)}
    if not both:
        return _bounded(sources, "all logs")
    words = f"the suspects and {clean(peer)}, their peer" if also and peer else "the suspects"
    return _bounded([both[number] for number in sorted(both)], words)


def _bounded(sources: Sequence[Source], words: str) -> Gathered:
    more = max(0, len(sources) - MOST)
    said = f"{words} (the first {MOST} of {plural(len(sources), 'log')})" if more else words
    return Gathered(tuple(sources[:MOST]), said, more)
