"""`rootrank baseline`: event statistics of healthy runs, to compare a failed job with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import narration
from assistant.cli.diagnose import Bar
from assistant.cli.exit_codes import ExitCode
from assistant.cli.output import print_json, print_table
from assistant.cli.progress import progress_bar
from assistant.cli.request import Request, options
from assistant.cli.settings import configured
from assistant.errors import NotHealthy

if TYPE_CHECKING:
    from assistant.baselines.store import BaselineStore
    from assistant.config import Settings
    from assistant.events.models import Scan
    from assistant.intake.models import ProgressHook

app = typer.Typer(help="Keep statistics of healthy runs.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the family of runs.")]


@app.command()
def add(
    name: Name,
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Each a healthy run, or a folder of such runs.")],
    force: Annotated[bool, typer.Option("--force", help="Take a run although it did not end well.")] = False,
    progress: Bar = True,
) -> int:
    """Adds healthy runs to a baseline; refuses a run that did not end well."""
    from assistant.case.text import plural

    settings = configured()
    store = _store(settings)
    refused: list[NotHealthy] = []
    for run in _runs(paths):
        with progress_bar(progress) as hook:
            scan, status = _read(Request(run), settings, hook)
        try:
            added = store.add(name, scan, status, force=force)
        except NotHealthy as error:
            refused.append(NotHealthy(f"{run[0]}: {error.message}", hint=error.hint))
            continue
        again = "" if added.new else " (it held this one already)"
        narration.say(f"{name}: {plural(len(added.baseline.runs), 'healthy run')}, with {run[0]}{again}")
    for earlier in refused[:-1]:
        narration.say(f"error: {earlier.message}")
    if refused:
        raise refused[-1]
    return ExitCode.OK


def _runs(paths: list[str]) -> list[tuple[str, ...]]:
    """The files of each run, as `--baseline FOLDER` would tell them apart."""
    from assistant.baselines.folders import runs_in

    return [tuple(map(str, run)) for path in paths for run in runs_in(Path(path))]


@app.command("list")
def list_(json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False) -> int:
    """The stored baselines."""
    baselines, damaged = _store(configured()).load_all()
    for message in damaged:
        narration.say(f"warning: {message}")
    rows = [(item.name, len(item.runs), len(item.templates), ", ".join(item.frameworks[:3])) for item in baselines]
    if json:
        print_json([dict(zip(("name", "runs", "templates", "frameworks"), row, strict=True)) for row in rows])
    elif rows:
        print_table(("NAME", "RUNS", "TEMPLATES", "FRAMEWORKS"), [tuple(map(str, row)) for row in rows])
    else:
        narration.say("no baseline is stored yet; add one: rootrank baseline add NAME LOGS")
    return ExitCode.OK


@app.command()
def show(
    name: Name,
    json: Annotated[bool, typer.Option("--json", help="Print all statistics as JSON.")] = False,
    limit: Annotated[int, typer.Option("-n", "--limit", min=0, help="Templates to show; 0 is all.")] = 20,
) -> int:
    """The runs of a baseline and the events they share."""
    from dataclasses import asdict

    baseline = _store(configured()).load(name)
    if json:
        print_json(asdict(baseline))
        return ExitCode.OK
    runs = [(run.source, str(run.lines), str(run.world_size or ""), str(run.iterations)) for run in baseline.runs]
    print_table(("RUN", "LINES", "RANKS", "ITERATIONS"), runs)
    common = sorted(baseline.templates.values(), key=lambda item: (-item.runs, -item.count, item.text))
    print_table(
        ("RUNS", "LINES A WRITER", "TEMPLATE"),
        [(str(item.runs), f"{item.per_writer.typical:.1f}", item.text) for item in common[: limit or None]],
    )
    return ExitCode.OK


@app.command()
def remove(names: Annotated[list[str], typer.Argument(metavar="NAME")]) -> int:
    """Removes baselines."""
    store = _store(configured())
    for name in names:
        store.remove(name)
    return ExitCode.OK


def _store(settings: Settings) -> BaselineStore:
    from assistant.baselines.store import BaselineStore
    from assistant.case.store import data_dir

    return BaselineStore(data_dir(settings.storage.data_dir))


def _read(request: Request, settings: Settings, hook: ProgressHook | None) -> tuple[Scan, str]:
    """What a run wrote, and how it ended."""
    from assistant import pipeline
    from assistant.diagnosis.conclude import conclude

    reading = pipeline.read(request.paths, options(request, settings, hook))
    findings = pipeline.compare(reading, None, "not compared", frozenset({"cross_job"}))
    case = conclude(findings, name=pipeline.case_name(reading), seconds=0.0)
    return reading.scan, case.status.value
