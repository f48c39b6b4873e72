"""What the diagnosis works with: exhibits, groups of equal exhibits, and the population of ranks and nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from assistant.events.models import Record, Scan
from assistant.faults.library import Library
from assistant.faults.models import Fault, FaultRole, Specificity
from assistant.intake.topology import Topology
from assistant.patterns.models import PatternResult, TemporalResult
from assistant.signals.models import Signal

ABOUT_PEERS = ("network.", "collective.", "launch.", "hardware.npu")
"""Layers whose cascade entries speak of other ranks."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything the rooms above found out; the diagnosis reads nothing else."""

    scan: Scan
    library: Library
    topology: Topology
    cross_job: PatternResult
    spatial: PatternResult
    temporal: TemporalResult
    signals: tuple[Signal, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something happened, as far as it is known."""

    node: str | None = None
    rank: int | None = None
    device: str | None = None

    @property
    def known(self) -> bool:
        """Whether anything at all is known of the place."""
        return self.rank is not None or self.node is not None


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One indicator with what the library makes of it."""

    record: Record
    count: int
    fault: Fault | None
    """The most specific matching entry; None where only an error word matched."""
    others: tuple[str, ...]
    """Ids of the further matching entries."""
    writer: Place
    place: Place
    """Whom it is about: the writer, or the rank, node or device that the text names."""
    left: int
    """Lines of the same stream that follow the record: few mean that the writer ended with it."""
    recovered: str = ""
    """Why this is no failure after all (training went on, the goal was reached), empty where it stands."""

    @property
    def role(self) -> FaultRole | None:
        """The library's role, None where no entry matched."""
        return self.fault.role if self.fault else None

    @property
    def specificity(self) -> Specificity:
        """How much it proves by itself."""
        return self.fault.specificity if self.fault else Specificity.GENERIC

    @property
    def waits(self) -> bool:
        """A victim's report: it waited for a peer, or lost one. Wrappers around another error are no such report."""
        return self.role is FaultRole.CASCADE and self.fault is not None and self.fault.cause.startswith(ABOUT_PEERS)

    @property
    def stands(self) -> bool:
        """Neither recovered from nor benign."""
        return not self.recovered and self.role is not FaultRole.BENIGN


@dataclass(frozen=True, slots=True)
class Group:
    """Exhibits that say the same: one fault (and, for generic faults, one template), in time order."""

    key: str
    fault: Fault | None
    exhibits: tuple[Exhibit, ...]
    ranks: frozenset[int]
    nodes: frozenset[str]

    @property
    def waits(self) -> bool:
        """Whether its exhibits are victims' reports."""
        return self.first.waits

    @property
    def first(self) -> Exhibit:
        """The earliest exhibit."""
        return self.exhibits[0]

    @property
    def role(self) -> FaultRole | None:
        """The role all its exhibits share."""
        return self.fault.role if self.fault else None

    @property
    def count(self) -> int:
        """How many records it stands for."""
        return sum(exhibit.count for exhibit in self.exhibits)


@dataclass(frozen=True, slots=True)
class Population:
    """The ranks and nodes of the job, as far as the logs name them."""

    ranks: frozenset[int] = frozenset()
    nodes: frozenset[str] = frozenset()
    node_of: dict[int, str] = field(default_factory=dict)
    world_size: int | None = None
    tasks_are_ranks: bool = False
    """A task that the scheduler names is the rank of that number."""

    @property
    def size(self) -> int:
        """World size where known, else the number of ranks seen."""
        return self.world_size or len(self.ranks)

    def ranks_on(self, node: str) -> frozenset[int]:
        """The ranks that ran on a node."""
        return frozenset(rank for rank, where in self.node_of.items() if where == node)
