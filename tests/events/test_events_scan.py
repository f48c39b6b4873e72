"""What one pass says about streams, lines, marks and templates, and that it stays bounded."""

from __future__ import annotations

import itertools
from pathlib import Path

import polars as pl
import pytest

from assistant.events.book import FormBook
from assistant.events.miner import DrainMiner, parameters, template_id
from assistant.events.models import Scan
from assistant.events.scan import scan
from assistant.events.thinning import LAST, ThinnedTable
from assistant.intake.dialects import load_dialects
from assistant.intake.models import Discovery, Progress, Source
from assistant.intake.times import read_moment


class Words:
    """A library that knows one word."""

    def gate(self) -> list[str]:
        return ["error"]

    def match(self, record: str) -> tuple[str, ...]:
        return ("bad-thing",) if "bad" in record else ()


def run(folder: Path, logs: dict[str, bytes], **options: object) -> Scan:
    sources = []
    for number, (name, data) in enumerate(logs.items()):
        path = folder / name
        path.write_bytes(data)
        sources.append(Source(number, name, path, size=len(data), group=name))
    return scan(Discovery(str(folder), tuple(sources), ()), load_dialects(), Words(), **options)  # type: ignore[arg-type]


def texts(found: Scan) -> dict[str, int]:
    counted = found.counts.group_by("template").agg(pl.col("count").sum()).rows()
    return {found.templates[template].text: count for template, count in counted}


def test_carriage_returns_separate_but_only_newlines_count_lines(tmp_path: Path) -> None:
    found = run(tmp_path, {"a.log": b"one\rtwo error\r\nthree\n"})
    assert found.lines == 2
    [indicator] = found.indicators
    assert (indicator.record.line, indicator.record.offset, indicator.record.text) == (1, 4, "two error")


def test_escapes_and_nul_bytes_are_not_seen_but_offsets_are_of_the_raw_bytes(tmp_path: Path) -> None:
    found = run(tmp_path, {"a.log": b"\x1b[32mok\x1b[0m\nan \x1b[31mer\x00ror\x1b[0m\n"})
    [indicator] = found.indicators
    assert (indicator.record.text, indicator.record.line, indicator.record.offset) == ("an error", 2, 12)
    assert indicator.record.raw == "an \x1b[31mer\x00ror\x1b[0m"


def test_broken_text_is_read_with_replacement_and_told_once(tmp_path: Path) -> None:
    found = run(tmp_path, {"a.log": b"fine \xc3\xa9\nerror \xff\xfe here\nerror again \xff\n"})
    assert [indicator.record.raw for indicator in found.indicators] == ["error \ufffd\ufffd here", "error again \ufffd"]
    assert [note for note in found.notes if "UTF-8" in note] == [
        "a.log: 2 lines are not valid UTF-8; read with replacement"
    ]


def test_a_line_of_a_megabyte_does_no_harm(tmp_path: Path) -> None:
    found = run(tmp_path, {"a.log": b"before\n" + b"x" * (1 << 20) + b"\nan error\n"})
    assert [(each.record.line, each.record.offset) for each in found.indicators] == [(3, (1 << 20) + 8)]


def test_counts_are_per_template_and_stream(tmp_path: Path) -> None:
    found = run(tmp_path, {"a.log": b"loaded shard 1\nloaded shard 22\n", "b.log": b"loaded shard 333\n"})
    assert texts(found) == {"loaded shard <NUM>": 3}
    assert found.counts.select("stream", "count").rows() == [(0, 2), (1, 1)]


def test_template_ids_are_hashes_of_their_text(tmp_path: Path) -> None:
    found = run(tmp_path, {"a.log": b"hello\n"})
    assert [template.id for template in found.templates] == [template_id("hello")]


MEGATRON = "[2026-11-29 10:00:{s:02d}] iteration {n:8d}/     500 | lm loss: 2.5E+00 |\n"


def test_iterations_reach_records_and_sequences(tmp_path: Path) -> None:
    log = "".join(MEGATRON.format(n=n, s=n) + f"saved {n}\n" for n in range(1, 6)) + "an error\n"
    found = run(tmp_path, {"a.log": log.encode()})
    assert found.marks.filter(pl.col("kind") == "iteration")["iteration"].to_list() == [1, 2, 3, 4, 5]
    [indicator] = found.indicators
    assert indicator.record.iteration == 5
    assert indicator.record.stage == "training"
    assert indicator.record.time == read_moment("2026-11-29T10:00:05Z")
    assert not indicator.record.own_time
    assert found.sequences["iteration"].to_list() == [1, 2, 3, 4, 5]
    assert found.sequences["sequence"].to_list()[:4] == [0, 0, 0, 0]


def test_a_stream_without_iterations_takes_them_from_the_job_by_time(tmp_path: Path) -> None:
    rank0 = "".join(MEGATRON.format(n=n, s=10 * n) for n in range(1, 5))
    rank1 = "2026-11-29 10:00:25 an error\n"
    found = run(tmp_path, {"a.log": rank0.encode(), "b.log": rank1.encode()})
    assert [(each.record.iteration, each.record.stage) for each in found.indicators] == [(2, "training")]


def test_a_window_of_time_leaves_lines_outside_out(tmp_path: Path) -> None:
    log = b"".join(b"2026-11-29 10:00:%02d line %c\n  its second row\n" % (n, 65 + n) for n in range(10))
    since, until = read_moment("2026-11-29T10:00:03Z"), read_moment("2026-11-29T10:00:05Z")
    found = run(tmp_path, {"a.log": log}, since=since, until=until, batch_bytes=50, block_bytes=50)
    assert [stream.lines for stream in found.streams] == [6]
    assert found.streams[0].first_line == 7


def test_messages_are_taken_out_of_json_lines(tmp_path: Path) -> None:
    rows = [f'{{"log":"step {n} error\\n","stream":"stderr","time":"2026-11-29T10:00:0{n}.5Z"}}\n' for n in range(4)]
    found = run(tmp_path, {"a.log": "".join(rows).encode()})
    assert {each.record.text for each in found.indicators} == {f"step {n} error" for n in range(4)}
    assert found.indicators[0].record.time == read_moment("2026-11-29T10:00:00.5Z")
    assert found.indicators[1].record.offset == len(rows[0])


def test_tails_are_the_last_records_of_each_stream(tmp_path: Path) -> None:
    found = run(tmp_path, {"a.log": b"".join(b"line %d\n" % n for n in range(9))}, batch_bytes=10, block_bytes=10)
    assert [record.text for record in found.tails[0]] == [f"line {n}" for n in range(4, 9)]


def test_progress_is_told_with_the_first_finding(tmp_path: Path) -> None:
    seen: list[Progress] = []
    run(tmp_path, {"a.log": b"fine\n", "b.log": b"a bad error\nmore\n"}, progress=seen.append, batch_bytes=4)
    assert seen[-1].bytes == 22
    assert seen[-1].sources == 2
    assert "bad" in (seen[-1].finding or "")


def test_the_same_input_gives_the_same_scan(tmp_path: Path) -> None:
    logs = {
        f"{n}.log": b"".join(b"rank %d did %d things\nan error %x\n" % (n, i, i) for i in range(50)) for n in range(5)
    }
    first, second = run(tmp_path, logs, batch_bytes=400, threads=2), run(tmp_path, logs, batch_bytes=400, threads=1)
    assert first.counts.equals(second.counts)
    assert (first.templates, first.indicators, first.tails) == (second.templates, second.indicators, second.tails)


def test_too_many_kinds_of_lines_are_lumped_by_their_first_words() -> None:
    book = FormBook(most_masked=3)
    numbers = [book._mask(f"the word is w{letter}") for letter in "abcdefgh"]
    assert numbers == [0, 1, 2, 3, 3, 3, 3, 3]
    assert book.masked[3] == "the word is <*>"
    assert book.lumped == 5


def test_long_runs_are_thinned_evenly_but_keep_first_pinned_and_last() -> None:
    schema: dict[str, pl.DataType] = {"stream": pl.Int32(), "ordinal": pl.Int64(), "pinned": pl.Boolean()}
    table = ThinnedTable(schema, most=100)
    for begin in range(0, 5_000, 50):
        ordinals = list(range(begin, begin + 50))
        table.add(
            pl.DataFrame({"stream": 0, "ordinal": ordinals, "pinned": [n == 1_111 for n in ordinals]}, schema=schema)
        )
    kept = table.table()["ordinal"].to_list()
    assert kept[-LAST:] == list(range(4_800, 5_000))
    assert 1_111 in kept
    assert kept[0] == 0
    steps = {b - a for a, b in itertools.pairwise(kept) if b < 4_800 and 1_111 not in (a, b)}
    assert steps == {table.stride}
    assert len(kept) <= 301


def test_drain_groups_what_differs_in_a_word_whatever_the_order() -> None:
    forms = ["worker alpha is ready now", "worker beta is ready now", "done", "nothing like the others at all"]
    mined = DrainMiner().mine(forms)
    assert mined[0] == mined[1] == "worker <*> is ready now"
    assert mined[2] == "done"
    assert DrainMiner().mine(forms[::-1]) == mined[::-1]


@pytest.mark.parametrize(
    ("template", "line", "found"),
    [
        ("loaded shard <NUM> of <NUM>", "2026 INFO loaded shard 12 of 40", ("12", "40")),
        ("worker <*> is ready", "worker beta is ready", ("beta",)),
        ("nothing varies", "nothing varies", ()),
        ("loaded shard <NUM>", "something else", ()),
        ("took <NUM>", "took 1.5 ms", ("1.5 ms",)),
    ],
)
def test_parameters_are_what_stands_in_the_slots(template: str, line: str, found: tuple[str, ...]) -> None:
    assert parameters(template, line) == found
