"""Writes a replica file by file, so that no more than one node's text is in memory."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from evals.scale.console import RULE, Entry, Stretch, Turn, entries, layout, stretches
from evals.scale.noise import Noise
from evals.scale.original import Original, RankFile, encoded, whole_lines
from evals.scale.plan import NodePlan, Plan
from evals.scale.slots import Compiler, Scribe, Skeleton, fill, slot_pattern

LAG = 0.02
"""Longest time that a copy writes later than its original, seconds."""
LOST = 0.01
"""Share of ordinary ranks whose folder is missing; as many have a file cut short."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch ready to be filled in."""

    turn: Turn
    local: int | None
    skeleton: Skeleton
    first: int
    lines: int
    rule: str = ""
    entries: tuple[tuple[Entry, Skeleton], ...] = ()


@dataclass(slots=True)
class Renderer:
    """Fills in everything for one plan. What was taken apart is kept."""

    plan: Plan
    noise: Noise
    year: int
    varied: bool
    moved: dict[tuple[int, str], dict[int, tuple[int, int]]] = field(default_factory=dict)
    """By replica node and console: first and last new line of each real line, for struck nodes alone."""
    _parts: dict[tuple[int, str], list[Part]] = field(default_factory=dict)
    _files: dict[tuple[int, int, int, str], list[Skeleton]] = field(default_factory=dict)

    @property
    def _original(self) -> Original:
        return self.plan.original

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Paths inside the job's folder and what stands there, node after node."""
        for node in self.plan.nodes:
            for name, text in self._original.nodes[node.template].consoles.items():
                yield f"{node.name}/{name}", encoded(self._console(node, name, text))
            for local in range(self.plan.per_node):
                yield from self._of_rank(node, local)

    def _compiler(self, template: int) -> Compiler:
        nodes = self._original.nodes
        pattern = slot_pattern(tuple(node.name for node in nodes), tuple(node.run_folder for node in nodes))
        return Compiler(self._original, template, self.year, pattern, self.varied)

    def _of_rank(self, node: NodePlan, local: int) -> Iterator[tuple[str, bytes]]:
        real = node.locals[local]
        draw = random.Random(f"{self.plan.seed}/{node.index}/{local}")
        fate = draw.random() if self._ordinary(node, local) else 1.0
        if fate < LOST:
            return
        scribe = self._scribe(node, local)
        for file in self._original.nodes[node.template].ranks[real]:
            data = encoded(self._rank_text(node, real, file, scribe, draw))
            if fate < 2 * LOST and file.name.endswith(".log"):
                data = data[: int(len(data) * draw.uniform(0.6, 0.95))]
            yield f"{node.name}/torchrun/{node.run_folder}/attempt_{file.attempt}/{local}/{file.name}", data

    def _scribe(self, node: NodePlan, local: int) -> Scribe:
        """A rank as a writer. Copies write a little later than what they copy; what came first stays first."""
        lag = random.Random(f"{self.plan.seed}/{node.index}/{local}/lag").uniform(0, LAG)
        return Scribe(self.plan, node, local, lag if self._ordinary(node, local) else 0.0)

    def _ordinary(self, node: NodePlan, local: int) -> bool:
        """Whether a rank is neither the first nor one that something was done to, nor on such a node."""
        return node.index not in self.plan.struck.values() and node.index * self.plan.per_node + local != 0

    def _rank_text(self, node: NodePlan, real: int, file: RankFile, scribe: Scribe, draw: random.Random) -> str:
        key = (node.template, real, file.attempt, file.name)
        if key not in self._files:
            compiler = self._compiler(node.template)
            self._files[key] = [compiler.skeleton(line) for line in whole_lines(file.text)]
        lines = [fill(skeleton, scribe) for skeleton in self._files[key]]
        if self._ordinary(node, scribe.local or 0) and file.name.endswith(".log"):
            lines = self.noise.among(lines, scribe.rank, draw)
        return "".join(lines)

    def _console(self, node: NodePlan, name: str, text: str) -> str:
        key = (node.template, name)
        if key not in self._parts:
            self._parts[key] = [self._part(node.template, each) for each in stretches(self._original, key[0], text)]
        scribes = [self._scribe(node, local) for local in range(self.plan.per_node)]
        launcher = Scribe(self.plan, node, None)
        lines: list[str] = []
        moved = self.moved.setdefault((node.index, name), {}) if node.index in self.plan.struck.values() else None
        for part in self._parts[key]:
            before = len(lines)
            lines += _written(part, node, launcher, scribes)
            if moved is not None:
                moved |= {part.first + at: (before + 1, len(lines)) for at in range(part.lines)}
        return "\n".join(lines) + ("\n" if lines else "")

    def _part(self, template: int, stretch: Stretch) -> Part:
        compiler = self._compiler(template)
        if stretch.turn is not Turn.BLOCK:
            skeleton = compiler.skeleton("\n".join(stretch.lines))
            return Part(stretch.turn, stretch.local, skeleton, stretch.first, len(stretch.lines))
        found = [(entry, compiler.skeleton("\n".join(entry.lines))) for entry in entries(stretch)]
        rule = next((line for line in stretch.lines if RULE.match(line)), "-" * 60)
        return Part(Turn.BLOCK, None, (), stretch.first, len(stretch.lines), rule, tuple(found))


def _written(part: Part, node: NodePlan, launcher: Scribe, scribes: list[Scribe]) -> list[str]:
    """The lines of one part on one node."""
    if part.turn is Turn.BLOCK:
        return _block(part, node, scribes)
    copies = [scribe for scribe, real in zip(scribes, node.locals, strict=True) if real == part.local]
    if part.turn is Turn.ONCE:
        writer = copies[0] if copies else launcher
        return fill(part.skeleton, writer).split("\n")
    return [line for scribe in copies for line in fill(part.skeleton, scribe).split("\n")]


def _block(part: Part, node: NodePlan, scribes: list[Scribe]) -> list[str]:
    """The failure block with an entry for every copy; the root cause is the first copy of the real one."""
    made: list[list[str]] = []
    for entry, skeleton in sorted(part.entries, key=lambda pair: not pair[0].root):
        copies = [scribe for scribe, real in zip(scribes, node.locals, strict=True) if real == entry.local]
        made += [fill(skeleton, scribe).split("\n") for scribe in copies]
    return list(layout(len(made), part.rule, made)) if made else []
