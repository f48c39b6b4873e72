"""One laboratory job as it is drawn: everything that starting it needs, and what its end must look like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assistant.case.vocabulary import Status
from evals.lab.jobs.settings import Callback
from evals.truth import Injected, Provable


@dataclass(frozen=True, slots=True)
class Mount:
    """Something laid over a folder of one node's workplace."""

    node: int
    path: str
    how: str
    """`full` (a file system of a few kilobytes), `read_only`, or `closed` (no write permission)."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the job goes on from, and what is wrong with it."""

    step: int
    ranks: tuple[int, ...] = ()
    """Whose file is spoiled; empty is nobody's where sharded, else everybody's."""
    how: str = "intact"
    """`intact`, `cut`, `garbled`, `empty`, `removed`, or `wide` (of a model with other shapes)."""
    hidden: int = 64


@dataclass(frozen=True, slots=True)
class Trigger:
    """What is done from outside once the job has come to its `mark`."""

    action: str
    """`terminate` (SIGTERM to all launchers), `lose` (SIGKILL to a node's launcher and ranks), or `cut` (its link)."""
    node: int = 0
    wait: float = 0.0
    """Seconds after the mark."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run: `nodes` launchers with `per_node` ranks each. Times are seconds."""

    name: str
    """Private: it tells the kind, and never reaches a log."""
    kind: str
    flavour: str
    seed: int
    recipe: str
    voice: str
    nodes: int
    per_node: int
    hosts: tuple[str, ...]
    streams: str = "redirects"
    """`redirects`, `tee` or `console` (neither: all ranks share the launcher's console)."""
    rendezvous: str = "static"
    verbose: bool = False
    """LOGLEVEL=INFO: the launcher then prints its rendezvous result."""
    reaper: str = "term"
    """How launchers that outlive the first failed one are stopped: `term` (as a scheduler does) or `kill`."""
    restarts: int = 0
    settings: Mapping[str, object] = field(default_factory=dict)
    node_settings: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    callbacks: tuple[Callback, ...] = ()
    absent: tuple[int, ...] = ()
    """Nodes whose launcher is never started."""
    late: Mapping[int, float] = field(default_factory=dict)
    """Nodes whose launcher starts so much later."""
    occupied: bool = False
    """Another process holds the master port."""
    masters: Mapping[int, str] = field(default_factory=dict)
    """Nodes that are given another master address."""
    packages: Mapping[int, str] = field(default_factory=dict)
    """Nodes whose package has another version, `removed`, or `older` (without what the job calls)."""
    mounts: tuple[Mount, ...] = ()
    checkpoint: Checkpoint | None = None
    trigger: Trigger | None = None
    network: bool = False
    """Each node in a network namespace of its own."""
    kernel_log: tuple[int, ...] = ()
    """Nodes that leave the kernel's messages about their processes."""
    fails: bool = True
    """Whether a launcher must end with another code than zero."""
    shows: tuple[str, ...] = ()
    """Regular expressions that the job's files must contain, else the run is no example of its kind."""
    must_mark: tuple[str, ...] = ()
    """Callbacks that must have happened."""
    injected: tuple[Injected, ...] = ()
    provable: Provable = field(default_factory=lambda: Provable(status=Status.HEALTHY))
    patience: float = 90.0
    """Longest a run may take."""

    @property
    def world(self) -> int:
        """How many ranks there are."""
        return self.nodes * self.per_node

    def node_of(self, rank: int) -> int:
        """Which node a rank runs on."""
        return rank // self.per_node

    def ranks_of(self, node: int) -> tuple[int, ...]:
        """Ranks of a node."""
        return tuple(range(node * self.per_node, (node + 1) * self.per_node))
