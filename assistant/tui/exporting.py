"""Writes the case and the conversation into a file. Knows no screen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from assistant.answers.models import Turn
from assistant.case.models import Case
from assistant.errors import UsageError
from assistant.report import json as report_json
from assistant.report import markdown


def export(path: Path, case: Case, turns: Sequence[Turn]) -> Path:
    """JSON of the case for `.json`, else Markdown of case and conversation; a file that is there is never replaced.

    Raises UsageError where it cannot be written.
    """
    path = Path(os.path.expanduser(path))
    data = report_json.render(case) if path.suffix == ".json" else as_markdown(case, turns).encode("utf-8", "replace")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(f"{path} cannot be written: {why.lower()}", hint="choose another name") from None
    return path.absolute()


def as_markdown(case: Case, turns: Sequence[Turn]) -> str:
    """The report, then questions and answers as they stood in the end."""
    parts = [markdown.render(case)]
    for number, turn in enumerate(turns, start=1):
        parts.append(f"\n## Question {number}\n\n{markdown.prose(turn.question.text)}\n\n{turn.answer.strip()}\n")
    return "".join(parts)
