"""`rootrank learn`: signatures from confirmed incidents. Nothing enters the library unless a person approves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.cli.incidents import By, incident_folder, incident_store, user
from assistant.cli.output import pipe, print_table
from assistant.cli.settings import case_store, configured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assistant.config import Settings
    from assistant.incidents.learning import Learning
    from assistant.incidents.proposals import Experience, Proposal

app = typer.Typer(help="Signatures learned from confirmed incidents.", no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="PROPOSAL", help="As `learn propose` prints it.")]


@app.command()
def propose(
    name: Annotated[str, typer.Argument(metavar="CASE", help="A case that was confirmed or corrected.")],
    by: By = "",
) -> int:
    """Proposes a signature, and shows what it matches and would have matched."""
    from assistant.faults.library import load_library
    from assistant.incidents.proposals import propose as proposed

    settings = configured()
    store = case_store(settings)
    case = store.load(name).case
    incident = incident_store(settings).get(f"i-{case.case.removeprefix('c-')}")
    found = proposed(incident, case, load_library(strict=False), experience(settings))
    learning(settings).propose(found, by or user())
    show(found)
    narration.say(f"nothing is changed yet; take it with: rootrank learn approve {found.id}")
    return ExitCode.OK


@app.command()
def approve(name: Id, by: By = "") -> int:
    """Takes a proposed signature into the library."""
    settings = configured()
    learned = learning(settings)
    proposal = learned.known(name).proposal
    fault = learned.approve(name, incident_store(settings).get(proposal.incident), by or user())
    narration.say(f"{fault.id} is in {learned.faults / 'learned.yaml'}; undo: rootrank learn withdraw {fault.id}")
    return ExitCode.OK


@app.command()
def withdraw(name: Id, by: By = "") -> int:
    """Takes a learned signature out of the library again."""
    learning(configured()).withdraw(name, by or user())
    narration.say(f"{name} is withdrawn")
    return ExitCode.OK


@app.command("list")
def list_() -> int:
    """Every proposal with where it stands."""
    state = learning(configured()).state()
    if not state:
        narration.say("nothing is proposed yet: rootrank learn propose CASE")
        return ExitCode.OK
    rows = [(name, entry.move, entry.at[:16], entry.by, entry.proposal.title) for name, entry in state.items()]
    print_table(("PROPOSAL", "STATE", "SINCE (UTC)", "BY", "TITLE"), rows)
    return ExitCode.OK


@app.command()
def log() -> int:
    """Every step that was ever taken, oldest first, as JSON lines."""
    with pipe():
        for entry in learning(configured()).log():
            print(entry.model_dump_json())
    return ExitCode.OK


def show(proposal: Proposal) -> None:
    """A proposal with its trial."""
    trial = proposal.trial
    parts = [("expression", proposal.regexes), ("matches in its case", trial.own)]
    parts += [("would have matched in healthy runs", trial.healthy or ("nothing",))]
    parts += [("would have matched in past cases", trial.past or ("nothing",)), ("known already as", trial.known)]
    from assistant.case.text import clean

    with pipe():
        print(f"{proposal.id}  {clean(proposal.title)}\ncause: {proposal.cause}")
        for title, lines in parts:
            if lines:
                print("\n".join([f"{title}:", *(f"  {clean(line)[:300]}" for line in lines)]))


def learning(settings: Settings) -> Learning:
    """The log and the library file of what was learned."""
    from assistant.incidents.learning import Learning
    from assistant.paths import user_folder

    return Learning(incident_folder(settings), user_folder() / "knowledge" / "faults")


def experience(settings: Settings) -> Experience:
    """Everything that is stored: healthy runs as baselines, the bundled healthy logs, past cases."""
    from assistant.baselines.store import BaselineStore
    from assistant.case.store import data_dir
    from assistant.incidents.proposals import Experience

    baselines, damaged = BaselineStore(data_dir(settings.storage.data_dir)).load_all()
    for line in damaged:
        narration.say(f"warning: {line}")
    templates = [(baseline.name, stats.text) for baseline in baselines for stats in baseline.templates.values()]
    store = case_store(settings)
    return Experience(templates, list(_bundled()), [store.load(name).case for name in store.ids()])


def _bundled() -> Iterator[tuple[str, str]]:
    from assistant.faults.check import bundled_healthy

    for place in bundled_healthy():
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                for line in path.read_text("utf-8", "replace").splitlines():
                    yield path.name, line
