"""A baseline: what healthy runs of one family wrote, as sums, so that another run can be added at any time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

PRIOR_SD = 0.35
"""Spread of log rates between healthy runs that is assumed before any was seen (a factor of about 1.4)."""
PRIOR_WEIGHT = 2.0
"""How many runs that assumption is worth."""


@dataclass(frozen=True, slots=True)
class LogSum:
    """Sums of logarithms over runs, from which mean and variance follow. Adding two is adding their fields."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, value: float) -> LogSum:
        """The sum over one run with a positive value."""
        log = math.log(value)
        return cls(1, log, log * log)

    def __add__(self, other: LogSum) -> LogSum:
        return LogSum(self.n + other.n, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        """Mean of the logarithms; 0 where there are none."""
        return self.total / self.n if self.n else 0.0

    @property
    def typical(self) -> float:
        """Geometric mean of the values."""
        return math.exp(self.mean)

    @property
    def variance(self) -> float:
        """Variance between runs, shrunk towards `PRIOR_SD` where there are few."""
        if not self.n:
            return PRIOR_SD**2
        scatter = max(self.squares - self.total**2 / self.n, 0.0)
        return (PRIOR_WEIGHT * PRIOR_SD**2 + scatter) / (PRIOR_WEIGHT + self.n - 1)


@dataclass(frozen=True, slots=True)
class TemplateStats:
    """How healthy runs write one template. All fields add up over runs."""

    text: str
    runs: int = 0
    """Runs that wrote it."""
    startup: int = 0
    """Runs that wrote it before their first iteration."""
    count: int = 0
    writers: LogSum = LogSum()
    """Streams that wrote it, per run."""
    share: float = 0.0
    """Sum over runs of the share of all streams that wrote it."""
    per_writer: LogSum = LogSum()
    """Lines per writing stream."""
    per_iteration: LogSum = LogSum()
    """Lines per writing stream and iteration, in runs that wrote it in several iterations."""
    per_second: LogSum = LogSum()
    """Lines per writing stream and second, in runs that wrote it repeatedly and have times."""
    aliases: tuple[str, ...] = ()
    """Ids of further templates that were taken for this one."""

    def __add__(self, other: TemplateStats) -> TemplateStats:
        return TemplateStats(
            self.text,
            self.runs + other.runs,
            self.startup + other.startup,
            self.count + other.count,
            self.writers + other.writers,
            self.share + other.share,
            self.per_writer + other.per_writer,
            self.per_iteration + other.per_iteration,
            self.per_second + other.per_second,
            tuple(sorted({*self.aliases, *other.aliases})),
        )


@dataclass(frozen=True, slots=True)
class Run:
    """One healthy run in a baseline, without its lines."""

    digest: str
    """Of what it holds, so that the same run is not counted twice."""
    source: str
    """Name of its first source."""
    lines: int
    bytes: int
    streams: int
    world_size: int | None
    iterations: int
    seconds: float | None
    labelled: bool
    """Most lines say which rank or node wrote them, so that streams are writers."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Statistics of healthy runs of one family."""

    name: str
    runs: tuple[Run, ...] = ()
    frameworks: tuple[str, ...] = ()
    """Dialects that recognised progress, most frequent first."""
    templates: dict[str, TemplateStats] = field(default_factory=dict)
    """By template id."""

    @property
    def labelled(self) -> bool:
        """Whether most runs are, see `Run.labelled`."""
        return 2 * sum(run.labelled for run in self.runs) > len(self.runs)

    @property
    def world_size(self) -> float | None:
        """Typical world size (geometric mean), where known."""
        sizes = [run.world_size for run in self.runs if run.world_size]
        return math.exp(sum(map(math.log, sizes)) / len(sizes)) if sizes else None

    def presence(self, template_id: str) -> float:
        """Share of the runs that wrote a template."""
        stats = self.templates.get(template_id)
        return stats.runs / len(self.runs) if stats and self.runs else 0.0
