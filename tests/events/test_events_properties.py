"""The fast scan agrees with a slow and obvious one, wherever batches happen to end."""

from __future__ import annotations

import string
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from assistant.events.collapse import relaxed
from assistant.events.folding import collapsed
from assistant.events.masks import masked as fast_masked
from assistant.events.models import Scan
from assistant.events.scan import scan
from assistant.intake.models import Discovery, Source
from tests.events.slow import DIALECTS, FewFaults, NoMiner, masked, slow_scan

WORDS = [
    "loading",
    "shard",
    "rank",
    "Error",
    "error:",
    "0x1fa3",
    "17:36:46.901",
    "iteration",
    "a1b2c3",
    "é",
    "/data/x/y",
]
ENDS = [b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n"]
NOISE = [b"\xff", b"\x00", b"\x1b[31m", b"\x1b[0m", b"\xc3", b" ", b"\t"]

numbers = st.integers(0, 99_999).map(lambda n: b"%d" % n)
special = st.one_of(
    st.integers(1, 50).map(lambda n: b"iteration %d/500" % n),
    st.integers(1, 50).map(lambda n: b"saved step %d" % n),
    st.sampled_from([b"Xid 79", b"Xid 0", b"exit code 137", b"exit code 0", b"loss nan"]),
)
words = st.sampled_from([word.encode() for word in WORDS])
content = st.lists(st.one_of(words, numbers, special, st.sampled_from(NOISE)), max_size=6).map(b" ".join)
logs = st.lists(st.tuples(content, st.sampled_from(ENDS)).map(b"".join), max_size=25).map(b"".join)

TRACEBACK = [
    b"Traceback (most recent call last):\n",
    b'  File "train.py", line 12, in main\n',
    b"    step()\n",
    b"RuntimeError: CUDA error: an illegal memory access was encountered\n",
    b"CUDA kernel errors might be asynchronously reported at some other API call\n",
    b"Exception raised from wait at c10.cpp:7 (most recent call first):\n",
    b"frame #0: c10::Error + 0x6c (0x7f0a)\n",
    b"During handling of the above exception, another exception occurred:\n",
    b"Exception in thread Thread-1:\n",
    b"terminate called after throwing an instance of 'c10::Error'\n",
    b"  what():  CUDA error\n",
    b"Fatal Python error: Segmentation fault\n",
    b"Current thread 0x00007f (most recent call first):\n",
    b"[n1:42] *** Process received signal ***\n",
    b"[n1:42] Signal: Aborted (6)\n",
    b"[n1:42] *** End of error message ***\n",
    b"-" * 74 + b"\n",
    b"Primary job terminated normally, but 1 process returned an error\n",
    b"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n",
    b"=" * 60 + b"\n",
    b"train.py FAILED\n",
    b"iteration 7/500\n",
    b"all is well\n",
]
blocks = st.lists(st.sampled_from(TRACEBACK), max_size=40).map(b"".join)


def run(folder: Path, logs: Iterable[bytes], size: int) -> Scan:
    sources = []
    for number, data in enumerate(logs):
        path = folder / f"{number}.log"
        path.write_bytes(data)
        sources.append(Source(number, path.name, path, size=len(data), group=path.name))
    found = Discovery(str(folder), tuple(sources), ())
    return scan(found, DIALECTS, FewFaults(), batch_bytes=size, block_bytes=size, threads=2, miner=NoMiner())


def shapes(found: Scan) -> list[tuple[int, ...]]:
    return [found.shapes[number] for number in found.sequences["sequence"]]


relax_health = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@relax_health
@given(data=logs, size=st.integers(16, 400))
def test_counts_marks_and_indicators_are_those_of_a_plain_loop(tmp_path: Path, data: bytes, size: int) -> None:
    slow, fast = slow_scan(data), run(tmp_path, [data], size)
    texts = [template.text for template in fast.templates]
    rows = {texts[row["template"]]: row for row in fast.counts.iter_rows(named=True)}
    assert {text: row["count"] for text, row in rows.items()} == dict(slow.counts)
    assert {text: (row["first_line"], row["first_offset"]) for text, row in rows.items()} == slow.first
    for text, seen in slow.iterations.items():
        changes = sum(a != b for a, b in zip([None, *seen], seen, strict=False))
        assert rows[text]["iterations"] == changes
        assert (rows[text]["first_iteration"], rows[text]["last_iteration"]) == (seen[0], seen[-1])
    marks = fast.marks.select("line", "offset", "kind", "iteration").rows()
    assert sorted(marks) == sorted(slow.marks)


@relax_health
@given(data=logs, size=st.integers(16, 400))
def test_indicators_are_those_of_a_plain_loop(tmp_path: Path, data: bytes, size: int) -> None:
    slow, fast = slow_scan(data), run(tmp_path, [data], size)
    assert sum(indicator.count for indicator in fast.indicators) == len(slow.indicators)
    expected = {(line, offset): (text, faults, at) for line, offset, text, faults, at in slow.indicators}
    for indicator in fast.indicators:
        record = indicator.record
        assert (record.text, indicator.faults, record.iteration) == expected[(record.line, record.offset)]


@relax_health
@given(data=st.lists(st.one_of(blocks, logs), min_size=1, max_size=3), size=st.integers(16, 300))
def test_the_outcome_does_not_depend_on_where_batches_end(tmp_path: Path, data: list[bytes], size: int) -> None:
    small, whole = run(tmp_path, data, size), run(tmp_path, data, 1 << 20)
    assert_frame_equal(small.counts, whole.counts)
    assert_frame_equal(small.marks, whole.marks)
    assert_frame_equal(small.sequences.drop("sequence"), whole.sequences.drop("sequence"))
    assert shapes(small) == shapes(whole)
    assert small.indicators == whole.indicators
    assert small.tails == whole.tails
    assert (small.templates, small.streams, small.lines, small.bytes) == (
        whole.templates,
        whole.streams,
        whole.lines,
        whole.bytes,
    )


@given(text=st.text(alphabet=string.digits + "abcdefxX-:./ _%e+,<>[]()\"'=", max_size=60))
def test_a_line_and_its_collapsed_form_have_the_same_mask(text: str) -> None:
    both = fast_masked(pl.Series([text, collapsed(text)], dtype=pl.String)).to_list()
    assert both[0] == both[1]
    assert both[0] == masked(text)


PATTERNS = [
    r"Xid [79]9",
    r"[0-9]{4}-[0-9]{2}ms",
    r"(?:[0-9a-f]{2}:){2}z",
    r"(?P<a>1[0-9]?)x?[^0-9]",
    r"a.{2}b",
    r"\w{3}[0-9]c",
    r"(?i)^E[1-3]{2}(?:\.[0-9]+)*$",
    r"[^a5]b",
    r"x[0-9]*y",
    r"(?:1|2b)3\b",
    r"error: .*[0-9]+ left",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(deadline=None)
@given(data=st.data())
def test_a_relaxed_pattern_matches_the_form_of_every_line_that_matches(pattern: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.from_regex(pattern.replace("(?i)", ""), alphabet=string.printable[:95]), min_size=1))
    column = pl.Series(lines, dtype=pl.String)
    hit = column.str.contains(pattern)
    relax = relaxed(pattern)
    forms = pl.Series([collapsed(line) for line in lines], dtype=pl.String).str.contains(relax.pattern)
    assert bool((~hit | forms).all())
    if relax.sure:
        assert hit.to_list() == forms.to_list()
