"""`rootrank confirm`, `correct` and `incidents`: a team's memory of what failures turned out to be."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.cli.output import pipe, print_json, print_table
from assistant.cli.settings import case_store, configured
from assistant.errors import InputError, UsageError

if TYPE_CHECKING:
    from assistant.case.models import Case
    from assistant.config import Settings
    from assistant.incidents.confirm import Ruling
    from assistant.incidents.models import Incident
    from assistant.incidents.store import IncidentStore

app = typer.Typer(help="The team's confirmed incidents.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="CASE", help="A case's id, a unique beginning of one, or `last`.")]
Node = Annotated[list[str] | None, typer.Option("--node", help="Node that was to blame; may be repeated.")]
Rank = Annotated[list[int] | None, typer.Option("--rank", min=0, help="Rank that was to blame; may be repeated.")]
Nobody = Annotated[bool, typer.Option("--nobody", help="Nobody was to blame.")]
Fix = Annotated[str, typer.Option(help="What fixed it.")]
Note = Annotated[str, typer.Option(help="What it really was, in your words.")]
By = Annotated[str, typer.Option(help="Who says so; else your user name.")]


def confirm(
    name: Name,
    cause: Annotated[
        str | None, typer.Option(metavar="LAYER.CLASS", help="The cause, if the case has it wrong.")
    ] = None,
    node: Node = None,
    rank: Rank = None,
    nobody: Nobody = False,
    fix: Fix = "",
    note: Note = "",
    by: By = "",
) -> int:
    """Confirms what a case found: it becomes an incident that is recognised when it comes back."""
    return _rule(name, _ruling(cause, node, rank, nobody, fix, note, by))


def correct(
    name: Name,
    cause: Annotated[str, typer.Option(metavar="LAYER.CLASS", help="What the cause really was.")],
    node: Node = None,
    rank: Rank = None,
    nobody: Nobody = False,
    fix: Fix = "",
    note: Note = "",
    by: By = "",
) -> int:
    """Says what the cause of a case really was; the incident is stored with that."""
    return _rule(name, _ruling(cause, node, rank, nobody, fix, note, by))


def _ruling(
    cause: str | None, nodes: list[str] | None, ranks: list[int] | None, nobody: bool, fix: str, note: str, by: str
) -> Ruling:
    from assistant.incidents.confirm import Ruling

    if nobody and (nodes or ranks):
        raise UsageError("--nobody and --node or --rank contradict each other", hint="leave one of them out")
    return Ruling(cause, tuple(nodes or ()), tuple(ranks or ()), nobody, fix, note, by or user())


def _rule(name: str, ruling: Ruling) -> int:
    from assistant.incidents.confirm import incident_of

    settings = configured()
    case = case_store(settings).load(name).case
    _warn_of_strangers(case, ruling)
    stored = incident_store(settings).add(incident_of(case, ruling))
    with pipe():
        print(stored.id)
    revised = f", revision {stored.revision}" if stored.revision > 1 else ""
    narration.say(f"stored as {stored.id}{revised}: {stored.cause}; a signature: rootrank learn propose {case.case}")
    return ExitCode.OK


def _warn_of_strangers(case: Case, ruling: Ruling) -> None:
    """A misspelt node would never be recognised again."""
    known = {report.node for report in case.nodes}
    for node in ruling.nodes:
        if known and node not in known:
            narration.say(f"warning: the case has no node {node}; it has {', '.join(sorted(known)[:8])}")


@app.command("list")
def list_(json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False) -> int:
    """The confirmed incidents, newest first."""
    found = team(configured())
    found.sort(key=lambda incident: (incident.date or "", incident.id), reverse=True)
    if json:
        print_json([incident.model_dump(mode="json") for incident in found])
    elif found:
        rows = [(one.id, one.date or "", one.cause, one.suspect or "", one.fix or one.note) for one in found]
        print_table(("INCIDENT", "DATE", "CAUSE", "WHO", "FIX"), rows)
    else:
        narration.say("no incident is confirmed yet: rootrank confirm CASE")
    return ExitCode.OK


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="INCIDENT")],
    history: Annotated[bool, typer.Option("--history", help="Every revision, oldest first.")] = False,
) -> int:
    """One incident as JSON."""
    store = incident_store(configured())
    newest = store.get(name)
    found = store.history(name) if history else [newest]
    print_json(
        [incident.model_dump(mode="json") for incident in found] if history else found[0].model_dump(mode="json")
    )
    return ExitCode.OK


@app.command()
def export(
    hide_hosts: Annotated[bool, typer.Option("--hide-hosts", help="Mask node names, users and addresses too.")] = False,
) -> int:
    """Prints the incidents as JSON lines, secrets and e-mail addresses masked."""
    from assistant.incidents.exchange import exported

    found = team(configured())
    with pipe():
        for line in exported(found, hosts=hide_hosts):
            print(line)
    return ExitCode.OK


@app.command("import")
def import_(file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines; - is standard input.")]) -> int:
    """Takes the incidents of an export; what is known already is left alone."""
    from assistant.incidents.exchange import imported

    incidents, problems = imported(_lines(file), file)
    for problem in problems:
        narration.say(f"warning: {problem.message}; {problem.hint}")
    merged = incident_store(configured()).merge(incidents)
    narration.say(f"{len(merged.added)} added, {len(merged.revised)} revised, {merged.known} known already")
    return ExitCode.PROBLEMS if problems else ExitCode.OK


def _lines(file: str) -> list[str]:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8", "replace")
    except OSError as error:
        raise InputError(f"{file}: {(error.strerror or str(error)).lower()}", hint="give a file of an export") from None
    return text.splitlines()


def incident_store(settings: Settings) -> IncidentStore:
    """The store that the settings name."""
    from assistant.incidents.store import IncidentStore

    return IncidentStore(incident_folder(settings))


def incident_folder(settings: Settings) -> Path:
    """Where incidents and the log of learning lie."""
    from assistant.case.store import data_dir

    return settings.incidents.folder or data_dir(settings.storage.data_dir) / "incidents"


def team(settings: Settings) -> list[Incident]:
    """The team's incidents for the search; what cannot be read is told and left out."""
    found, damaged = incident_store(settings).all()
    for line in damaged:
        narration.say(f"warning: {line}")
    return found


def user() -> str:
    """The name under which a person's rulings are kept."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def recall(case: Case, settings: Settings) -> None:
    """Says on standard error whether the team has seen a failure like this. A verdict is never lost over it."""
    from assistant.errors import RootrankError

    if not settings.incidents.recall or not incident_folder(settings).is_dir():
        return
    from assistant.incidents.recurrence import recurrences, told

    try:
        found, damaged = incident_store(settings).all()
        lines = told(case, recurrences(case, found))
    except RootrankError as error:
        damaged, lines = [error.message], []
    for line in lines:
        narration.say(f"seen before: {line}")
    for line in damaged:
        narration.say(f"warning: {line}")
