"""Several logs as one sequence by corrected time: the engine, without a screen."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.case.models import Candidate, Case, NodeReport
from assistant.case.vocabulary import NodeState
from assistant.errors import UsageError
from assistant.intake.discover import discover
from assistant.intake.models import Source
from assistant.pipeline import Examination
from assistant.tui.logs.book import open_book
from assistant.tui.logs.writers import Scribe
from assistant.tui.merged.book import MergedBook, merge_books
from assistant.tui.merged.gathering import MOST, gather
from assistant.tui.merged.lines import MergedLines
from assistant.tui.merged.strand import MICRO, key_of, moment_in, number_in, offset_in

START = 1_932_883_200
"""2031-04-02 08:00:00 UTC."""


def stamp(seconds: float) -> str:
    minutes, second = divmod(seconds, 60)
    return f"2031-04-02 {8 + int(minutes) // 60:02d}:{int(minutes) % 60:02d}:{second:06.3f}"


def merged(folder: Path, case: Case, ahead: dict[str, float] | None = None, more: Sequence[str] = ()) -> MergedBook:
    """All logs of a folder as one book, some with clocks that run ahead."""
    sources = discover([str(folder)]).sources
    scribe = Scribe(sources, None)
    scribe._ids = {source.name: source.id for source in sources}
    scribe._ahead = {source.id: (ahead or {}).get(source.name, 0.0) for source in sources}
    books = [open_book(source, case, None) for source in sources]
    writings = scribe.of([(book.source, book.file) for book in books])
    return merge_books(books, writings, corrected=True, left_out=[(name, "gone") for name in more])


def laid(book: MergedBook, seconds: float) -> MergedLines:
    book.merged = book.lay(key_of(round((START + seconds) * MICRO), 4095, 0), lambda done: None)
    return book.merged


def texts(lines: MergedLines, count: int = 10_000) -> list[str]:
    return [line.text for line in lines.forward(0, count)]


def test_lines_of_all_logs_stand_in_the_order_of_corrected_time(
    read_job: tuple[Case, Examination], tmp_path: Path
) -> None:
    (tmp_path / "a.log").write_text(f"{stamp(10)} a one\n{stamp(30)} a two\n")
    (tmp_path / "b.log").write_text(f"{stamp(25)} b one\n{stamp(45)} b two\n")
    (tmp_path / "c.log").write_text("2031-04-02T10:00:20+02:00 c one\n2031-04-02T10:00:40+02:00 c two\n")
    book = merged(tmp_path, read_job[0], {"b.log": 10.0})
    lines = laid(book, 30)
    assert [text.partition(" ")[2][-5:] for text in texts(lines)] == [
        "a one", "b one", "c one", "a two", "b two", "c two",
    ]  # fmt: skip
    moments = [moment_in(line.offset) / MICRO - START for line in lines.forward(0, 9)]
    assert moments == [10, 15, 20, 30, 35, 40]
    book.close()


def test_lines_without_a_time_follow_the_line_before_them_of_their_own_log(
    read_job: tuple[Case, Examination], tmp_path: Path
) -> None:
    trace = "Traceback (most recent call last):\n  File x\nValueError: a\n"
    (tmp_path / "a.log").write_text(f"a before all\n{stamp(10)} a one\n{trace}{stamp(30)} a two\n")
    (tmp_path / "b.log").write_text(f"{stamp(9)} b zero\n{stamp(10.5)} b one\n{stamp(30)} b two\n")
    book = merged(tmp_path, read_job[0])
    for moment in (0, 10, 20, 99):
        found = texts(laid(book, moment))
        assert [text[-6:] for text in found] == [
            "b zero", "re all", " a one", "last):", "File x", "ror: a", " b one", " a two", " b two",
        ]  # fmt: skip
    book.close()


ROWS = st.lists(st.one_of(st.none(), st.integers(0, 20_000)), min_size=1, max_size=60)


@settings(max_examples=40, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=4), st.integers(0, 20_000))
def test_walking_back_gives_what_walking_forth_gives_whatever_the_times(
    rows: list[list[int | None]], moment: int
) -> None:
    """Times may go back and forth, by hours: each log keeps its order, and no line is lost or shown twice."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = {}
        for number, own in enumerate(rows):
            written = [f"{stamp(t)} line" if t is not None else "  goes on" for t in own]
            data = "\n".join([f"{stamp(own[0] or 0)} first", *written]) + "\n"
            (folder / f"{number}.log").write_text(data)
            sizes[number] = len(own) + 1
        book = merged(folder, EMPTY)
        lines = laid(book, moment)
        keys = [line.offset for line in lines.forward(0, 10_000)]
        assert keys == sorted(keys)
        assert len(keys) == len(set(keys)) == sum(sizes.values())
        assert [line.offset for line in laid(book, moment).backward(1 << 200, 10_000)] == keys
        for number in sizes:
            offsets = [offset_in(key) for key in keys if number_in(key) == number]
            assert offsets == sorted(offsets)
        middle = keys[len(keys) // 2]
        assert lines.start_of(middle) == middle
        assert [line.offset for line in lines.backward(middle, 3)] == keys[max(0, len(keys) // 2 - 3) : len(keys) // 2]
        book.close()


EMPTY = Case.model_validate(
    {
        "case": "c-0",
        "status": "unknown",
        "job": {"outcome": ""},
        "timing": {"seconds": 0, "bytes": 0},
        "verdict": {
            "cause": "unknown",
            "statement": "",
            "evidence_class": "not_in_logs",
            "action": {"kind": "none", "text": ""},
        },
    }
)


def test_one_misread_time_does_not_push_its_log_out_of_the_order(tmp_path: Path) -> None:
    rows = [f"{stamp(n)} a {n}" for n in range(40)]
    rows[20] = "2039-01-01 00:00:00.000 a far"
    (tmp_path / "a.log").write_text("\n".join(rows) + "\n")
    (tmp_path / "b.log").write_text("".join(f"{stamp(n + 0.5)} b {n}\n" for n in range(40)))
    book = merged(tmp_path, EMPTY)
    for moment in (5, 35):
        found = [text[-4:].strip() for text in texts(laid(book, moment))]
        assert found[38:44] == ["a 19", "far", "b 19", "b 20", "a 21", "b 21"]
        assert found[-2:] == ["a 39", "b 39"]
    book.close()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_packed_logs_take_part(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    rows = "".join(f"{stamp(n / 10)} packed {n} {'x' * 80}\n" for n in range(30_000)).encode()
    (tmp_path / "a.log.gz").write_bytes(pack(rows))
    (tmp_path / "b.log").write_text("".join(f"{stamp(n + 0.05)} plain {n}\n" for n in range(3_000)))
    book = merged(tmp_path, EMPTY)
    lines = laid(book, 2_000)
    here = key_of((START + 2_000) * MICRO, 0, 0)
    assert [line.text[24:36].strip() for line in lines.forward(here, 3)] == [
        "packed 20000",
        "plain 2000",
        "packed 20001",
    ]
    assert lines.backward(here, 1)[0].text[24:].startswith("packed 19999")
    book.close()


def test_a_line_of_a_megabyte_and_logs_without_times_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"{stamp(1)} a one\n{stamp(2)} {'x' * 1_000_000}\n{stamp(4)} a two\n")
    (tmp_path / "b.log").write_text(f"{stamp(3)} b one\n")
    (tmp_path / "c.log").write_text("no time\nat all\n")
    (tmp_path / "d.log").write_text("")
    book = merged(tmp_path, EMPTY)
    for moment in (0, 3, 9):
        assert [text[24:29] for text in texts(laid(book, moment))] == ["a one", "xxxxx", "b one", "a two"]
    assert book.left_out == [("c.log", "no times")]
    book.close()


def test_many_logs_are_opened_at_a_place_by_bounded_reads(tmp_path: Path) -> None:
    for number in range(MOST):
        rows = (f"{stamp(second + number / 1000)} {number} step {second}\n" for second in range(60))
        (tmp_path / f"rank-{number:03d}.log").write_text("".join(rows))
    book = merged(tmp_path, EMPTY)
    lines = laid(book, 30)
    here = key_of((START + 30) * MICRO, 0, 0)
    assert [line.text.split(" ", 2)[2] for line in lines.forward(here, 300)][:3] == [
        "0 step 30",
        "1 step 30",
        "2 step 30",
    ]
    assert all(len(strand.keys) < 50 for strand in lines.strands)
    book.close()


def test_a_log_that_vanishes_or_shrinks_while_merged_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join(f"{stamp(n)} a {n}\n" for n in range(5_000)))
    (tmp_path / "b.log").write_text("".join(f"{stamp(n + 0.5)} b {n}\n" for n in range(5_000)))
    book = merged(tmp_path, EMPTY)
    lines = laid(book, 4_000)
    here = key_of((START + 4_000) * MICRO, 0, 0)
    assert len(lines.forward(here, 20)) == 20
    (tmp_path / "a.log").write_text("short\n")
    (tmp_path / "b.log").unlink()
    said = book.file.trouble()
    assert "a.log" in said
    assert "1 more" in said
    shown = [line.text for line in lines.forward(here, 20)]
    assert any("b 4005" in text for text in shown)
    assert any("gone" in text for text in shown)
    assert laid(book, 4_000).backward(1 << 200, 3)
    book.close()


def test_finding_in_all_logs_goes_by_time_and_filters_let_pass_by_time(tmp_path: Path) -> None:
    (tmp_path / "rank-0.log").write_text("".join(f"{stamp(n)} INFO fine {n}\n" for n in range(2_000)))
    hits = {1_500: "ERROR odd", 200: "ERROR odd"}
    (tmp_path / "rank-1.log").write_text("".join(f"{stamp(n)} {hits.get(n, 'INFO fine')} {n}\n" for n in range(2_000)))
    hits = {1_000: "ERROR odd"}
    (tmp_path / "rank-2.log").write_text("".join(f"{stamp(n)} {hits.get(n, 'INFO fine')} {n}\n" for n in range(2_000)))
    book = merged(tmp_path, EMPTY)
    book.look_for("odd")
    assert book.search is not None
    search = book.search
    assert wait(lambda: search.done)
    order = [(moment_in(key) // MICRO - START, number_in(key)) for key in search.hits]
    assert order == [(200, 1), (1_000, 2), (1_500, 1)]
    assert search.after(search.hits[0]) == search.hits[1]
    assert search.before(search.hits[0]) is None
    book.close()


def wait(holds: Callable[[], bool]) -> bool:
    import time

    for _ in range(3_000):
        if holds():
            return True
        time.sleep(0.01)
    return False


NODES = (("n1", 0), ("n1", 1), ("n2", 2), ("n2", 3), ("n3", 4), (None, None))


def sources_of(count: int) -> list[Source]:
    return [Source(id=number, name=f"d/f{number}.log", path=Path(f"f{number}")) for number in range(count)]


def test_logs_are_gathered_by_node_rank_and_file() -> None:
    sources = sources_of(6)

    def chosen(typed: str) -> list[int]:
        return [one.id for one in gather(sources, EMPTY, lambda one: {NODES[one.id]}, typed).sources]

    assert chosen("") == chosen("all") == [0, 1, 2, 3, 4, 5]
    assert chosen("n2") == [2, 3]
    assert chosen("n[13]") == [0, 1, 4]
    assert chosen("rank 3") == chosen("3") == chosen("r3") == chosen("rank=3") == [3]
    assert chosen("1-2, f5.log") == [1, 2, 5]
    for typed in ("n9", "rank 77", '"open', "[bold]x[/bold]"):
        with pytest.raises(UsageError):
            chosen(typed)


def test_without_a_name_many_logs_are_those_of_the_suspects_and_of_a_healthy_peer() -> None:
    sources = sources_of(400)
    nodes = (
        NodeReport(node="n0", state=NodeState.AFFECTED), NodeReport(node="n1", state=NodeState.AFFECTED),
        NodeReport(node="n2", state=NodeState.HEALTHY),
    )  # fmt: skip
    case = EMPTY.model_copy(update={"suspects": (Candidate(rank=9, score=1.0),), "nodes": nodes})
    found = gather(sources, case, lambda one: {(f"n{one.id // 8}", one.id)})
    assert [one.id for one in found.sources] == [9, *range(16, 24)]
    found = gather(sources, EMPTY, lambda one: {(f"n{one.id // 8}", one.id)})
    assert (len(found.sources), found.more) == (MOST, 400 - MOST)
    assert "400 logs" in found.words
