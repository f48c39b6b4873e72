"""What intake hands on: sources, streams, and the text dialects that tell lines apart.

A *source* is one file, archive member or standard input. A *stream* is what one writer (a rank, a launcher, a node's
kernel, or an unknown mixture) wrote into one source or into one rotated set of sources. Line numbers and offsets always
belong to a source; identity, iteration and stage always belong to a stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Codec(StrEnum):
    """How a file's bytes are packed."""

    PLAIN = "plain"
    GZIP = "gz"
    BZIP2 = "bz2"
    XZ = "xz"
    ZSTD = "zst"


@dataclass(frozen=True, slots=True)
class Source:
    """One readable thing. `id` is its index in the sorted discovery, stable for the same input."""

    id: int
    name: str
    """As it is cited: relative to the given path; `a.tar.gz!dir/x.log` for a member; `-` for standard input."""
    path: Path
    """The file on disk: the file itself, the archive that holds it, or the spool of standard input."""
    codec: Codec = Codec.PLAIN
    member: str | None = None
    """Name inside the archive at `path`, if it is one."""
    archive: str | None = None
    """`tar` (its own codec in `codec`) or `zip`, where `member` is set."""
    size: int | None = None
    """Bytes on disk, where known."""
    group: str = ""
    """Name of the rotated set this belongs to (equal to `name` where there is no rotation)."""
    part: int = 0
    """Position within the rotated set, oldest first."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Something given but not (wholly) read; ends up in `Case.not_read`."""

    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What the given paths hold, in stable order: by rotated group, then oldest part first."""

    root: str
    """What the names are relative to, for display."""
    sources: tuple[Source, ...]
    unread: tuple[Unread, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole lines of one source (a last line may lack its newline)."""

    source: Source
    data: bytes
    offset: int
    """Byte offset of `data[0]` in the decompressed stream."""
    line: int
    """1-based number of the first line."""
    last: bool
    """No block of this source follows."""
    cut: tuple[tuple[int, int], ...] = ()
    """(line number, full length in bytes) of lines cut because they were too long; the kept part is in `data`."""


class WriterKind(StrEnum):
    """What kind of thing wrote a stream."""

    RANK = "rank"
    LAUNCHER = "launcher"
    NODE = "node"
    KERNEL = "kernel"
    SCHEDULER = "scheduler"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Stream:
    """One writer's lines within one source or rotated set."""

    id: int
    group: str
    key: str
    """The raw writer label found on its lines (`7`, `default3`, `host:pid`), empty for unlabelled lines."""
    kind: WriterKind = WriterKind.MIXED
    node: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    device: str | None = None
    how: str = ""
    """How node and rank are known, in words: "path", "`7:` label of srun -l", "NCCL init line 118"."""
    attempt: int = 0
    lines: int = 0
    first_source: int = 0
    first_line: int = 0
    first_offset: int = 0
    last_source: int = 0
    last_line: int = 0
    last_offset: int = 0
    first_time: float | None = None
    """UTC epoch seconds, corrected for clock skew; None where the stream has no readable time."""
    last_time: float | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a read has come, for the progress bar."""

    bytes: int
    total: int | None
    sources: int
    finding: str | None = None


ProgressHook = Callable[[Progress], None]


class MarkKind(StrEnum):
    """What a dialect can recognise on a line."""

    ITERATION = "iteration"
    STAGE = "stage"
    CHECKPOINT = "checkpoint"
    """A checkpoint was completely saved."""
    GOAL = "goal"
    """The run says that it reached its goal or ended normally."""
    ATTEMPT = "attempt"
    """A launcher starts (or restarts) the workers; resets stage and iteration."""
    FACT = "fact"
    """Identity or topology: rank of a process, host of a rank, world size, parallel sizes."""


@dataclass(frozen=True, slots=True)
class MarkPattern:
    """One line shape of a dialect.

    `pattern` is in the RE2 subset and must also match when every digit of the line is replaced by `0`, because the scan
    decides on digit-folded text first. Named groups become the mark's values: `iteration`, `total`, `epoch`, `loss`,
    `seconds`, `milliseconds`, `elapsed`, and for FACT also `rank`, `local_rank`, `world_size`, `node`, `pid`, `device`,
    `tp`, `pp`, `dp`, `ep`, `cp`, `job`.
    """

    mark: MarkKind
    pattern: str
    stage: str | None = None
    """The stage that runs from this line on, if the line changes it."""
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """One framework's or tool's way of writing, read from `knowledge/dialects/<id>.yaml`.

    kind `progress`: `marks` apply. kind `prefix`: `pattern` is anchored at the line start, stripped from the message,
    and its groups (`task`, `rank`, `local_rank`, `node`, `pid`, `device`, `pod`) form the writer's key.
    kind `time`: `pattern` finds a time in the first 80 characters and `format` tells how to read it.
    kind `envelope`: the line is JSON or CRI around the message; `fields` names its parts.
    """

    id: str
    title: str
    kind: str
    framework: str | None = None
    pattern: str | None = None
    format: str | None = None
    priority: int = 50
    """Lower is tried first."""
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    marks: tuple[MarkPattern, ...] = ()
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()
