"""Scores the search: `python -m evals.retrieval.score [--half tune|held|both] [--misses] [--write]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from assistant.errors import RootrankError
from assistant.retrieval.models import Query
from assistant.retrieval.search import Searcher
from evals.retrieval.engines import open_engines
from evals.retrieval.marks import DEPTH, Figures, Mark, figures, mark
from evals.retrieval.questions import DATA, HALVES, Question, load_questions, wrong

RESULT = DATA / "retrieval.json"
CACHE = Path(__file__).parents[1] / ".cache"
TODAY = "2026-01-01"
"""The day from which incidents count their age, so that the same figures come out on every day."""
COMMAND = "python -m evals.retrieval.score --half both --write"

_GROUPS: dict[str, Callable[[Question], bool]] = {
    "all": lambda question: True,
    "with code": lambda question: question.has_code,
    "in words": lambda question: not question.has_code,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where all is well, 1 where the questions name documents that do not exist, 4 where data cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except RootrankError as error:
        print(f"{error.message}\n  {error.hint}", file=sys.stderr)
        return 4


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.retrieval.score", description=__doc__)
    parser.add_argument("--half", choices=[*HALVES, "both"], default="tune")
    parser.add_argument("--misses", action="store_true", help="name the misses of the tuning half")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    parser.add_argument("--data", type=Path, default=CACHE, help="folder for the index")
    return parser


def _run(options: argparse.Namespace) -> int:
    chosen = HALVES if options.half == "both" else (options.half,)
    questions = [question for question in load_questions() if question.half in chosen]
    engines = open_engines(options.data)
    try:
        if problems := list(wrong(load_questions(), _documents(engines["hybrid"]))):
            print("\n".join(problems), file=sys.stderr)
            return 1
        marks = {name: asked(engine, questions) for name, engine in engines.items()}
    finally:
        engines["hybrid"].close()
    table = {half: {name: _grouped(marks[name], half) for name in marks} for half in chosen}
    print("\n".join(told(table)))
    if options.misses:
        print("\n".join(misses(marks)))
    if options.write:
        RESULT.write_bytes(orjson.dumps(_result(table), option=orjson.OPT_INDENT_2) + b"\n")
    return 0


def asked(engine: Searcher, questions: Iterable[Question]) -> list[Mark]:
    """Every question put to an engine."""
    return [mark(one, engine.search(Query(text=one.question, limit=DEPTH, today=TODAY))) for one in questions]


def told(table: dict[str, dict[str, dict[str, Figures]]]) -> Iterator[str]:
    """The table as lines."""
    for half, engines in table.items():
        yield f"{half} half"
        yield f"{'engine':12} {'questions':10} {'n':>4} {'rec@5':>7} {'MRR':>7} {'all@5':>7} {'n none':>7} {'known':>7}"
        for engine, groups in engines.items():
            yield from (f"{engine:12} {group:10} {_row(one)}" for group, one in groups.items())


def _row(one: Figures) -> str:
    shown = " ".join(f"{_shown(value):>7}" for value in (one.recall_at_5, one.mrr, one.all_at_5))
    return f"{one.answerable:>4} {shown} {one.unanswerable:>7} {_shown(one.recognised):>7}"


def misses(marks: dict[str, list[Mark]]) -> Iterator[str]:
    """Questions of the tuning half whose answer does not stand first, by engine; never those of the held half."""
    for engine, all_ in marks.items():
        for one in all_:
            if one.question.half != "held" and (bad := _bad(one)):
                yield f"\n{engine} {bad} {one.question.id}: {one.question.question}"
                yield f"    wanted {', '.join(one.question.answers) or 'nothing'}"
                yield f"    found  {', '.join(one.found[:6]) or 'nothing'}"


def _bad(one: Mark) -> str:
    if not one.question.answers:
        return "FITS" if one.fits else ""
    if not one.fits:
        return "NOTHING"
    return "" if one.first == 1 else f"#{one.first or '-'}"


def _grouped(marks: Sequence[Mark], half: str) -> dict[str, Figures]:
    return {
        group: figures([one for one in marks if one.question.half == half and belongs(one.question)])
        for group, belongs in _GROUPS.items()
    }


def _documents(searcher: Searcher) -> frozenset[str]:
    rows = searcher.index.store.base.execute("SELECT DISTINCT id FROM documents")
    return frozenset(str(name) for (name,) in rows)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _result(table: dict[str, dict[str, dict[str, Figures]]]) -> dict[str, Any]:
    return {
        "schema": "rootrank.retrieval-score/1",
        "command": COMMAND,
        "halves": {
            half: {name: {group: asdict(one) for group, one in groups.items()} for name, groups in engines.items()}
            for half, engines in table.items()
        },
    }


if __name__ == "__main__":
    sys.exit(main())
