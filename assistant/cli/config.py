"""`rootrank config`: every setting, what it is, and where its value came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.cli.output import print_json, print_table

app = typer.Typer(help="Show and check settings.", no_args_is_help=True)


@app.command()
def show(json: Annotated[bool, typer.Option("--json", help="Print a JSON object by key.")] = False) -> int:
    """Every setting with the place it came from."""
    from assistant import config

    loaded = config.load()
    values = config.values(loaded.settings)
    if json:
        print_json({key: {"value": value, "origin": loaded.origin(key)} for key, value in values.items()})
        return ExitCode.OK
    print_table(("KEY", "VALUE", "FROM"), [(key, _toml(value), loaded.origin(key)) for key, value in values.items()])
    narration.remark(f"your own file: {config.user_file()}")
    return ExitCode.OK


@app.command()
def validate(file: Annotated[Path | None, typer.Argument(help="One file; else all that are read.")] = None) -> int:
    """Checks the configuration; ends with 4 and names file and key where something is wrong."""
    from assistant import config

    if file is not None:
        config.check(config.read_file(file))
        narration.say(f"{file}: ok")
        return ExitCode.OK
    config.load()
    for path in config.files(config.shipped_files(), Path.cwd()):
        narration.say(f"{path}: ok")
    return ExitCode.OK


@app.command()
def schema() -> int:
    """The JSON Schema of a configuration file, for editors."""
    from assistant import config

    print_json(config.schema())
    return ExitCode.OK


def _toml(value: object) -> str:
    import json

    if value is None:
        return "(unset)"
    if isinstance(value, tuple):
        return json.dumps(list(value))
    return json.dumps(value if isinstance(value, bool | int) else str(value))
