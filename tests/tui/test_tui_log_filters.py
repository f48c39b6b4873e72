"""Compound filters of log lines: how they are typed, and what they let pass."""

from __future__ import annotations

import gzip
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.intake.discover import discover
from assistant.intake.models import Source
from assistant.intake.reader import read_blocks
from assistant.tui.filters.levels import LEVELS, goes_on, level_of
from assistant.tui.filters.models import FilterList, heard, told
from assistant.tui.filters.scan import Sifting
from assistant.tui.filters.sieve import Sieve
from assistant.tui.filters.typed import Around, complete, hint, read_filters
from assistant.tui.filters.worker import Sifted
from assistant.tui.logs.bytefile import open_bytes
from assistant.tui.logs.writers import Scribe
from assistant.tui.logs.writing import Writing

NOON = 1_932_897_600.0
"""2031-04-02 12:00:00 UTC."""
AROUND = Around(
    time=NOON,
    line="2031-04-02 12:00:00 ERROR [rank5]: pump 55 failed",
    nodes=("n03", "n04"),
    ranks=(0, 1, 2, 3),
    events=(("T1", "loss is <NUM> again"), ("T2", "disk full")),
    cited={"E7": "lost 12 packets"},
)


def source_in(folder: Path, name: str, data: bytes) -> Source:
    (folder / name).write_bytes(data)
    (found,) = discover([str(folder / name)]).sources
    return found


def writing_of(source: Source) -> Writing:
    file = open_bytes(source)
    try:
        return Scribe([source], None).of([(source, file)])[0]
    finally:
        file.close()


def passing(source: Source, text: str, *, block_bytes: int = 4 << 20, around: Around = AROUND) -> list[bytes]:
    """The lines that pass, read with blocks of some size."""
    sieve = Sieve(read_filters(text, around), writing_of(source))
    data = gzip.decompress(source.path.read_bytes()) if source.name.endswith("gz") else source.path.read_bytes()
    offsets: list[int] = []
    for block in read_blocks(source, print, block_bytes=block_bytes):
        offsets += sieve.passing(block).offsets.tolist()
    return [data[offset : data.find(b"\n", offset)] for offset in offsets]


@pytest.mark.parametrize(
    ("typed", "kinds"),
    [
        ("rank=3 level=error time=03:10..03:12 /a b/", ["rank", "level", "time", "text"]),
        ("!rank=0-2 node=n0*", ["rank", "node"]),
        ("event=here event=E7 event=any event=loss", ["text", "text", "event", "event"]),
        ('nccl "two words"', ["text", "text"]),
        ("r=1 l=warn t=-30s..+1m", ["rank", "level", "time"]),
        (r"/a\/b/ !/c/", ["text", "text"]),
        ("", []),
    ],
)
def test_filters_are_read_from_one_line_and_can_be_typed_again(typed: str, kinds: list[str]) -> None:
    found = read_filters(typed, AROUND)
    assert [one.kind.value for one in found] == kinds
    again = " ".join(one.spelled for one in found)
    assert read_filters(again, AROUND) == found
    assert heard(told(found)) == tuple(found)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("rnak=3", "no filter rnak="),
        ("rank=", "not a rank"),
        ("rank=7-3", "not a rank"),
        ("rank=99", "ranks 0-3"),
        ("node=n99", "nodes: n03, n04"),
        ("node=", "no node"),
        ("level=bad", "levels: trace"),
        ("time=", "no time"),
        ("time=25:00..26:00", "not a time of day"),
        ("time=noon..", "not a point in time"),
        ("time=2031-04-02T12:00..2031-04-01T12:00", "ends before it begins"),
        ("event=nothing", "no event of this case"),
        ("/(/", "not an expression"),
        ("//", "is empty"),
        ("/a", "no closing /"),
        ('"a', "not closed"),
        ("a b c d e f g h i j", "9 can be on"),
    ],
)
def test_what_cannot_be_understood_is_told(typed: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("(", r"\(")):
        read_filters(typed, AROUND)


def test_a_time_of_day_is_on_the_day_nearest_to_the_line() -> None:
    (one,) = read_filters("time=23:59..00:01", Around(time=NOON + 43_000))
    assert (one.since, one.until) == (NOON + 43_140, NOON + 43_319.999999)
    (minute,) = read_filters("time=11:58", AROUND)
    assert (minute.since, minute.until) == (NOON - 120, NOON - 60.000001)
    with pytest.raises(ValueError, match="write the date too"):
        read_filters("time=11:58", Around())


def test_typing_is_hinted_and_completed() -> None:
    assert "rank=" in hint("", AROUND)
    assert "n03" in hint("rank=1 node=", AROUND)
    assert complete("!no", AROUND) == "!node="
    assert complete("x node=n0", AROUND) == "x node=n03"
    assert complete("level=e", AROUND) == "level=error"
    assert complete("zzz", AROUND) is None


def test_filters_are_switched_singly_and_all_at_once() -> None:
    filters = FilterList()
    filters.replace(read_filters("rank=1 level=error /x/", AROUND))
    assert filters.flip(2)
    assert [one.spelled for one in filters.active] == ["rank=1", "/x/"]
    filters.flip_all()
    assert list(filters.active) == []
    filters.flip_all()
    assert [one.spelled for one in filters.active] == ["rank=1", "/x/"]
    filters.replace(read_filters("level=error /y/", AROUND))
    assert [one.spelled for one in filters.active] == ["/y/"]
    assert not filters.flip(3)


LINES = b"""starting
[rank0]: 2031-04-02 12:00:01,000 INFO step 1
[rank3]: 2031-04-02 12:00:02,000 ERROR it broke
[rank3]: Traceback (most recent call last):
[rank3]:   File "x.py", line 3
[rank3]: ValueError: odd
[rank1]: 2031-04-02 12:00:03,000 WARNING slow
[rank1]: 2031-04-02 12:00:04,000 DEBUG detail
[rank0]: 2031-04-02 12:00:05,000 INFO pump 7 failed
"""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("block_bytes", [60, 4 << 20])
@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        ("rank=3", [3, 4, 5, 6]),
        ("rank=0-1", [2, 7, 8, 9]),
        ("!rank=0-1", [1, 3, 4, 5, 6]),
        ("level=error", [3, 4, 5, 6]),
        ("level=warning", [3, 4, 5, 6, 7]),
        ("!level=warning", [1, 2, 8, 9]),
        ("level=info", [1, 2, 3, 4, 5, 6, 7, 9]),
        ("level=trace", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("level=fatal", []),
        ("time=12:00:02..12:00:03", [3, 4, 5, 6, 7]),
        ("time=..12:00:01", [2]),
        ("!time=12:00:02..", [1, 2]),
        ("/step|slow/", [2, 7]),
        ("!/rank/", [1]),
        ("rank=3 level=error /odd/", [6]),
        ("rank=1 time=12:00:04..", [8]),
        ("rank=0 rank=3", []),
        ("event=here", [9]),
    ],
)
def test_all_filters_must_hold(tmp_path: Path, typed: str, numbers: list[int], block_bytes: int, packed: bool) -> None:
    source = source_in(tmp_path, "x.log.gz" if packed else "x.log", gzip.compress(LINES) if packed else LINES)
    around = Around(time=NOON, line="2031-04-02 12:00:05,000 INFO pump 55 failed")
    rows = LINES.split(b"\n")
    assert passing(source, typed, block_bytes=block_bytes, around=around) == [rows[number - 1] for number in numbers]


WORDS = st.sampled_from(
    [b"INFO fine", b"ERROR bad", b"DEBUG d", b"  indented", b"", b"plain", b"\xff\xfe ERROR", b"\x1b[31mWARN"]
)
TIMES = st.one_of(st.none(), st.integers(0, 59))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(TIMES, WORDS), min_size=1, max_size=60), st.integers(40, 400), st.integers(0, 59))
def test_passing_is_the_same_as_asking_line_by_line(
    rows: list[tuple[int | None, bytes]], block_bytes: int, since: int
) -> None:
    head = [b"2031-04-02 12:00:00.000 INFO first"] * 3
    lines = head + [(b"" if t is None else b"2031-04-02 12:00:%02d.000 " % t) + word for t, word in rows]
    with tempfile.TemporaryDirectory() as name:
        source = source_in(Path(name), "x.log", b"\n".join(lines) + b"\n")
        typed = f"time=12:00:{since:02d}.."
        assert passing(source, typed, block_bytes=block_bytes) == _timely(lines, NOON + since, writing_of(source))
        for level in ("warning", "info"):
            found = passing(source, f"level={level}", block_bytes=block_bytes)
            assert found == _bad(lines, LEVELS.index(level))


def _timely(lines: list[bytes], since: float, writing: Writing) -> list[bytes]:
    kept: list[bytes] = []
    now = 0.0
    for line in lines:
        own = writing.time(line)
        now = now if own is None else own
        if now >= since:
            kept.append(line)
    return kept


def _bad(lines: list[bytes], least: int) -> list[bytes]:
    kept: list[bytes] = []
    now = LEVELS.index("info")
    for line in lines:
        own = level_of(line)
        if own is not None:
            now = own
        elif not goes_on(line):
            now = LEVELS.index("info")
        if now >= least:
            kept.append(line)
    return kept


def test_another_process_filters_and_goes_on_with_what_is_appended(tmp_path: Path) -> None:
    source = source_in(tmp_path, "x.log", LINES)
    item = Sifted(source, writing_of(source))
    sifting = Sifting([item], read_filters("level=error rank=3", Around()), timed=True, follow=True)
    assert wait(lambda: sifting.done)
    heads = [LINES[at:].split(b"\n")[0][9:13] for at in sifting.hits]
    assert heads == [b"2031", b"Trac", b"  Fi", b"Valu"]
    assert [moment / 1e6 - NOON for moment in sifting.finds[0].times] == [2, 2, 2, 2]
    with source.path.open("ab") as file:
        file.write(b"[rank3]: 2031-04-02 12:01:00,000 ERR")
        file.flush()
        file.write(b"OR again\n[rank2]: 2031-04-02 12:01:00,000 ERROR other\n")
    assert wait(lambda: sifting.count == 5)
    sifting.stop()
    assert not sifting.failed


@pytest.mark.parametrize("timed", [False, True])
def test_times_are_found_once_wherever_they_stand_in_a_large_file(tmp_path: Path, timed: bool) -> None:
    """The part where they should stand is looked at first; a file whose times go back holds others."""
    rows = [b"2031-04-02 12:%02d:%02d.000 INFO %s" % (n // 60 % 60, n % 60, b"x" * 3_000) for n in range(3_600)]
    rows.insert(200, b"2031-04-02 12:30:00.500 INFO early")
    rows.insert(3_300, b"2031-04-02 12:30:00.500 INFO late")
    rows.insert(3_301, b"goes on")
    source = source_in(tmp_path, "x.log", b"\n".join(rows) + b"\n")
    wanted = [n for n, row in enumerate(rows) if b"12:30:00" in row or row == b"goes on"]
    sifting = Sifting([Sifted(source, writing_of(source))], read_filters("time=12:30:00", AROUND), timed=timed)
    assert sifting.wait(60)
    data = source.path.read_bytes()
    assert sorted(data[:at].count(b"\n") for at in sifting.hits) == wanted
    assert timed or list(sifting.hits) == sorted(sifting.hits)
    sifting.stop()


def test_several_logs_are_filtered_by_one_process_and_a_lost_one_is_told(tmp_path: Path) -> None:
    sources = [source_in(tmp_path, f"{number}.log", LINES) for number in range(3)]
    items = [Sifted(one, writing_of(one)) for one in sources]
    sources[1].path.unlink()
    sifting = Sifting(items, read_filters("/step/", Around()), timed=True)
    assert sifting.wait(60)
    assert [list(one.hits) for one in sifting.finds] == [[9], [], [9]]
    assert sifting.unread == 1
    sifting.stop()


def test_a_log_of_one_other_writer_is_not_even_read(tmp_path: Path) -> None:
    source = source_in(tmp_path, "rank-4.log", b"2031-04-02 12:00:00.000 INFO x\n" * 20)
    writing = writing_of(source)
    assert writing.sole == (None, 4)
    assert Sieve(read_filters("rank=5", Around()), writing).nothing
    assert not Sieve(read_filters("!rank=5", Around()), writing).nothing


def wait(holds: Callable[[], bool]) -> bool:
    for _ in range(3_000):
        if holds():
            return True
        time.sleep(0.01)
    return False
