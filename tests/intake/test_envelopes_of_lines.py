"""Messages come out of what collectors wrap around them."""

from __future__ import annotations

import polars as pl
import pytest

from assistant.intake.dialects import load_dialects
from assistant.intake.envelopes import sniff_envelope, unwrap, unwrap_series
from assistant.intake.models import Dialect

ENVELOPES = load_dialects().envelopes
BY_ID = {dialect.id: dialect for dialect in ENVELOPES}
MOMENT = 1795973806.0  # 2026-11-29T17:36:46Z


@pytest.mark.parametrize(
    ("name", "line", "message", "key"),
    [
        ("docker-json", '{"log":"step 4\\n","stream":"stderr","time":"2026-11-29T17:36:46Z"}', "step 4", ""),
        ("cri", "2026-11-29T17:36:46.000000000Z stdout F step 4", "step 4", ""),
        (
            "fluent-bit",
            '{"date":1795973806.0,"log":"step 4\\n","kubernetes":{"pod_name":"llm-worker-3","host":"gpu-17"}}',
            "step 4",
            "node=gpu-17;pod=llm-worker-3",
        ),
        (
            "loki-export",
            '{"labels":{"pod":"llm-worker-3"},"line":"step 4","timestamp":"2026-11-29T17:36:46Z"}',
            "step 4",
            "pod=llm-worker-3",
        ),
        ("json-logger", '{"message":"step 4","asctime":"2026-11-29 17:36:46,000","rank":3}', "step 4", "rank=3"),
    ],
)
def test_each_envelope_gives_message_time_and_writer(name: str, line: str, message: str, key: str) -> None:
    dialect = sniff_envelope([line] * 3, ENVELOPES)
    assert dialect is not None
    assert dialect.id == name
    inside = unwrap(dialect, line)
    assert (inside.message, inside.time, inside.key) == (message, MOMENT, key)


def test_voir_lines_give_their_text_and_other_events_stay_whole() -> None:
    line = '{"event": "line", "data": "boom\\n", "pipe": "stderr"}'
    end = '{"event": "end", "data": {"time": 1795973806.0, "return_code": 1}, "pipe": null}'
    dialect = sniff_envelope([line, end], ENVELOPES)
    assert dialect == BY_ID["voir-events"]
    assert unwrap(dialect, line).message == "boom"
    assert unwrap(dialect, end).message == end
    assert unwrap(dialect, end).time == MOMENT


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("cri", "2026-11-29T17:36:46.1Z stderr P half a mess"),
        ("docker-json", '{"log":"half a mess","stream":"stderr","time":"2026-11-29T17:36:46Z"}'),
    ],
)
def test_a_cut_message_is_marked_as_partial(name: str, line: str) -> None:
    assert unwrap(BY_ID[name], line).partial


@pytest.mark.parametrize("line", ["plain text", "{broken", "[1, 2]", "", "{}", '{"log": 4}', "\x00"])
@pytest.mark.parametrize("dialect", ENVELOPES, ids=lambda dialect: dialect.id)
def test_a_line_that_does_not_fit_is_its_own_message(dialect: Dialect, line: str) -> None:
    assert unwrap(dialect, line).message == line


def test_plain_logs_and_rows_of_numbers_wear_no_envelope() -> None:
    assert sniff_envelope(["step 1", "step 2"], ENVELOPES) is None
    assert sniff_envelope(['{"step": 4, "loss": 2.1}'] * 3, ENVELOPES) is None
    assert sniff_envelope([], ENVELOPES) is None


def test_bulk_and_single_unwrapping_agree() -> None:
    whole = '{"log":"a\\n","stream":"stderr","time":"2026-11-29T17:36:46Z"}'
    lines = [whole, "plain", '{"log":"b","stream":"x","time":"?"}']
    frame = unwrap_series(BY_ID["docker-json"], pl.Series(lines))
    single = [unwrap(BY_ID["docker-json"], line) for line in lines]
    assert frame.rows() == [(each.message, each.time, each.key, each.partial) for each in single]


def test_a_hostile_name_cannot_forge_a_key() -> None:
    line = '{"message":"m","time":"?","hostname":"n1;rank=3 x","level":"INFO"}'
    assert unwrap(BY_ID["json-logger"], line).key == "node=n1_rank_3_x"
