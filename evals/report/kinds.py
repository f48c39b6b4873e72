"""By kind of fault. Misses are named on the tuning half only: the reporting half is never looked at job by job."""

from __future__ import annotations

from collections.abc import Sequence

from evals.jobset import Half
from evals.report.tables import NOTHING, percent, table
from evals.scorers.board import Board, Scored, in_half

SHOWN = ("status", "cause", "blame", "rank@1", "iteration_near", "stage", "action")
TITLES = ("status", "cause", "blame", "rank first", "iteration within 1", "stage", "action")


def by_kind(board: Board, half: Half) -> list[str]:
    """For each kind of one half: jobs right of jobs asked, column by column."""
    chosen = board.of(in_half(half))
    kinds = sorted({str(each.kind) for each in chosen.scored})
    rows = []
    for kind in kinds:
        own = chosen.of(lambda job, kind=kind: job.truth.kind == kind)  # type: ignore[misc]
        rows.append([kind, str(len(own.scored)), *(_count(own, column) for column in SHOWN), _events(own)])
    return table(["kind", "jobs", *TITLES, "events F1"], rows)


def _count(board: Board, column: str) -> str:
    found = board.share(column)
    return f"{found.right}/{found.n}" if found.n else NOTHING


def _events(board: Board) -> str:
    return percent(board.cell("events_f1").value)


def misses(board: Board) -> list[str]:
    """What is wrong with the answers on the tuning half, a line a job."""
    chosen = board.of(lambda job: not job.scaled and job.half is not Half.REPORT)
    lines = [
        f"- {each.job.name} ({each.kind}): {'; '.join(each.marks.wrong)}" for each in chosen.scored if each.marks.wrong
    ]
    return [*(lines or ["None."]), ""]


def event_misses(scored: Sequence[Scored]) -> list[str]:
    """Events missed or made up on jobs of the tuning half, the commonest templates first."""
    counts: dict[tuple[str, str], list[str]] = {}
    for each in scored:
        if each.job.half is Half.REPORT:
            continue
        for what, names in (("missed", each.events.missed), ("false", each.events.false)):
            for name in names:
                counts.setdefault((what, name), []).append(each.job.name)
    ranked = sorted(counts.items(), key=lambda item: (-len(item[1]), item[0]))
    return [f"{len(jobs):4} {what:6} {name[:140]}   ({', '.join(jobs[:3])})" for (what, name), jobs in ranked]
