"""`rootrank demo`: the main job on logs that come with the installation."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode, of_case
from assistant.cli.output import emit
from assistant.cli.request import Request, run
from assistant.cli.settings import configured
from assistant.errors import ConfigError, UsageError


def demo(
    name: Annotated[str | None, typer.Argument(metavar="EXAMPLE", help="Which one; else the first.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Print the names of the examples.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show everything.")] = False,
    chat: Annotated[bool, typer.Option("--chat", help="Show a conversation with a scripted model.")] = False,
    question: Annotated[str | None, typer.Option("-q", "--question", help="With --chat: what to ask.")] = None,
) -> int:
    """Diagnoses a bundled example; nothing is stored."""
    found = examples()
    if chat:
        from assistant.cli.demo_chat import demo_chat

        return demo_chat(_chosen(name, found), question)
    if list_:
        print("\n".join(found))
        return ExitCode.OK
    folder = _chosen(name, found)
    settings = configured()
    narration.say(f"$ rootrank diagnose {folder}")
    case = run(Request((str(folder),)), settings, bar=False)
    emit(case, "text", verbose=verbose, colour=settings.output.color, target=None)
    narration.say(f"(diagnose would end with exit code {of_case(case)}; other examples: rootrank demo --list)")
    return ExitCode.OK


def examples() -> dict[str, Path]:
    """The bundled examples by name, a user's own over the shipped ones."""
    from assistant.paths import locate

    folders = [folder / "examples" for folder in locate("knowledge")]
    found = {path.name: path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_dir()}
    return dict(sorted(found.items()))


def _chosen(name: str | None, found: dict[str, Path]) -> Path:
    if not found:
        raise ConfigError("no example is installed", hint="install Rootrank again, or diagnose logs of your own")
    if name is None:
        return next(iter(found.values()))
    if name not in found:
        near = difflib.get_close_matches(name, found, n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(found)}"
        raise UsageError(f"no example {name!r}", hint=hint)
    return found[name]
