"""Asks a rival in its own environment: one JSON object a line in, one a line out.

Its server is a small script beside this module that runs under the environment's interpreter, apart from our packages.
A request is `{"file": ...}` with what else the server wants; an answer holds `result`, `seconds` and `bytes` of the
tool's own work, or `error`.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.rivals.environments import Environment

SERVERS = Path(__file__).with_name("servers")
LARGEST = 64 << 20
"""Characters of an answer that are read."""


class RivalFailedError(Exception):
    """A rival broke, or took too long. Shown in the report as it stands."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered."""

    result: dict[str, Any]
    seconds: float
    bytes: int


def ask(environment: Environment, server: str, request: dict[str, Any], *, seconds: float) -> Reply:
    """One request to one server.

    Raises RivalFailedError where there is no answer within `seconds`.
    """
    command = [str(environment.python), str(SERVERS / server)]
    line = json.dumps(request) + "\n"
    try:
        done = subprocess.run(
            command, input=line, capture_output=True, text=True, timeout=seconds, env=_plain(), check=False
        )
    except subprocess.TimeoutExpired as late:
        raise RivalFailedError(f"no answer within {seconds:.0f} s") from late
    return _reply(done.stdout[:LARGEST], done.stderr)


def _plain() -> dict[str, str]:
    """Our environment without what would mix our packages into theirs."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS", "VIRTUAL_ENV")
    return {**{key: value for key, value in os.environ.items() if key not in unwanted}, "PYTHONUTF8": "1"}


def _reply(out: str, err: str) -> Reply:
    answers = [line for line in out.splitlines() if line.startswith("{")]
    if not answers:
        words = err.strip().splitlines()
        raise RivalFailedError(words[-1][:300] if words else "no answer")
    answer = json.loads(answers[-1])
    if "error" in answer:
        raise RivalFailedError(str(answer["error"])[:300])
    return Reply(answer["result"], float(answer["seconds"]), int(answer["bytes"]))
