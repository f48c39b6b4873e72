"""Fields beside the message of a structured log line: progress and measures often stand in them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.intake.dialects import load_dialects
from assistant.intake.envelopes import LONGEST_VALUE, MOST_VALUES, unwrap
from assistant.pipeline import diagnose

BY_ID = {dialect.id: dialect for dialect in load_dialects().envelopes}
LOGGER = BY_ID["json-logger"]


def line(**fields: object) -> str:
    return json.dumps({"message": "train", "time": "2026-11-29T17:36:46Z", **fields})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"step": 4, "loss": 2.5}, "train step=4 loss=2.5"),
        ({"phase": "warm up"}, "train phase=warm up"),
        ({}, "train"),
        ({"level": "INFO", "rank": 3, "hostname": "n1"}, "train"),
        ({"lineno": 7, "process": 42, "logger": "x", "exc_info": "y"}, "train"),
        ({"nested": {"step": 4}, "list": [1], "nothing": None, "step": 5}, "train step=5"),
        ({"done": True}, "train done=True"),
        ({"big": 1 << 63}, f"train big={1 << 63}"),
    ],
)
def test_plain_fields_follow_the_message(fields: dict[str, object], message: str) -> None:
    assert unwrap(LOGGER, line(**fields)).message == message


def test_an_envelope_without_such_fields_gives_its_message_alone() -> None:
    text = '{"log":"step 4\\n","stream":"stderr","time":"2026-11-29T17:36:46Z","attrs":"x"}'
    assert unwrap(BY_ID["docker-json"], text).message == "step 4"


def test_many_fields_and_long_values_are_bounded() -> None:
    inside = unwrap(LOGGER, line(**{f"f{n:04d}": "x" * 5000 for n in range(100)})).message
    assert inside.count("=") == MOST_VALUES
    assert len(inside) <= MOST_VALUES * (LONGEST_VALUE + 10)


@pytest.mark.parametrize("value", ["a\nTraceback (most recent call last):\n", "a\rb", "a\x85b\u2028c"])
def test_a_value_cannot_begin_a_line(value: str) -> None:
    inside = unwrap(LOGGER, line(note=value)).message
    assert len(inside.splitlines()) == 1


def test_a_name_cannot_begin_a_line() -> None:
    inside = unwrap(LOGGER, line(**{"x\nERROR boom": 1, "y" * 5000: 2})).message
    assert len(inside.splitlines()) == 1
    assert len(inside) < 1000


def test_the_iteration_is_read_from_a_field(tmp_path: Path) -> None:
    lines = [
        json.dumps({"time": f"2026-11-29T17:36:{n:02d}Z", "level": "info", "rank": 0, "msg": "train", "step": n})
        for n in range(1, 31)
    ]
    (tmp_path / "rank-0.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    case = diagnose([str(tmp_path)])
    assert (case.status, case.verdict.iteration) == ("incomplete", 30)
