"""The JSON Schema of a case: checked in, true to the models, and kept by what is printed."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import orjson
import pytest

from assistant.case.schema import case_schema, render
from assistant.report.json import render as as_json
from tests.samples import all_cases

CHECKED_IN = Path(__file__).resolve().parents[2] / "docs/schema/case-1.json"


def test_the_checked_in_schema_is_that_of_the_models() -> None:
    assert orjson.loads(CHECKED_IN.read_bytes()) == case_schema(), (
        "run `python -m assistant.case.schema > docs/schema/case-1.json`, and raise the version if a reader would break"
    )
    assert CHECKED_IN.read_text() == render()


@pytest.mark.parametrize("name", sorted(all_cases()))
def test_what_is_printed_keeps_the_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(case_schema())
    jsonschema.validate(orjson.loads(as_json(all_cases()[name])), case_schema())


def test_an_unknown_cause_or_key_breaks_it() -> None:
    document = orjson.loads(as_json(all_cases()["failed"]))
    for change in ({"extra": 1}, {"verdict": {**document["verdict"], "cause": "memory.gpu"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, **change}, case_schema())


def test_every_key_is_always_present() -> None:
    schema = case_schema()
    assert set(schema["required"]) == set(schema["properties"])
    assert set(orjson.loads(as_json(all_cases()["unknown"]))) == set(schema["required"])
