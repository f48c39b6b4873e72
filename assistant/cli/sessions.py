"""`rootrank sessions`: what was asked and answered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.cli.output import pipe, print_json, print_table
from assistant.cli.settings import configured

if TYPE_CHECKING:
    from assistant.answers.sessions import Session, SessionStore

app = typer.Typer(help="Look at, export and remove conversations.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="SESSION", help="An id, a unique beginning of one, or `last`.")]


@app.command("list")
def list_(json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False) -> int:
    """The stored sessions, newest first."""
    store = _store()
    found = list(store.sessions())
    for error in store.unreadable():
        narration.say(f"warning: left out: {error.message}; {error.hint}")
    if json:
        print_json([{**one.header.model_dump(mode="json"), "turns": len(one.turns)} for one in found])
    elif found:
        rows = [
            (one.header.session, one.header.created[:16].replace("T", " "), one.header.case, one.header.answerer,
             str(len(one.turns)), _first(one))
            for one in found
        ]  # fmt: skip
        print_table(("SESSION", "BEGUN (UTC)", "CASE", "ANSWERED BY", "TURNS", "FIRST QUESTION"), rows)
    else:
        narration.say("no session is stored yet: rootrank explain LOGS")
    return ExitCode.OK


@app.command()
def show(name: Name) -> int:
    """Questions and answers of a session, as they stood in the end."""
    session = _store().load(name)
    with pipe():
        sys.stdout.write(_text(session))
    if session.cut:
        narration.say("note: the last line of the session was half written and is left out")
    return ExitCode.OK


@app.command()
def export(
    name: Name,
    markdown: Annotated[bool, typer.Option("--markdown", help="Questions and answers only.")] = False,
    mask: Annotated[bool, typer.Option("--mask", help="Mask secrets, addresses and names.")] = False,
) -> int:
    """Prints a session as JSON lines, every event of it, or as Markdown."""
    session = _store().load(name)
    text = _text(session) if markdown else _lines(session)
    with pipe():
        sys.stdout.write(_masked(session, text) if mask else text)
    return ExitCode.OK


@app.command()
def remove(names: Annotated[list[str], typer.Argument(metavar="SESSION")]) -> int:
    """Removes sessions."""
    store = _store()
    for name in names:
        store.remove(name)
    return ExitCode.OK


def _store() -> SessionStore:
    from assistant.cli.conversing import session_store

    return session_store(configured())


def _first(session: Session) -> str:
    turns = session.turns
    return " ".join(turns[0].question.text.split())[:80] if turns else ""


def _text(session: Session) -> str:
    from assistant.answers.sessions import Asked
    from assistant.cli.answers import safe

    asked = [line for line in session.lines if isinstance(line, Asked)]
    parts = [f"## {safe(line.question.text)}\n\n{safe(session.text(line.turn)).rstrip()}\n" for line in asked]
    head = session.header
    return f"# {head.session}: {head.case}, revision {head.revision}, answered by {head.answerer}\n\n" + "\n".join(
        parts
    )


def _lines(session: Session) -> str:
    from assistant.report.json import line

    return "".join(f"{line(one.model_dump(mode='json'))}\n" for one in (session.header, *session.lines))


def _masked(session: Session, text: str) -> str:
    """Masked with the node names of the case, where that is still stored."""
    from assistant.agent.veil import redactor_for
    from assistant.cli.settings import case_store
    from assistant.errors import StoreError, UnknownCase

    try:
        case = case_store(configured()).load(session.header.case).case
    except (UnknownCase, StoreError):
        narration.say("warning: the case is gone, so node names are masked only where a rule knows them")
        from assistant.privacy.redactor import Redactor
        from assistant.privacy.rules import load_rules

        return Redactor(load_rules()).redact(text)
    from assistant.privacy.rules import Kind

    return redactor_for(case, [kind.value for kind in Kind]).redact(text)
