"""A question written in an editor of one's own."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from assistant.errors import UsageError

EDITORS = ("VISUAL", "EDITOR")


def edited(text: str) -> str:
    """What an editor makes of a text. Raises UsageError where none can be run; the text is then unchanged."""
    command = next((value for name in EDITORS if (value := os.environ.get(name, "").strip())), "vi")
    descriptor, name = tempfile.mkstemp(prefix="rootrank-", suffix=".md")
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([*shlex.split(command), name], check=False)
        if done.returncode != 0:
            raise UsageError(f"{command} ended with {done.returncode}", hint="the question is as it was")
        return path.read_text("utf-8", "replace").rstrip("\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"{command} cannot be run: {error}", hint="set VISUAL or EDITOR") from None
    finally:
        path.unlink(missing_ok=True)
