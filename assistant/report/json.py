"""A Case as the JSON that `--json` prints; its schema is `docs/schema/case-1.json`."""

from __future__ import annotations

import orjson

from assistant.case.models import Case


def render(case: Case) -> bytes:
    """One indented object with a final newline. The same case gives the same bytes."""
    return orjson.dumps(case.model_dump(mode="json"), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
