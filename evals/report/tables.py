"""Figures as Markdown. "-" is what a tool cannot say, or what no job asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evals.scorers.board import EVENT_FIGURES, SHARES, Board, Cell
from evals.scorers.intervals import Interval

NOTHING = "-"
COLUMNS = {**SHARES, **EVENT_FIGURES}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table; the first column is text, the others are figures."""
    lines = ["| " + " | ".join(map(_escaped, heads)) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    return [*lines, *("| " + " | ".join(map(_escaped, row)) + " |" for row in rows), ""]


def _escaped(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def percent(value: float | None) -> str:
    """With one digit behind the point."""
    return NOTHING if value is None else f"{100 * value:.1f} %"


def span(interval: Interval | None) -> str:
    """An interval in per cent."""
    return NOTHING if interval is None else f"{100 * interval[0]:.0f} to {100 * interval[1]:.0f}"


def short(cell: Cell) -> str:
    """A figure, its Wilson interval (over kinds where there is none) and its size."""
    if cell.value is None:
        return NOTHING
    interval = cell.wilson or cell.clusters
    return f"{percent(cell.value)}<br>{span(interval)}<br>n {cell.n}"


def full(board: Board) -> list[str]:
    """One tool: every column with both intervals."""
    rows = []
    for column, title in COLUMNS.items():
        cell = board.cell(column)
        rows.append(
            [title, percent(cell.value), str(cell.n) if cell.n else NOTHING, span(cell.wilson), span(cell.clusters)]
        )
    return table(["", "measured", "n", "95 % Wilson", "95 % over kinds"], rows)


def side_by_side(boards: Sequence[Board], columns: Iterable[str]) -> list[str]:
    """Tools beside each other."""
    rows = [[COLUMNS[column], *(short(board.cell(column)) for board in boards)] for column in columns]
    return table(["", *(board.tool for board in boards)], rows)


def costs(boards: Sequence[Board]) -> list[str]:
    """Seconds and megabytes."""
    rows = []
    for board in boards:
        seconds, size = board.seconds, board.megabytes
        rows.append(
            [
                board.tool,
                str(len(board.scored)),
                f"{seconds[0]:.2f}" if seconds else NOTHING,
                f"{seconds[1]:.0f}" if seconds else NOTHING,
                f"{size[0]:.0f}" if size else NOTHING,
                f"{size[1]:.0f}" if size else NOTHING,
                str(board.broken),
            ]
        )
    heads = ["", "jobs", "seconds, median", "seconds, total", "MB, median peak", "MB, highest peak", "no answer"]
    return table(heads, rows)


def differences(whole: Board, others: Sequence[Board], columns: Iterable[str]) -> list[str]:
    """What is lost, in points, when a part is taken out."""
    chosen = [column for column in columns if whole.cell(column).value is not None]
    rows = [[whole.tool, *(percent(whole.cell(column).value) for column in chosen)]]
    for board in others:
        rows.append([board.tool, *(_points(board.cell(column), whole.cell(column)) for column in chosen)])
    rows.append(["n", *(str(whole.cell(column).n) for column in chosen)])
    return table(["", *(COLUMNS[column] for column in chosen)], rows)


def _points(cell: Cell, whole: Cell) -> str:
    if cell.value is None or whole.value is None:
        return NOTHING
    return f"{100 * (cell.value - whole.value):+.1f}"
