"""Figures of the offline answerer: `python -m evals.offline [score|leave|bench|ship]`.

`score` asks the questions of a set, `leave` reads each saying as if nobody had thought of it, `bench` takes the time to
the first words, `ship` makes the vectors that come with the sayings anew.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from assistant.answers.meaning import SecondOpinion
from evals.desks import intents, opened, searcher
from evals.figures import keep
from evals.offline.leaving import figures, left_out, likenesses, told
from evals.offline.questions import FILE, load_questions
from evals.offline.score import Mark, first_token, marks
from evals.offline.shipping import opinion, ship

SECONDS = 0.3
"""The first piece of text must be there by then."""
ENOUGH = 0.9
BENCHED = ("knowledge/examples/hanging-rank", "tests/fixtures/torchrun/job-05")


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where the bars hold, 1 where they do not."""
    parser = argparse.ArgumentParser(prog="python -m evals.offline", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("score", "leave", "bench", "ship"), default="score")
    parser.add_argument("--tune", action="store_true", help="only the half that may be looked at")
    parser.add_argument("--show", action="store_true", help="print the wrong answers of the tuning half")
    parser.add_argument("--file", type=Path, default=FILE, help="another set of questions of the same form")
    parser.add_argument("--meaning", action="store_true", help="with the embedded model as second opinion")
    parser.add_argument("--job", action="append", default=[], help="only this job; repeatable")
    options = parser.parse_args(arguments)
    match options.what:
        case "bench":
            return bench()
        case "leave":
            return leave(meaning=options.meaning)
        case "ship":
            return ship()
    second = opinion() if options.meaning else None
    return score(options.file, tune=options.tune, show=options.show, jobs=options.job, second=second)


def score(file: Path, *, tune: bool, show: bool, jobs: Sequence[str], second: SecondOpinion | None = None) -> int:
    """Asks the questions and prints the figures; those of the project's own set are kept."""
    made = list(marks(load_questions(file), held=not tune, jobs=jobs, second=second))
    for mark in made:
        if not mark.right and not mark.held:
            _told(mark, show)
    shares = {half: _share([mark for mark in made if mark.held is held]) for half, held in _HALVES}
    wrongly = sum(len(mark.said) for mark in made)
    print(*(f"{half}: {right} of {asked}" for half, (right, asked) in shares.items()), sep="\n")
    print(f"forbidden claims: {wrongly}")
    right, asked = map(sum, zip(*shares.values(), strict=True))
    if not tune and not jobs and file == FILE and second is None:
        keep(
            "offline",
            {"right": right, "asked": asked, "forbidden": wrongly, **{k: list(v) for k, v in shares.items()}},
        )
    return 0 if asked and right / asked >= ENOUGH and not wrongly else 1


def leave(*, meaning: bool) -> int:
    """Reads each saying without it, and prints how many are read rightly."""
    extra = likenesses(intents()) if meaning else None
    made = {}
    for name, what in (("near", "each saying left out"), ("far", "with all that are worded like it")):
        left = left_out(intents(), far=name == "far", extra=extra)
        print(f"{what}:", *(f"  {line}" for line in told(left)), sep="\n")
        made[name] = figures(left)
    keep(f"offline-leave{'-meaning' if meaning else ''}", made)
    return 0


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
    searcher()
    intents().likeness  # noqa: B018 - learned once
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
