"""Figures of the offline answerer: `python -m evals.offline [score|bench] [--tune] [--show]`."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence

from evals.desks import intents, opened, searcher
from evals.figures import keep
from evals.offline.questions import load_questions
from evals.offline.score import Mark, first_token, marks

SECONDS = 0.3
"""The first piece of text must be there by then."""
ENOUGH = 0.9
BENCHED = ("knowledge/examples/hanging-rank", "tests/fixtures/torchrun/job-05")


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where the bars hold, 1 where they do not."""
    parser = argparse.ArgumentParser(prog="python -m evals.offline", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("score", "bench"), default="score")
    parser.add_argument("--tune", action="store_true", help="only the half that may be looked at")
    parser.add_argument("--show", action="store_true", help="print the wrong answers of the tuning half")
    parser.add_argument("--job", action="append", default=[], help="only this job; repeatable")
    options = parser.parse_args(arguments)
    return bench() if options.what == "bench" else score(tune=options.tune, show=options.show, jobs=options.job)


def score(*, tune: bool, show: bool, jobs: Sequence[str]) -> int:
    """Asks the questions and prints the figures."""
    made = list(marks(load_questions(), held=not tune, jobs=jobs))
    for mark in made:
        if not mark.right and not mark.held:
            _told(mark, show)
    figures = {half: _share([mark for mark in made if mark.held is held]) for half, held in _HALVES}
    wrongly = sum(len(mark.said) for mark in made)
    print(*(f"{half}: {right} of {asked}" for half, (right, asked) in figures.items()), sep="\n")
    print(f"forbidden claims: {wrongly}")
    right, asked = map(sum, zip(*figures.values(), strict=True))
    if not tune and not jobs:
        keep(
            "offline",
            {"right": right, "asked": asked, "forbidden": wrongly, **{k: list(v) for k, v in figures.items()}},
        )
    return 0 if asked and right / asked >= ENOUGH and not wrongly else 1


_HALVES = (("tuned on", False), ("held back", True))


def _share(made: Sequence[Mark]) -> tuple[int, int]:
    return sum(mark.right for mark in made), len(made)


def _told(mark: Mark, show: bool) -> None:
    for what, found in (("lacks", mark.missing), ("claims", mark.said), ("unsound", mark.broken)):
        if found:
            print(f"{mark.job.rsplit('/', 1)[-1]}: {mark.asked.ask!r} {what} {list(found)}")
    if show:
        print("    " + mark.answer[:1500].replace("\n", "\n    "))


def bench() -> int:
    """Seconds to the first text, once everything that a command opens before the first question is open."""
    intents(), searcher()
    taken, worked = [], []
    for name in BENCHED:
        with opened(name) as job:
            for intent in intents().file.intents:
                before = time.process_time()
                taken.append(first_token(job.answerer(), intent.says[0], time.perf_counter))
                worked.append((time.process_time() - before, intent.id))
    slowest, median = max(taken), statistics.median(taken)
    most, which = max(worked)
    print(f"most processor time: {most * 1000:.0f} ms ({which})")
    print(
        f"first text after {median * 1000:.0f} ms (median), {slowest * 1000:.0f} ms (slowest) of {len(taken)} questions"
    )
    keep(
        "offline-bench",
        {
            "median": round(median, 4),
            "slowest": round(slowest, 4),
            "processor": round(most, 4),
            "questions": len(taken),
        },
    )
    return 0 if slowest < SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
