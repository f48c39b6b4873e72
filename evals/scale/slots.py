"""Lines of a real job with slots where a replica says something else: times, ranks, hosts, addresses, pids, values.

A text is taken apart once and filled in thousands of times, so a slot is a function of who writes it (`Scribe`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

from evals.scale.original import Original
from evals.scale.plan import NodePlan, Plan
from evals.scale.stamps import CALENDAR, GLOG, REPORT, SLASHED, Writer, read_stamp

PORTS = (32768, 60999)
"""Where the kernel takes free ports from."""
MOST_ITEMS = 64
_NUMBERS = re.compile(r"\d+")
_WIDE = "min_nodes|max_nodes|group_world_size"


@dataclass(slots=True)
class Scribe:
    """Who writes: a rank of a node, or the node's launcher."""

    plan: Plan
    node: NodePlan
    local: int | None
    lag: float = 0.0
    """How much later it writes than the rank that it copies, seconds."""

    @property
    def rank(self) -> int:
        """Global rank; that of the node's first worker for a launcher."""
        return self.node.index * self.plan.per_node + (self.local or 0)

    def time(self, moment: float) -> float:
        """What the node's clock showed: its skew, and the delay once something has failed."""
        failed = self.plan.failed_at
        late = self.node.delay if failed is not None and moment >= failed else 0.0
        return moment + self.node.skew + late + self.lag

    def share(self, text: str) -> float:
        """A number from 0 to 1 that is this rank's own for a text, wherever the text is repeated."""
        return crc32(f"{self.plan.seed}/{self.rank}/{text}".encode()) / 2**32

    def port(self, real: str) -> str:
        """A port of its own for each real one."""
        return str(PORTS[0] + int(self.share(real) * (PORTS[1] - PORTS[0])))


Slot = Callable[[Scribe], str]
Piece = str | Slot
Skeleton = tuple[Piece, ...]


def fill(skeleton: Skeleton, scribe: Scribe) -> str:
    """The text as this writer would have written it."""
    return "".join([piece if isinstance(piece, str) else piece(scribe) for piece in skeleton])


@dataclass(frozen=True, slots=True)
class Compiler:
    """Takes texts of one real node apart."""

    original: Original
    template: int
    year: int
    pattern: re.Pattern[str]
    varied: bool = True
    """Losses differ between ranks in the real job, so they may here."""

    def skeleton(self, text: str) -> Skeleton:
        """The text with its slots; literal stretches are joined."""
        pieces: list[Piece] = []
        at = 0
        for found in self.pattern.finditer(text):
            slot = self._slot(found)
            if slot is None:
                continue
            pieces += [text[at : found.start()], slot]
            at = found.end()
        return tuple(piece for piece in (*pieces, text[at:]) if piece != "")

    def _slot(self, found: re.Match[str]) -> Slot | None:
        kind, text = found.lastgroup or "", found.group()
        if kind in ("calendar", "slashed", "glog", "report"):
            return _time_slot(text, self.year)
        makers: dict[str, Callable[[str], Slot | None]] = {
            "pid": self._pid,
            "folder": lambda whole: lambda scribe: scribe.node.run_folder,
            "attempt": lambda whole: _number_slot(
                whole, lambda real: lambda s: _local(s, self.template, real), last=True
            ),
            "host": self._host,
            "address": self._address,
            "master": lambda whole: lambda s: whole.partition("=")[0] + "=" + s.plan.nodes[0].address,
            "local": lambda whole: _number_slot(whole, lambda real: lambda s: _local(s, self.template, real)),
            "nodes": lambda whole: _number_slot(whole, lambda real: lambda s: len(s.plan.nodes)),
            "workers": lambda whole: _number_slot(whole, lambda real: lambda s: s.plan.per_node),
            "number": lambda whole: _number_slot(whole, lambda real: lambda s: s.plan.node_for(real, s.node)),
            "lists": self._lists,
            "joined": self._joined,
            "world": self._world,
            "each": self._each,
            "rank": self._rank,
            "value": self._value,
        }
        return makers[kind](text)

    def _pid(self, text: str) -> Slot | None:
        number = int(_NUMBERS.findall(text)[-1])
        node = self.original.nodes[self.template]
        head = text[: text.rindex(str(number))]
        if number == node.launcher_pid:
            return lambda scribe: f"{head}{scribe.node.pid}"
        real = node.pids.get(number)
        if real is None:
            return None
        return lambda s: f"{head}{s.node.pid + 7 + _local(s, self.template, real)}"

    def _host(self, text: str) -> Slot:
        real = next(index for index, node in enumerate(self.original.nodes) if node.name == text)
        return lambda scribe: scribe.plan.nodes[scribe.plan.node_for(real, scribe.node)].name

    def _address(self, text: str) -> Slot:
        address, _, port = text.rpartition(":")
        opened, closed = address.startswith("["), address.endswith("]")
        master = port == self.original.master_port

        def slot(scribe: Scribe) -> str:
            peer = scribe.plan.nodes[0] if master else _peer(scribe)
            shown = port if master else scribe.port(port)
            return f"{'[' * opened}{peer.address}{']' * closed}:{shown}"

        return slot

    def _lists(self, text: str) -> Slot:
        name = text.partition("=")[0]

        def slot(scribe: Scribe) -> str:
            first = 0 if name == "local_ranks" else scribe.node.index * scribe.plan.per_node
            values = [scribe.plan.ranks if "sizes" in name else first + local for local in range(scribe.plan.per_node)]
            return f"{name}={values}"

        return slot

    def _joined(self, text: str) -> Slot:
        came, of = (int(number) for number in _NUMBERS.findall(text))
        lacking, tail = of - came, text[text.index(" ") :]
        per_node = self.original.per_node
        of_ranks = of == self.original.truth.world_size

        def slot(scribe: Scribe) -> str:
            whole = scribe.plan.ranks if of_ranks else len(scribe.plan.nodes)
            gone = lacking // per_node * scribe.plan.per_node if of_ranks and lacking >= per_node else lacking
            return f"{whole - gone}/{whole}{tail}"

        return slot

    def _world(self, text: str) -> Slot | None:
        if int(_NUMBERS.findall(text)[-1]) != self.original.truth.world_size:
            return None
        return _number_slot(text, lambda real: lambda s: s.plan.ranks, last=True)

    def _rank(self, text: str) -> Slot:
        """A rank, and after it perhaps of how many."""
        rank, of, _ = text.partition(" of ")
        first = _number_slot(rank, lambda real: lambda s: s.plan.rank_for(real, s.node, s.local), padded=True)
        return (lambda scribe: f"{first(scribe)} of {scribe.plan.ranks}") if of else first

    def _each(self, text: str) -> Slot | None:
        """A list with one item for each rank; a long one is shortened in the middle."""
        items = text[1:-1].split(", ")
        if len(items) != self.original.truth.world_size:
            return None

        def slot(scribe: Scribe) -> str:
            plan, size = scribe.plan, self.original.per_node
            shown = [items[node.template * size + real] for node in plan.nodes for real in node.locals]
            return f"[{', '.join(shown if len(shown) <= MOST_ITEMS else [*shown[:3], '...', *shown[-3:]])}]"

        return slot

    def _value(self, text: str) -> Slot | None:
        """A measured value, a little different for each rank."""
        loss = "loss" in text
        number = re.search(r"\d+\.\d+$", text)
        if number is None or (loss and not self.varied):
            return None
        head, value, digits = text[: number.start()], float(number[0]), len(number[0].partition(".")[2])
        spread = 0.004 if loss else 0.03
        return lambda scribe: f"{head}{value * (1 - spread + 2 * spread * scribe.share(text)):.{digits}f}"


def _time_slot(text: str, year: int) -> Slot | None:
    stamp = read_stamp(text, year)
    if stamp is None:
        return None
    moment: float = stamp[0]
    write: Writer = stamp[1]
    return lambda scribe: write(scribe.time(moment))


def _number_slot(
    text: str, of: Callable[[int], Callable[[Scribe], int]], *, last: bool = False, padded: bool = False
) -> Slot:
    """Replaces one number of a text: the first, or the last. Padding with zeros is kept."""
    found = list(_NUMBERS.finditer(text))[-1 if last else 0]
    head, tail, number = text[: found.start()], text[found.end() :], of(int(found[0]))
    width = len(found[0]) if padded and found[0].startswith("0") and len(found[0]) > 1 else 0
    return lambda scribe: f"{head}{number(scribe):0{width}d}{tail}"


def _local(scribe: Scribe, template: int, real: int) -> int:
    """The local rank that a mention of a real one means."""
    if scribe.local is not None and scribe.node.locals[scribe.local] == real:
        return scribe.local
    return scribe.node.locals.index(real) if real in scribe.node.locals else real


def _peer(scribe: Scribe) -> NodePlan:
    """The neighbour in the ring from whose side the failure came."""
    nodes = scribe.plan.nodes
    sources = sorted(scribe.plan.struck.values())
    here = scribe.node.index
    special = any(scribe.rank in ranks for ranks in scribe.plan.special.values())
    if here in sources and not special:
        return scribe.node
    if not sources or here in sources:
        return nodes[(here + 1) % len(nodes)]
    ahead = (sources[0] - here) % len(nodes) <= len(nodes) // 2
    return nodes[(here + (1 if ahead else -1)) % len(nodes)]


@lru_cache(maxsize=64)
def slot_pattern(hosts: tuple[str, ...], folders: tuple[str, ...]) -> re.Pattern[str]:
    """Everything that becomes a slot, the more telling spellings first."""
    address = r"127\.0\.0\.1|10\.77\.0\.\d+"
    named = {
        "report": REPORT,
        "calendar": CALENDAR,
        "slashed": SLASHED,
        "glog": GLOG,
        "pid": r"(?:(?<=\d )\d{2,8}(?= torch/)|\b(?:[Pp]rocess|PID|pid:) \d+)",
        "attempt": r"(?<=/)attempt_\d+/\d+(?=/)",
        "folder": _either(folders),
        "host": rf"(?<![\w.-]){_either(hosts)}(?![\w-])",
        "master": rf"\bmaster_addr=(?:{address})",
        "address": rf"\[?(?:{address})\]?:\d+",
        "lists": r"\b(?:local_ranks|role_ranks|global_ranks|role_world_sizes|global_world_sizes)=\[[\d, ]*\]",
        "nodes": rf"\b(?:{_WIDE})(?:=|\s*: )\d+",
        "workers": r"\bnproc_per_node\s*: \d+|\blocal_world_size=\d+",
        "number": r"'rank': \d+|\b(?:group_rank|node_rank)[=:]\s?\d+",
        "local": r"\[default\d+\]|\blocal_rank: \d+",
        "each": r"\[(?:'[^'\n]*'|[\d.]+)(?:, (?:'[^'\n]*'|[\d.]+))+\]",
        "joined": r"\b\d+/\d+ clients joined",
        "world": r"\b(?:[Ww]orld[ _][Ss]ize|WORLD_SIZE)(?:\s*[=:]\s*|\s+)\d+",
        "rank": r"\[rank\d+\]|\"rank\": \d+|\b[Rr]ank(?:\s+: |[ =:-])\d+(?: of \d+)?|\bRANK=\d+|__\d+_\d+\.distcp",
        "value": r"(?:\bloss\W{1,4}|\b(?:time|ms|seconds|sec|took)\b[^\d\n]{1,8}|\b(?:forward|wait)\W{1,4})\d+\.\d+",
    }
    # The kind of a match is its last group; groups inside the patterns do not capture.
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in named.items()), re.MULTILINE)


def _either(words: tuple[str, ...]) -> str:
    """One of some words; of none, what never matches."""
    longest = sorted((re.escape(word) for word in words if word), key=len, reverse=True)
    return f"(?:{'|'.join(longest)})" if longest else "(?!)"
