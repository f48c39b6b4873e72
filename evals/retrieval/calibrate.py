"""Where nothing fits: `python -m evals.retrieval.calibrate` prints what each threshold would do, on the tuning half."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from assistant.retrieval.models import Query
from assistant.retrieval.search import Searcher
from evals.retrieval.engines import open_engines
from evals.retrieval.questions import Question, load_questions
from evals.retrieval.score import CACHE

RECOGNISED = (0.8, 0.9, 0.95, 1.0)
"""Shares of questions without an answer that are to be recognised."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Always 0: it measures and decides nothing."""
    parser = argparse.ArgumentParser(prog="python -m evals.retrieval.calibrate", description=__doc__)
    parser.add_argument("--data", type=Path, default=CACHE, help="folder for the index")
    questions = [question for question in load_questions() if question.half == "tune"]
    engines = open_engines(parser.parse_args(arguments).data)
    try:
        for name, engine in engines.items():
            print("\n".join(told(name, [(one, _score(engine, one)) for one in questions])))
    finally:
        engines["hybrid"].close()
    return 0


def told(name: str, scored: Sequence[tuple[Question, float]]) -> Iterator[str]:
    """For each share that is to be recognised: the threshold, and what it costs in questions that have an answer."""
    beside = sorted(score for question, score in scored if not question.answers)
    asked = [score for question, score in scored if question.answers]
    for share in RECOGNISED:
        highest = beside[max(0, round(share * len(beside)) - 1)]
        above = min((score for score in [*asked, *beside] if score > highest), default=highest)
        lost = sum(score <= highest for score in asked)
        yield f"{name:12} {share:.0%} recognised from {highest:.3f} to {above:.3f} on, {lost} of {len(asked)} lost"


def _score(engine: Searcher, question: Question) -> float:
    found = engine.found(Query(text=question.question))
    signs = engine.signs(found)
    return float("inf") if signs.decisive else signs.score(engine.threshold(found))


if __name__ == "__main__":
    raise SystemExit(main())
