"""Answers with gpualert's own reading of what a job printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from common import serve  # type: ignore[import-not-found]
from gpualert.parse_errors import (  # type: ignore[import-not-found]
    get_error_confidence,
    parse_errors,
)


def analyse(request: dict[str, Any]) -> dict[str, Any]:
    """Its summary and how sure it is."""
    errors = Path(request["stderr"]).read_text(encoding="utf-8", errors="replace")
    output = Path(request["stdout"]).read_text(encoding="utf-8", errors="replace")
    summary = parse_errors(output, errors, request["exit_code"])
    return {"summary": summary, "confidence": get_error_confidence(summary)}


serve(analyse)
