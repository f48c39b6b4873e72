"""`rootrank diagnose`: from a failed job's logs to a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode, of_case
from assistant.cli.incidents import recall
from assistant.cli.output import emit, form_of
from assistant.cli.request import Request, run
from assistant.cli.settings import case_store, configured, group_sizes, pattern_names
from assistant.errors import StoreError, UsageError

if TYPE_CHECKING:
    from assistant.case.models import Case
    from assistant.config import Settings

Json = Annotated[bool, typer.Option("--json", help="Print the case as JSON (docs/schema/case-1.json).")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the case as Markdown.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Show everything, not only what fits one screen.")]
Target = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the report there.")]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="End with 0 whatever the verdict; errors keep their code.")]
Bar = Annotated[bool, typer.Option("--progress/--no-progress", help="Show how far a long read is, on a terminal.")]
Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="Files, folders, archives or globs of one job; - is standard input."),
]
Baseline = Annotated[
    str | None,
    typer.Option(metavar="NAME|FOLDER", help="Healthy runs to compare with; else the most similar stored ones."),
]
Without = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help="Leave a comparison out: cross-job, spatial or temporal.")
]
Topology = Annotated[str | None, typer.Option(metavar="FILE|tp=..", help="Sizes of the parallel groups, as tp=8,pp=4.")]


def diagnose(
    paths: Paths,
    json: Json = False,
    markdown: Markdown = False,
    verbose: Verbose = False,
    baseline: Baseline = None,
    without: Without = None,
    job: Annotated[str | None, typer.Option(metavar="ID", help="Which job, where a folder holds several.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Leave out what was written before.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Leave out what was written after.")] = None,
    topology: Topology = None,
    no_save: Annotated[bool, typer.Option("--no-save", help="Do not keep the case.")] = False,
    exit_zero: ExitZero = False,
    threads: Annotated[int | None, typer.Option(min=1, max=1024, metavar="N", help="Worker threads.")] = None,
    progress: Bar = True,
    output: Target = None,
) -> int:
    """Says which rank or node of a job failed first, why, and what to do now."""
    form = form_of(json, markdown)
    for name, given in (("PATH", paths), ("--baseline", [baseline]), ("--job", [job])):
        if "" in given:
            raise UsageError(f"{name} is empty", hint="perhaps a variable in your command line is not set")
    settings = configured(
        diagnose__threads=("--threads", threads) if threads else None,
        diagnose__without=("--without", pattern_names(without)) if without else None,
        cases__save=("--no-save", False) if no_save else None,
    )
    sizes = group_sizes(topology) or {}
    request = Request(tuple(paths), baseline, settings.diagnose.without, job, since, until, sizes)
    case = run(request, settings, bar=progress)
    emit(case, form, verbose=verbose, colour=settings.output.color, target=output)
    recall(case, settings)
    if settings.cases.save:
        keep(case, request, settings)
    return ExitCode.OK if exit_zero else of_case(case)


def keep(case: Case, request: Request, settings: Settings) -> str:
    """Stores the case and removes those past their time. A verdict is not lost over a folder that cannot be written.

    Returns why the case is not kept; nothing where it is.
    """
    store = case_store(settings)
    try:
        store.save(case, request.inputs())
        if settings.cases.retention_days:
            store.prune(settings.cases.retention_days)
    except StoreError as error:
        narration.say(f"warning: the case is not kept: {error.message}; {error.hint}, or give --no-save")
        return error.message
    narration.remark(f"kept as {case.case}; all of it: rootrank cases show {case.case} -v")
    return ""
