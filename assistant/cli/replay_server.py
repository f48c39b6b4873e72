"""`rootrank replay-server`: a scripted OpenAI-compatible server on loopback, to try profiles and clients against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assistant.cli import narration
from assistant.cli.exit_codes import ExitCode
from assistant.errors import UsageError


def replay_server(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="A YAML file; docs/replay.md says what it holds.")],
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes a free one.")] = 0,
) -> int:
    """Serves a script until it is interrupted. No model is asked: the answers stand in the script."""
    from assistant.replay.models import load_script
    from assistant.replay.server import ReplayServer

    loaded = load_script(script)
    try:
        server = ReplayServer(loaded, port)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"cannot listen on port {port}: {reason}", hint="give another --port, or leave it out"
        ) from None
    print(server.base_url, flush=True)
    narration.say(f"scripted model {loaded.model!r} from {script}; end with Ctrl-C")
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        narration.say("stopped")
    finally:
        server.closing.set()
        server.server_close()
    return ExitCode.OK
