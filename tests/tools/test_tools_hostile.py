"""Tools on hostile, huge and vanishing logs."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

from assistant.tools.models import ResultStatus
from evals.desks import Opened, read

Maker = Callable[..., Opened]
FAILED = "2026-01-01 00:00:01 step 1 loss 2.0\n[rank0]: RuntimeError: CUDA error: an illegal memory access\n"


def test_escapes_and_direction_marks_are_spelled_out(made: Maker) -> None:
    job = made(rank0=FAILED + "\x1b[2J\x1b]0;title\x07 [bold]x[/bold] \u202e txt\u200b \x9b31m\n")
    result = job.calls().call("grep_log", {"pattern": "bold"})
    assert result.text.replace("\n", "").isprintable()
    assert "[bold]x[/bold]" in result.text


def test_a_line_of_many_megabytes_is_cut_and_the_next_one_still_read(made: Maker) -> None:
    job = made(rank0=FAILED.encode() + b"x" * (9 << 20) + b"\nthe line after\n")
    calls = job.calls()
    window = calls.call("read_window", {"source": "rank0.log", "line": 3, "before": 0, "after": 1})
    assert [item.line for item in window.evidence] == [3, 4]
    assert len(window.text) < 2000
    assert "the line after" in window.text
    assert calls.call("grep_log", {"pattern": "^the line"}).evidence[0].line == 4


def test_grep_over_a_million_lines_counts_them_and_stays_small(made: Maker) -> None:
    job = made(rank0=FAILED.encode() + b"abc\n" * 1_000_000)
    result = job.calls().call("grep_log", {"pattern": "abc"})
    assert result.text.startswith(("1000000 ", "1,000,000 "))
    assert (len(result.evidence), result.omitted) == (30, 999_970)


def test_an_expression_made_to_explode_does_not(made: Maker) -> None:
    job = made(rank0=FAILED.encode() + b"a" * 200_000 + b"!\n")
    calls = job.calls()
    for pattern in ("(a+)+$", "(a|a)*b", "(.*)*x", "a{1000}", "((a{100}){100}){100}", "(?i)(?:a?){500}a{500}"):
        assert calls.call("grep_log", {"pattern": pattern}).status in set(ResultStatus)


def test_broken_utf_8_and_null_bytes_hide_no_line(made: Maker) -> None:
    job = made(rank0=FAILED.encode() + b"\xff\xfe broken needle \x00 here\n" + "größe nädel 针\n".encode())
    calls = job.calls()
    assert calls.call("grep_log", {"pattern": "needle"}).status is ResultStatus.FOUND
    assert calls.call("grep_log", {"pattern": "nädel 针"}).status is ResultStatus.FOUND
    assert calls.call("grep_log", {"pattern": "(?i)NEEDLE"}).status is ResultStatus.FOUND


def test_line_ends_of_windows_do_not_move_line_numbers(made: Maker) -> None:
    job = made(rank0="step 1\r\nstep 2\r\n[rank0]: RuntimeError: bad\r\nafter\r\n")
    window = job.calls().call("read_window", {"source": "rank0.log", "line": 3, "before": 0, "after": 1})
    assert [item.text for item in window.evidence] == ["[rank0]: RuntimeError: bad", "after"]


def test_a_member_of_an_archive_is_read_like_a_file(tmp_path: Path) -> None:
    (tmp_path / "rank0.log").write_text(FAILED + "needle in a tar\n")
    (tmp_path / "job").mkdir()
    with tarfile.open(tmp_path / "job" / "logs.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "rank0.log", "n01/rank0.log")
    calls = read("tar", tmp_path / "job").calls()
    found = calls.call("grep_log", {"pattern": "needle"})
    (line,) = found.evidence
    assert "!" in line.source
    assert calls.call("read_window", {"source": line.source, "line": line.line}).status is ResultStatus.FOUND


def test_logs_that_vanish_or_shrink_while_a_case_is_open_are_reported(made: Maker) -> None:
    job = made(rank0=FAILED * 50, rank1=FAILED * 50)
    calls = job.calls()
    (job.folder / "rank0.log").unlink()
    (job.folder / "rank1.log").write_text("short\n")
    gone = calls.call("read_window", {"source": "rank0.log", "line": 3})
    cut = calls.call("read_window", {"source": "rank1.log", "line": 90})
    assert (gone.status, cut.status) == (ResultStatus.ERROR, ResultStatus.ERROR)
    assert calls.call("grep_log", {"pattern": "RuntimeError"}).status in set(ResultStatus)


def test_a_name_that_ends_several_sources_is_not_guessed(tmp_path: Path) -> None:
    for node in ("n01", "n02"):
        (tmp_path / node).mkdir()
        (tmp_path / node / "rank.log").write_text(FAILED)
    calls = read("two", tmp_path).calls()
    several = calls.call("read_window", {"source": "rank.log", "line": 1})
    assert several.status is ResultStatus.ERROR
    assert "several" in several.text
