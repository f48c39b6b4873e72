"""The `rootrank` command: which commands there are, and what happens when one ends."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from assistant import __version__
from assistant.cli import baseline, cases, config, incidents, knowledge, learn, model, narration, sessions
from assistant.cli.chat import chat
from assistant.cli.chat_help import ChatCommand
from assistant.cli.demo import demo
from assistant.cli.diagnose import diagnose
from assistant.cli.doctor import doctor
from assistant.cli.exit_codes import ExitCode
from assistant.cli.explain import explain
from assistant.cli.replay_server import replay_server
from assistant.cli.search import search

app = typer.Typer(
    help="Says which rank of a distributed training job broke first, why, and what to do now.",
    epilog="Exit codes: 0 nothing failed, 10 failure diagnosed, 11 cause not determined, 12 incomplete.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
app.command("diagnose")(diagnose)
app.command("explain")(explain)
app.command("chat", cls=ChatCommand)(chat)
app.command("demo")(demo)
app.command("search")(search)
app.command("doctor")(doctor)
app.command("replay-server")(replay_server)
app.command("confirm")(incidents.confirm)
app.command("correct")(incidents.correct)
app.add_typer(cases.app, name="cases")
app.add_typer(sessions.app, name="sessions")
app.add_typer(baseline.app, name="baseline")
app.add_typer(incidents.app, name="incidents")
app.add_typer(learn.app, name="learn")
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(model.app, name="model")
app.add_typer(config.app, name="config")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rootrank {__version__}")
        raise typer.Exit(ExitCode.OK)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of every command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; nothing is ever raised."""
    _fill_closed_streams()
    _tolerate_any_text()
    try:
        code = int(app(args=arguments, prog_name="rootrank", standalone_mode=False) or ExitCode.OK)
        return narration.explain(KeyboardInterrupt()) if code == ExitCode.INTERRUPTED else code
    except BrokenPipeError:
        return ExitCode.OK
    except (Exception, KeyboardInterrupt) as error:
        return narration.explain(error)


def _fill_closed_streams() -> None:
    """Streams that the caller closed lead nowhere: else a file opened later would get their number and our words.

    Standard input stays None, which is how its reader knows that there is none.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def _tolerate_any_text() -> None:
    """A character that the terminal's encoding lacks is spelled out instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
