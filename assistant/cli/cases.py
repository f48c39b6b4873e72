"""`rootrank cases`: what earlier runs found."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from assistant.cli import narration
from assistant.cli.diagnose import Bar, ExitZero, Json, Markdown, Target, Verbose
from assistant.cli.exit_codes import ExitCode, of_case
from assistant.cli.output import emit, form_of, pipe, print_json, print_table
from assistant.cli.request import again, run
from assistant.cli.settings import case_store, configured
from assistant.errors import UsageError

app = typer.Typer(help="Look at, extend and remove stored cases.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="CASE", help="An id, a unique beginning of one, or `last`.")]


@app.command("list")
def list_(
    json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
    limit: Annotated[int, typer.Option("-n", "--limit", min=0, help="At most so many; 0 is all.")] = 20,
) -> int:
    """The stored cases, newest first."""
    found = list(case_store(configured()).summaries())
    shown = found[: limit or None]
    if json:
        print_json([asdict(summary) for summary in shown])
        return ExitCode.OK
    if not found:
        narration.say("no case is stored yet")
        return ExitCode.OK
    rows = [
        (item.id, item.saved[:16].replace("T", " "), item.status, item.cause, item.who, _source(item.paths))
        for item in shown
    ]
    print_table(("CASE", "SAVED (UTC)", "STATUS", "CAUSE", "WHO", "LOGS"), rows)
    if len(shown) < len(found):
        narration.say(f"{len(found) - len(shown)} more: rootrank cases list -n 0")
    return ExitCode.OK


@app.command()
def show(
    name: Name,
    revision: Annotated[int | None, typer.Option(min=1, metavar="N", help="An earlier revision.")] = None,
    json: Json = False,
    markdown: Markdown = False,
    verbose: Verbose = False,
    output: Target = None,
) -> int:
    """Opens a case again, also where its logs are gone."""
    form = form_of(json, markdown)
    settings = configured()
    stored = case_store(settings).load(name, revision)
    emit(stored.case, form, verbose=verbose, colour=settings.output.color, target=output)
    return ExitCode.OK


@app.command("add-files")
def add_files(
    name: Name,
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="What was missing.")],
    json: Json = False,
    markdown: Markdown = False,
    verbose: Verbose = False,
    output: Target = None,
    exit_zero: ExitZero = False,
    progress: Bar = True,
) -> int:
    """Diagnoses a case again with further files and stores the result as its next revision."""
    form = form_of(json, markdown)
    settings = configured()
    store = case_store(settings)
    before = store.load(name)
    request = again(before.inputs, files)
    found = run(request, settings, bar=progress)
    later = found.model_copy(update={"case": before.case.case, "revision": before.case.revision + 1})
    case = store.add(later, request.inputs())
    emit(case, form, verbose=verbose, colour=settings.output.color, target=output)
    narration.remark(f"stored as revision {case.revision} of {case.case}")
    return ExitCode.OK if exit_zero else of_case(case)


@app.command()
def prune(
    older_than: Annotated[float | None, typer.Option(min=0, metavar="DAYS", help="Else cases.retention_days.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
) -> int:
    """Removes cases past their time; prints their ids."""
    settings = configured()
    days = settings.cases.retention_days if older_than is None else older_than
    if older_than is None and not days:
        raise UsageError("cases.retention_days is 0: cases are kept for ever", hint="give --older-than DAYS")
    removed = case_store(settings).prune(days, dry_run=dry_run)
    with pipe():
        for case_id in removed:
            print(case_id)
    narration.remark(f"{len(removed)} {'would be ' if dry_run else ''}removed")
    return ExitCode.OK


@app.command()
def remove(names: Annotated[list[str], typer.Argument(metavar="CASE")]) -> int:
    """Removes cases with all their revisions."""
    store = case_store(configured())
    for case_id in dict.fromkeys(store.resolve(name) for name in names):
        store.remove(case_id)
    return ExitCode.OK


def _source(paths: tuple[str, ...]) -> str:
    return f"{paths[0]} +{len(paths) - 1}" if len(paths) > 1 else "".join(paths)
