"""The plots of the report, each by the name of its file."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.case.vocabulary import Confidence
from evals.jobset import Half
from evals.report import svg
from evals.scorers.board import Board, in_half, of_size

COMPARED = {
    "rank@1": "guilty rank first",
    "node@1": "guilty node first",
    "no_blame": "nobody blamed rightly",
    "cause": "cause class",
    "events_f1": "events, F1",
}
"""What tools are compared by."""
TARGETS = {Confidence.HIGH: 0.95, Confidence.MEDIUM: 0.75, Confidence.LOW: None}
"""The share that must be right for the word to be honest."""


def plots(boards: Sequence[Board], ablated: Sequence[Board]) -> dict[str, str]:
    """File name to SVG text."""
    report = [board.of(in_half(Half.REPORT)) for board in boards]
    made = {
        "tools.svg": _compared("Real jobs, reporting half (95 % intervals)", report),
        "calibration.svg": _calibration(boards[0].of(lambda job: not job.scaled)),
    }
    if ablated:
        parts = [board.of(in_half(Half.REPORT)) for board in ablated]
        made["ablation.svg"] = _compared("One part taken out at a time, reporting half", parts)
    if any(each.job.scaled for each in boards[0].scored):
        made["scale.svg"] = _scale(boards[0])
    return made


def point(board: Board, column: str) -> svg.Point:
    """A figure as a point."""
    cell = board.cell(column)
    return svg.Point(cell.value, cell.wilson or cell.clusters if cell.value is not None else None)


def _compared(title: str, boards: Sequence[Board]) -> str:
    series = [svg.Series(board.tool, tuple(point(board, column) for column in COMPARED)) for board in boards]
    return svg.bars(title, tuple(COMPARED.values()), series, note="-: the tool cannot say this.")


def _calibration(board: Board) -> str:
    shares = [board.confident(level) for level in Confidence]
    groups = [f"{level.value} (n {found.n})" for level, found in zip(Confidence, shares, strict=True)]
    points = [svg.Point(found.value, found.wilson if found.n else None) for found in shares]
    title = "Verdicts that are right, by the confidence they claim (orange: what the word promises)"
    return svg.columns(title, groups, points, list(TARGETS.values()))


def sizes(board: Board) -> list[int]:
    """World sizes of the scaled replicas."""
    return sorted({each.job.truth.world_size for each in board.scored if each.job.scaled})


def _scale(board: Board) -> str:
    ranks = sizes(board)
    groups = [f"{size:,} ranks" for size in ranks]
    points = [point(board.of(of_size(size)), "rank@1") for size in ranks]
    return svg.columns("Guilty rank first, scaled replicas", groups, points, [None] * len(ranks))
