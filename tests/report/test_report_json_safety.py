"""JSON that is safe to look at and always to be had."""

from __future__ import annotations

import orjson

from assistant.report.json import dumps


def test_what_a_terminal_acts_on_is_escaped_and_reads_back() -> None:
    text = "a\x1b[2J\x9b31m\x7f\u202e\u2028 é 日本"
    shown = dumps({"text": text})
    assert orjson.loads(shown) == {"text": text}
    decoded = shown.decode()
    assert not any(letter in decoded for letter in "\x1b\x9b\x7f\u202e\u2028")
    assert "日本" in decoded


def test_what_json_cannot_hold_is_spelled_out() -> None:
    assert orjson.loads(dumps({"name": "bad\udcff.log", "big": [1 << 70]})) == {
        "name": "bad\\udcff.log",
        "big": [str(1 << 70)],
    }
