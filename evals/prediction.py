"""What one tool says about one job, in the same words for every tool, and how a tool is asked.

The scorers see nothing else of a tool. A field that is None means that the tool *cannot* say such a thing: it is shown
as "-" and never as zero. An empty tuple is an answer: "nobody", "no event". What a tool cannot say is a property of the
tool, not of a job: fill a field on every job or on none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from assistant.case.vocabulary import ActionKind, Confidence, Role, Stage, Status


@dataclass(frozen=True, slots=True)
class Suspect:
    """Whom a tool blames: a rank, a node, or a rank on a node."""

    rank: int | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class Flag:
    """A record that a tool calls failure-indicating, by any of its lines."""

    source: str
    """Path inside the job's folder, with `/`."""
    line: int
    """1-based; lines end at a newline, as editors count them."""
    role: Role | None = None
    """None where the tool tells no roles."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer of one tool to one job."""

    status: Status | None = None
    cause: str | None = None
    """A cause class of `vocabulary.all_causes()`; `unknown` says that the tool can tell causes, but not here."""
    ranks: tuple[int, ...] | None = None
    """Global ranks in order of suspicion, blamed or not."""
    nodes: tuple[str, ...] | None = None
    """Nodes as the logs name them, in order of suspicion."""
    blamed: tuple[Suspect, ...] | None = None
    """Whom it really blames; empty is "nobody". None where it only ranks and cannot say "nobody"."""
    events: frozenset[Flag] | None = None
    stage: Stage | None = None
    iteration: int | None = None
    action: ActionKind | None = None
    confidence: Confidence | None = None
    further: tuple[str, ...] | None = None
    """Cause classes of further, independent failures."""
    fields: frozenset[str] = frozenset()
    """Names of the fields among `stage`, `iteration`, `action`, `confidence` that this tool can fill. None in one of
    these says "not here"; without its name in this set it says "cannot"."""
    seconds: float | None = None
    """Wall-clock time of the tool's own work on this job, unpacking and the start of an interpreter excluded."""
    bytes: int | None = None
    """Peak resident memory of the process that did it."""
    error: str | None = None
    """Set where the tool broke on this job. Every column that it fills on other jobs then counts as wrong."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a tool may use besides the logs. Nothing in it comes from the truth."""

    scratch: Path
    """An empty folder for this one job; removed afterwards."""
    seconds: float = 600.0
    """After this long the answer is an error."""


@runtime_checkable
class Tool(Protocol):
    """Something that can be asked about a job. Rivals are handed out by `evals.rivals.tools() -> tuple[Tool, ...]`,
    without those that are not installed.

    Instances are sent to worker processes by pickle, so they hold settings only.
    """

    @property
    def name(self) -> str:
        """Short and stable: the name of a column."""

    @property
    def version(self) -> str:
        """Of the tool itself, for the report."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever an answer may: the key of the cache of predictions."""

    def predict(self, job: Path, baselines: tuple[Path, ...], context: Context) -> Prediction:
        """The answer for the logs under `job` (an unpacked folder), given folders of healthy runs of the like.

        Should raise nothing; what is raised becomes `Prediction.error`.
        """


def flags(places: Iterable[tuple[str, int]], role: Role | None = None) -> frozenset[Flag]:
    """Flags for pairs of source and line."""
    return frozenset(Flag(source, line, role) for source, line in places)
