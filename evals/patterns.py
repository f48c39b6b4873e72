"""Measures the three patterns on made-up jobs of known truth: `python -m evals.patterns [places|iterations|speed]`.

places: one faulty node among many; share of trials in which it comes first, or among the first eight. Beside ours
    stands the Isolation Forest as L4 describes it (raw counts, scikit-learn's usual sub-sample of 256).
iterations: one odd iteration among many; share of trials in which it has the highest score, by dynamic time warping and
    by the weighted Jaccard distance that `patterns/iterations.py` uses.
speed: processor seconds (all threads) for 4,096 ranks and 20,000 templates.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from assistant.baselines.statistics import from_scans
from assistant.events.models import Scan
from assistant.intake.models import Stream, WriterKind
from assistant.patterns import cross_job, iterations, spatial, temporal
from assistant.patterns.iterations import Shape
from evals.planted import COUNTS, MARKS, SEQUENCES, rank_streams, scan_of

TRIALS = 20
CONSTANT = 200
"""Events that every node writes equally often."""

T = TypeVar("T")
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plot:
    """One faulty node: how many nodes and noisy events there are, and what it writes besides."""

    nodes: int
    noisy: int
    columns: int
    lines: int
    fatal: bool = False
    """The lines carry a known fatal signature."""
    sharers: int = 0
    """Nodes that write half of the faulty node's lines too."""
    raised: int = 0
    """Noisy events of which the faulty node writes twice as many lines as it would."""
    trials: int = TRIALS


PLOTS = [
    Plot(128, 0, 1, 1),
    Plot(128, 20, 1, 1),
    Plot(128, 100, 1, 1),
    Plot(128, 100, 1, 1, fatal=True),
    Plot(128, 300, 1, 1, fatal=True),
    Plot(128, 100, 5, 20),
    Plot(128, 300, 5, 20),
    Plot(128, 100, 6, 20, sharers=7),
    Plot(128, 100, 0, 0, raised=50),
    Plot(1024, 100, 0, 0, raised=50, trials=5),
    Plot(1024, 100, 5, 20, trials=5),
    Plot(4096, 20, 5, 20, trials=5),
    Plot(4096, 100, 1, 1, fatal=True, trials=5),
]


def node_counts(plot: Plot, chance: np.random.Generator) -> tuple[Counts, int]:
    """Counts of nodes by events (constant, noisy, planted), and the faulty node."""
    guilty = int(chance.integers(plot.nodes))
    noise = chance.poisson(chance.gamma(1, 3, plot.noisy), (plot.nodes, plot.noisy))
    noise[guilty, chance.choice(plot.noisy, plot.raised, replace=False)] *= 2
    planted = np.zeros((plot.nodes, plot.columns), dtype=np.int64)
    planted[guilty] = plot.lines
    others = chance.choice(np.delete(np.arange(plot.nodes), guilty), plot.sharers, replace=False)
    planted[np.ix_(others, np.arange(plot.columns // 2))] = max(1, plot.lines // 2)
    return np.hstack([np.full((plot.nodes, CONSTANT), 3), noise, planted]).astype(np.int64), guilty


def node_scan(counts: Counts) -> Scan:
    """A scan in which node n wrote event t so many times."""
    streams = [Stream(n, f"n{n}.log", "", WriterKind.NODE, node=f"n{n:05d}") for n in range(len(counts))]
    place, event = np.nonzero(counts)
    return scan_of(
        streams, [f"event {t}" for t in range(counts.shape[1])], count_table(event, place, counts[place, event])
    )


def count_table(template: Counts, stream: Counts, count: Counts) -> pl.DataFrame:
    """A table of counts whose other columns are 0."""
    table = pl.DataFrame({"template": template, "stream": stream, "count": count})
    filled = table.with_columns(pl.lit(0).alias(name) for name in COUNTS if name not in table.columns)
    return filled.select(pl.col(name).cast(kind) for name, kind in COUNTS.items())


def plain_forest(counts: Counts) -> list[int]:
    """Nodes by the forest as in the paper, the most anomalous first."""
    from sklearn.ensemble import IsolationForest

    forest = IsolationForest(n_estimators=200, random_state=0).fit(counts)
    return [int(node) for node in np.argsort(forest.score_samples(counts), kind="stable")]


def ours(counts: Counts, plot: Plot) -> list[int]:
    """Nodes by the spatial pattern."""
    fatal = frozenset(range(counts.shape[1] - plot.columns, counts.shape[1])) if plot.fatal else frozenset()
    result = spatial.compare(node_scan(counts), protected=fatal)
    return [int((place.node or "n0")[1:]) for place in result.places]


def measure_places() -> None:
    """Prints the table of places."""
    print("nodes  noisy  planted            trials  forest of L4: top-1  top-8    ours: top-1  top-8  others > 0.5")
    for plot in PLOTS:
        chance = np.random.default_rng(plot.nodes + plot.noisy)
        found = np.zeros(4)
        strong = 0
        for _ in range(plot.trials):
            counts, guilty = node_counts(plot, chance)
            for at, ranking in enumerate((plain_forest(counts), ours(counts, plot))):
                found[2 * at] += guilty in ranking[:1]
                found[2 * at + 1] += guilty in ranking[:8]
            result = spatial.compare(node_scan(counts))
            strong += sum(place.score > 0.5 and place.node != f"n{guilty:05d}" for place in result.places)
        what = f"{plot.columns} x {plot.lines}{' fatal' if plot.fatal else ''}{' shared' if plot.sharers else ''}"
        what = f"{plot.raised} doubled" if plot.raised else what
        shares = [f"{share:.2f}" for share in found / plot.trials]
        print(
            f"{plot.nodes:5}  {plot.noisy:5}  {what:17}  {plot.trials:6}  {shares[0]:>19}  {shares[1]:>5}"
            f"    {shares[2]:>11}  {shares[3]:>5}  {strong:>12}"
        )


def ordinary(chance: np.random.Generator, noise: float) -> list[int]:
    """One iteration's events: ten steps in order, some of them repeated or with a chance line between."""
    steps: list[int] = []
    for step in range(10):
        steps += [step] * (1 if step % 3 else int(chance.integers(2, 4)))
        if chance.random() < noise:
            steps.append(10 + int(chance.integers(6)))
    return steps


ODDITIES: dict[str, Callable[[list[int]], list[int]]] = {
    "a new line": lambda steps: [*steps[:5], 99, *steps[5:]],
    "three new lines": lambda steps: [*steps[:5], 97, 98, 99, *steps[5:]],
    "a step left out": lambda steps: [step for step in steps if step != 5],
    "a line 20 times": lambda steps: [*steps[:5], *[steps[5]] * 20, *steps[5:]],
    "other order": lambda steps: [*steps[6:], *steps[:6]],
    "cut in half": lambda steps: steps[: len(steps) // 2],
}


def warping(left: Shape, right: Shape) -> float:
    """Dynamic time warping with cost 0 for equal events and 1 for others, by the longer length."""
    row = [0.0] + [float("inf")] * len(right)
    for one in left:
        before, row = row, [float("inf")]
        for at, other in enumerate(right):
            row.append((one != other) + min(before[at], before[at + 1], row[at]))
    return row[-1] / max(len(left), len(right), 1)


def mean_warping(shapes: Sequence[Shape]) -> npt.NDArray[np.float64]:
    """Mean distance of each iteration to its ten predecessors by warping."""
    known: dict[tuple[Shape, Shape], float] = {}
    means = np.zeros(len(shapes))
    for at in range(10, len(shapes)):
        pairs = [(shapes[at], shapes[at - lag]) for lag in range(1, 11)]
        for pair in pairs:
            known.setdefault(pair, 0.0 if pair[0] == pair[1] else warping(*pair))
        means[at] = np.mean([known[pair] for pair in pairs])
    return means


def mean_jaccard(shapes: Sequence[Shape]) -> npt.NDArray[np.float64]:
    """The same by the weighted Jaccard distance."""
    later = np.repeat(np.arange(10, len(shapes), dtype=np.int32), 10)
    earlier = later - np.tile(np.arange(1, 11, dtype=np.int32), len(shapes) - 10)
    distance, _ = iterations.jaccard(iterations.features(shapes, [1] * len(shapes)), later, earlier)
    return np.concatenate([np.zeros(10), distance.reshape(-1, 10).mean(axis=1)])


def measure_iterations() -> None:
    """Prints the table of iterations."""
    print("chance lines  oddity           warping: first  margin  ms      Jaccard: first  margin  ms")
    for noise in (0.0, 0.1, 0.3):
        for name, change in ODDITIES.items():
            cells = [_trials(method, change, noise) for method in (mean_warping, mean_jaccard)]
            row = [f"{first:>14.2f}  {margin:>6.1f}  {seconds * 1000:>6.1f}" for first, margin, seconds in cells]
            print(f"{noise:12.1f}  {name:15}  {'  '.join(row)}")


def _trials(
    method: Callable[[Sequence[Shape]], npt.NDArray[np.float64]], change: Callable[[list[int]], list[int]], noise: float
) -> tuple[float, float, float]:
    """Share of trials in which the odd iteration leads, its margin in robust standard deviations, seconds a trial."""
    chance = np.random.default_rng(3)
    first, margins, started = 0, [], time.process_time()
    for _ in range(10):
        bodies = [ordinary(chance, noise) for _ in range(100)]
        bodies[70] = change(bodies[70])
        scores = method([tuple(body) for body in bodies])
        rest = np.delete(scores[10:], 60)
        first += bool(scores[70] > rest.max())
        spread = 1.4826 * float(np.median(np.abs(rest - np.median(rest))))
        margins.append((scores[70] - float(np.median(rest))) / max(spread, 0.01))
    return first / 10, float(np.median(margins)), (time.process_time() - started) / 10


def large_scan(ranks: int = 4096, templates: int = 20_000, each: int = 300, loops: int = 40) -> Scan:
    """A large job: each rank writes the common events and some chance ones, and iterates."""
    chance = np.random.default_rng(1)
    common = np.arange(each // 2)
    own = chance.integers(each // 2, templates, (ranks, each - each // 2))
    event = np.concatenate([np.broadcast_to(common, (ranks, len(common))), own], axis=1).ravel()
    place = np.repeat(np.arange(ranks), each)
    counts = count_table(event, place, chance.poisson(4, len(event)) + 1)
    counts = counts.group_by("template", "stream").agg(pl.all().sum()).select(counts.columns)
    words = [f"w{n}" for n in range(400)]
    wording = np.random.default_rng(2)
    texts = [" ".join([*wording.choice(words, 9), f"e{t}"]) for t in range(templates)]
    return scan_of(rank_streams(ranks, last_time=100.0, lines=each), texts, counts, **_loops(ranks, loops, chance))  # type: ignore[arg-type]


def _loops(ranks: int, loops: int, chance: np.random.Generator) -> dict[str, object]:
    rank, iteration = np.repeat(np.arange(ranks), loops), np.tile(np.arange(loops), ranks)
    marks = pl.DataFrame({"stream": rank, "iteration": iteration, "order": iteration, "time": iteration + 0.0})
    marks = marks.with_columns(pl.lit("iteration").alias("kind"), pl.lit("generic").alias("dialect"), attempt=0)
    marks = marks.with_columns(pl.lit(None).alias(name) for name in MARKS if name not in marks.columns)
    shapes = tuple(tuple(int(t) for t in chance.integers(0, 60, 20)) for _ in range(500))
    numbers = chance.choice(500, len(rank), p=np.r_[0.9, np.full(499, 0.1 / 499)])
    rows = pl.DataFrame({"stream": rank, "iteration": iteration, "sequence": numbers, "line": iteration})
    return {
        "marks": marks.select(pl.col(name).cast(kind) for name, kind in MARKS.items()),
        "sequences": rows.select(pl.col(name).cast(kind) for name, kind in SEQUENCES.items()),
        "shapes": shapes,
    }


def measure_speed() -> None:
    """Prints seconds for the large job, each pattern alone."""
    scan, healthy = large_scan(), large_scan(ranks=256, each=4000)
    print(f"{len(scan.streams):,} ranks, {len(scan.templates):,} templates, {scan.counts.height:,} counts")
    baseline, seconds = _timed(lambda: from_scans([healthy]))
    print(f"baseline from a run  {seconds:6.2f} s")
    cross, seconds = _timed(lambda: cross_job.compare(scan, baseline))
    print(f"cross_job            {seconds:6.2f} s   {cross.note}")
    steps, seconds = _timed(lambda: temporal.compare(scan))
    print(f"temporal             {seconds:6.2f} s   {steps.note}")
    places, seconds = _timed(lambda: spatial.compare(scan, progress=steps.progress))
    print(f"spatial              {seconds:6.2f} s   {places.note}")


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


MEASURES = {"places": measure_places, "iterations": measure_iterations, "speed": measure_speed}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or MEASURES:
        MEASURES[wanted]()
        print()
