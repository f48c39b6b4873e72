"""Score, report, check, take apart: `python -m evals score|report|check|draw|ablate|check-truth`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assistant.errors import RootrankError, UsageError
from evals.ablation import ablations
from evals.check import CHECK, board_of, lines_of, load_subset, narrated
from evals.draw import drawn, thresholds, write
from evals.jobset import LAB, Half, Job, JobSet, load_set
from evals.prediction import Tool
from evals.report.bars import load_bars
from evals.report.document import ABLATED, Contents, document
from evals.report.kinds import event_misses, misses
from evals.report.plots import plots
from evals.report.replicas import replicas
from evals.report.tables import COLUMNS, differences, percent
from evals.rivals import missing
from evals.runner import CACHE, PROCESSES, answers_of
from evals.scorers.board import Board, boards, in_half
from evals.tools import OURS, all_tools, chosen
from evals.truth_check import problems

REPORT = Path(__file__).parent / "REPORT.md"
PLOTS = "plots"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where all is well, 1 where something is wrong, 2 for a wrong command line, 4 for data that cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except RootrankError as error:
        print(f"{error.message}\n  {error.hint}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 4


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run, text in (
        ("score", score, "print the scoreboard and what is wrong on the tuning half"),
        ("report", report, "write REPORT.md and its plots"),
        ("check", check, "the fast subset with thresholds"),
        ("draw", draw, "draw the fast subset anew and write its thresholds"),
        ("ablate", ablate, "take out one part at a time"),
        ("check-truth", check_truth, "look for mistakes in the truth of a set"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        command.add_argument(
            "--set", dest="sets", type=Path, action="append", help="folder with truth.json; repeatable"
        )
        command.add_argument("--cache", type=Path, default=CACHE)
        command.add_argument("--processes", type=int, default=PROCESSES)
        if name == "score":
            command.add_argument("--tool", dest="tools", action="append", default=[], help="repeatable; default ours")
            command.add_argument("--half", choices=[half.value for half in (Half.TUNE, Half.REPORT)], default="tune")
            command.add_argument("--events", action="store_true", help="also templates missed or made up")
        if name == "report":
            command.add_argument("--to", type=Path, default=REPORT)
    return parser


def score(options: argparse.Namespace) -> int:
    """Prints figures of one half; misses by name only where they may be looked at."""
    half = Half(options.half)
    jobs = [job for job in _jobs(options) if in_half(half)(job)]
    tools = chosen(options.tools or ["rootrank"])
    made = _boards(jobs, tools, options)
    for column, title in COLUMNS.items():
        cells = [board.cell(column) for board in made]
        print(f"{title:45}", *(f"{percent(cell.value):>8} n {cell.n:<4}" for cell in cells))
    for board in made:
        print(f"\n{board.tool}: false events per healthy job {board.false_events_of_healthy}, broken {board.broken}")
        print("\n".join(misses(board)))
        if options.events:
            print("\n".join(event_misses(board.scored)))
    return 0


def report(options: argparse.Namespace) -> int:
    """Writes the report beside its plots."""
    sets = _sets(options)
    jobs = [job for one in sets for job in one.jobs]
    tools, parts = all_tools(), ablations()
    asked = [*tools, *parts[1:]]
    made = _boards(jobs, asked, options)
    ablated = [made[0], *made[len(tools) :]]
    (scaled,) = _boards(replicas(sets[0].folder, options.cache), [OURS], options)
    ours = [replace(made[0], scored=(*made[0].scored, *scaled.scored)), *made[1 : len(tools)]]
    drawn = plots(ours, ablated)
    folder = options.to.parent / PLOTS
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in drawn.items():
        (folder / name).write_text(text, encoding="utf-8")
    made_with = {name: version for one in sets for name, version in one.made_with.items()}
    names = tuple(f"{PLOTS}/{name}" for name in drawn)
    contents = Contents("python -m evals report", made_with, tuple(ours), tuple(ablated), load_bars(), names, missing())
    options.to.write_text(document(contents), encoding="utf-8")
    print(options.to)
    return 0


def check(options: argparse.Namespace) -> int:
    """1 where a threshold does not hold."""
    subset = load_subset()
    board = board_of(subset, (options.sets or [LAB])[0], options.cache, options.processes)
    lines = lines_of(subset, board)
    print("\n".join(narrated(lines, board)))
    return 0 if all(line.holds for line in lines) else 1


def draw(options: argparse.Namespace) -> int:
    """Writes check.yaml."""
    jobs = drawn(_jobs(options))
    (board,) = _boards(jobs, [OURS], options)
    write(jobs, thresholds(board))
    print(CHECK)
    return 0


def ablate(options: argparse.Namespace) -> int:
    """Prints both halves without each part in turn."""
    made = _boards(_jobs(options), ablations(), options)
    for half in (Half.REPORT, Half.TUNE):
        whole, *others = [board.of(in_half(half)) for board in made]
        print(f"{half.value} half\n", *differences(whole, others, ABLATED), sep="\n")
    return 0


def check_truth(options: argparse.Namespace) -> int:
    """1 where there is a problem."""
    found = [problem for folder in options.sets or [LAB] for problem in problems(folder)]
    print("\n".join(map(str, found)) or "nothing is wrong")
    return 1 if found else 0


def _sets(options: argparse.Namespace) -> list[JobSet]:
    return [load_set(folder) for folder in options.sets or [LAB]]


def _jobs(options: argparse.Namespace) -> list[Job]:
    return [job for one in _sets(options) for job in one.jobs]


def _boards(jobs: Sequence[Job], tools: Sequence[Tool], options: argparse.Namespace) -> list[Board]:
    answers = answers_of(jobs, tools, cache=options.cache, processes=options.processes, told=_told)
    return boards(answers, tools)


def _told(done: int, all_: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {all_} jobs", end="\n" if done == all_ else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
