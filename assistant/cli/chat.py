"""`rootrank chat`: the terminal workplace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.exit_codes import ExitCode
from assistant.cli.foresight import case_of_session, foresee
from assistant.cli.request import STDIN
from assistant.cli.settings import configured
from assistant.cli.terminal import ended, take_terminal
from assistant.errors import NotInstalled, UsageError

if TYPE_CHECKING:
    from assistant.answers.sessions import Session
    from assistant.cli.workshop import CommandWorkshop
    from assistant.config import Settings

Targets = Annotated[
    list[str] | None,
    typer.Argument(metavar="LOGS|CASE", help="Logs of one job, - from a pipe; or a stored case (an id, or `last`)."),
]
SessionName = Annotated[str | None, typer.Option("--session", metavar="ID", help="Go on with a session (or `last`).")]
ProfileName = Annotated[str | None, typer.Option("--profile", metavar="NAME", help="Model profile, or offline.")]
Attach = Annotated[list[str] | None, typer.Option(metavar="FILE", help="Add a file to the case; may be repeated.")]
Job = Annotated[str | None, typer.Option(metavar="ID", help="Which job, where a folder holds several.")]


def chat(
    targets: Targets = None,
    session: SessionName = None,
    profile: ProfileName = None,
    attach: Attach = None,
    job: Job = None,
    no_save: Annotated[bool, typer.Option("--no-save", help="Keep neither case nor session.")] = False,
    browser: Annotated[bool, typer.Option("--serve", help="Show it in a browser of this machine.")] = False,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="With --serve: the port; else a free one.")] = None,
) -> int:
    """Opens a workplace in the terminal: the verdict, its evidence, and a conversation about it."""
    if port is not None and not browser:
        raise UsageError("--port goes with --serve", hint="rootrank chat LOGS --serve --port 8080")
    settings = configured(cases__save=("--no-save", False) if no_save else None)
    from assistant.cli.conversing import session_store

    earlier = session_store(settings).load(session) if session else None
    wanted, added = _targets(targets or [], earlier, settings), tuple(attach or ())
    foresee(wanted, added, profile, settings)
    if browser:
        from assistant.cli.serving import serve, wish_of

        serve(wish_of(earlier, wanted, added, profile, job, no_save), port or 0, settings)
        return ExitCode.OK
    take_terminal(piped=STDIN in wanted)
    from assistant.cli.workshop import CommandWorkshop

    workshop = CommandWorkshop(settings, tuple(wanted), added, profile, earlier, job)
    _run(workshop)
    return ended(ExitCode.OK)


def _run(workshop: CommandWorkshop) -> None:
    try:
        from assistant.tui.run import run
    except ModuleNotFoundError as error:
        raise NotInstalled(f"{error.name} is not installed", hint="pip install 'rootrank[chat]'") from None
    run(workshop)


def _targets(targets: list[str], earlier: Session | None, settings: Settings) -> list[str]:
    """What is opened: a session brings its case along."""
    if earlier is None:
        if not targets or "" in targets:
            raise UsageError("nothing to open", hint="give logs, or a stored case: rootrank chat last")
        return targets
    if targets and targets != [earlier.header.case]:
        hint = "leave LOGS out, or start a new session"
        raise UsageError(f"session {earlier.header.session} is about {earlier.header.case}", hint=hint)
    return [case_of_session(earlier, settings)]
