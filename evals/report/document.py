"""The report as one Markdown document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.case.vocabulary import Confidence
from evals.ablation import TITLES
from evals.jobset import Half
from evals.report import machine
from evals.report.bars import Bars, Measured, measured
from evals.report.first_sight import first_sight
from evals.report.kinds import by_kind, misses
from evals.report.plots import COMPARED, TARGETS, sizes
from evals.report.tables import COLUMNS, NOTHING, costs, differences, full, percent, side_by_side, span, table
from evals.scorers.board import Board, Cell, in_half, of_size

ABLATED = ("events_f1", "rank@1", "rank@3", "no_blame", "blame", "cause", "stage", "iteration_near", "verdict")
SCALED = ("status", "cause", "rank@1", "rank@3", "rank@8", "no_blame", "iteration_near", "events_f1")


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything a report is made of."""

    command: str
    made_with: dict[str, str]
    boards: tuple[Board, ...]
    """Ours first."""
    ablated: tuple[Board, ...]
    bars: Bars
    plots: tuple[str, ...]
    """Files beside the report."""
    missing: dict[str, str]
    """Rivals that could not be asked, with the reason."""


def document(contents: Contents) -> str:
    """The whole report."""
    ours = contents.boards[0]
    parts = [
        _head(contents),
        _bars(measured(contents.bars, ours), contents),
        first_sight(measured(contents.bars, ours)),
        _ahead(contents.boards),
        _half(contents.boards, Half.REPORT, "The reporting half"),
        _half(contents.boards, Half.TUNE, "The tuning half"),
        _ablation(contents.ablated),
        _kinds(ours),
        _calibration(ours),
        _scaled(contents.boards),
        ["## Seconds and megabytes", "", *_plain(_COSTS), *costs(contents.boards)],
        ["## How it is scored", "", *_plain(_METHOD)],
    ]
    return "\n".join(line for part in parts for line in part).rstrip("\n") + "\n"


def _head(contents: Contents) -> list[str]:
    ours = contents.boards[0]
    real = [each.job for each in ours.scored if not each.job.scaled]
    failed = sum(job.half is not Half.BOTH for job in real)
    kinds = len({job.truth.kind for job in real if job.half is not Half.BOTH})
    tools = {board.tool: board.version for board in contents.boards}
    return [
        "# Scoreboard",
        "",
        *machine.lines(contents.command, tools, contents.made_with),
        f"{failed} real runs that were broken on purpose, of {kinds} kinds of fault, and {len(real) - failed} healthy "
        f"ones; {len(ours.scored) - len(real)} scaled replicas, shown apart. Half of the kinds may be looked at while "
        "the diagnosis is being improved (tuning half); the other half only scores it (reporting half). Healthy runs "
        "count for both. A dash is what a tool cannot say; it is no zero.",
        "",
        *(f"- Not asked: {name} ({why})." for name, why in contents.missing.items()),
        *([""] if contents.missing else []),
        *_picture("tools.svg", contents.plots),
    ]


def _picture(name: str, plots: Sequence[str]) -> list[str]:
    path = next((plot for plot in plots if plot.endswith(name)), None)
    return [f"![{name.removesuffix('.svg')}]({path})", ""] if path else []


def _bars(results: Sequence[Measured], contents: Contents) -> list[str]:
    rows = []
    for each in results:
        must = (
            f"{100 * each.bar.at_least:.0f} %"
            if each.bar.at_least is not None
            else f"within {100 * (each.bar.within or 0):.0f} points"
        )
        verdict = {True: "yes", False: "**no**", None: "not measured"}[each.reached]
        rows.append(
            [
                each.bar.what,
                must,
                " / ".join(percent(c.value) for c in each.cells),
                _sizes(each.cells),
                *_spans(each.cells),
                verdict,
            ]
        )
    heads = [
        "must be reached on the reporting half",
        "bar",
        "measured",
        "n",
        "95 % Wilson",
        "95 % over kinds",
        "reached",
    ]
    missed = [each for each in results if each.reached is False]
    why = [f"- {each.bar.what}: {each.bar.why or 'not yet explained.'}" for each in missed]
    return ["## The bars", "", *table(heads, rows), *(["Not reached, and why:", "", *why, ""] if why else [])]


def _sizes(cells: Sequence[Cell]) -> str:
    return " / ".join(str(cell.n) if cell.n else NOTHING for cell in cells)


def _spans(cells: Sequence[Cell]) -> list[str]:
    return [" / ".join(span(cell.wilson) for cell in cells), " / ".join(span(cell.clusters) for cell in cells)]


def _ahead(boards: Sequence[Board]) -> list[str]:
    """Columns in which a rival is ahead of us on the reporting half."""
    ours, *others = [board.of(in_half(Half.REPORT)) for board in boards]
    lines = []
    for column in COLUMNS:
        own = ours.cell(column).value
        for rival in others:
            value = rival.cell(column).value
            if value is not None and not rival.tool.startswith(ours.tool) and value > (own or 0.0):
                lines.append(f"- {COLUMNS[column]}: {rival.tool} {percent(value)}, ours {percent(own)}")
    head = "Columns of the reporting half in which a rival is ahead:" if lines else _NOBODY_AHEAD
    return [head, "", *lines, *([""] if lines else [])]


_NOBODY_AHEAD = "On the reporting half no rival is ahead in any column that it can fill."


def _half(boards: Sequence[Board], half: Half, title: str) -> list[str]:
    own = [board.of(in_half(half)) for board in boards]
    return [
        f"## {title}",
        "",
        f"Ours, every column ({own[0].tool}):",
        "",
        *full(own[0]),
        "All tools (below each figure its 95 % interval: Wilson for shares, over kinds for events):",
        "",
        *side_by_side(own, COLUMNS),
    ]


def _ablation(boards: Sequence[Board]) -> list[str]:
    if not boards:
        return []
    lines = ["## One part taken out at a time", ""]
    lines += _plain(_ABLATION)
    for half, title in ((Half.REPORT, "Reporting half"), (Half.TUNE, "Tuning half")):
        whole, *others = [board.of(in_half(half)) for board in boards]
        lines += [f"{title}: the whole, then points gained or lost without each of {len(TITLES)} parts.", ""]
        lines += differences(whole, others, ABLATED)
    return lines


def _kinds(board: Board) -> list[str]:
    return [
        "## By kind of fault",
        "",
        "Tuning half (right of asked):",
        "",
        *by_kind(board, Half.TUNE),
        "What is wrong there:",
        "",
        *misses(board),
        "Reporting half (counted only):",
        "",
        *by_kind(board, Half.REPORT),
    ]


def _calibration(board: Board) -> list[str]:
    rows = []
    for title, half in (("reporting half", Half.REPORT), ("tuning half", Half.TUNE)):
        for level in Confidence:
            found = board.of(in_half(half)).confident(level)
            target = TARGETS[level]
            must = f"at least {100 * target:.0f} %" if target is not None else NOTHING
            rows.append(
                [
                    f"{title}, {level.value}",
                    must,
                    percent(found.value),
                    str(found.n),
                    span(found.wilson if found.n else None),
                    span(found.clusters),
                ]
            )
    heads = ["confidence", "should be right", "is right", "n", "95 % Wilson", "95 % over kinds"]
    lines = [
        "## Does confidence mean what it says?",
        "",
        "A verdict is right if status, cause class and blame are.",
        "",
    ]
    return [*lines, *table(heads, rows)]


def _scaled(boards: Sequence[Board]) -> list[str]:
    if not sizes(boards[0]):
        return []
    lines = ["## Scaled replicas", "", *_plain(_SCALED)]
    for ranks in sizes(boards[0]):
        lines += [f"{ranks:,} ranks:", "", *side_by_side([board.of(of_size(ranks)) for board in boards], SCALED)]
    return lines


def _plain(text: str) -> list[str]:
    return [*text.strip().splitlines(), ""]


_COSTS = """
Wall-clock time of each tool's own work on a job; reading healthy runs beforehand is not counted. Tools that run in
process share an interpreter with the libraries of all of them, so their megabytes have a common floor.
"""
_ABLATION = """
A pattern is switched off; silence and lag tell nothing; the library has no entries (and no signature lets a line pass
as an indicator); records have no times, so only their places in the files order them.
"""
_SCALED = """
Made from real runs by multiplying ranks, noise, skewed clocks and damaged files; easier in what varies, harder in size.
They are in no other table.
"""
_METHOD = f"""
- *Events.* All raw records of a job (a line with what hangs on it) are grouped once, by the template of the line that
  names them, and every tool is scored on these same events. An event is failure-indicating where at least half of its
  records are labelled initiating, cascade or teardown. Where at least half are labelled but mostly as context, it is
  left out: naming it is neither right nor wrong. A tool reports an event by flagging any line of it, whatever role it
  gives it. F1 is over the events of all jobs together, unless it says mean of jobs.
- *Places.* The guilty are those whom the logs can prove, not those to whom something was done. Jobs on which blaming
  nobody is accepted as well are left out of the rankings, and count in blame.
- *Cause, action, stage.* Any of those that the truth accepts.
- *Intervals.* Wilson's for shares, as if jobs were independent; beside it a bootstrap that draws whole kinds of fault.
- *Broken answers.* Where a tool breaks or runs out of time, every column that it fills on other jobs counts as wrong.
- Tools are compared by {", ".join(COMPARED.values())} in the first picture.
"""
