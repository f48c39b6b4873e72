"""The JSON Schema of a Case, generated from the models; the checked-in copy is `docs/schema/case-1.json`.

`python -m assistant.case.schema > docs/schema/case-1.json` writes it anew.
"""

from __future__ import annotations

from typing import Any

import orjson

from assistant.case.models import Case
from assistant.case.vocabulary import all_causes

SCHEMA_ID = "rootrank.case/1"


def case_schema() -> dict[str, Any]:
    """The schema of what `--json` prints. Every key is always present; unknown values are null or empty."""
    schema = Case.model_json_schema(by_alias=True, mode="serialization")
    for model in ("Verdict", "Alternative"):
        schema["$defs"][model]["properties"]["cause"]["enum"] = sorted(all_causes())
    for model in (schema, *schema["$defs"].values()):
        if "properties" in model:
            model["required"] = list(model["properties"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:{SCHEMA_ID}", **schema}


def render() -> str:
    """The schema as the text of its file."""
    return orjson.dumps(case_schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


if __name__ == "__main__":
    print(render(), end="")
