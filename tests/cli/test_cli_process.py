"""The command as a process: exit codes, which stream gets what, signals, pipes, a real terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

import orjson
import pytest

from assistant.cli.exit_codes import ExitCode

CHECKOUT = Path(__file__).resolve().parents[2]


def started(behaviour: str, *arguments: str, **more: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.cli.stub", behaviour, *arguments]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": CHECKOUT, **more}
    return subprocess.Popen(command, **given)  # type: ignore[call-overload, no-any-return]


def ran(behaviour: str, *arguments: str, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    process = started(behaviour, *arguments, env={**os.environ, **(environment or {})})
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [("healthy", 0), ("failed", 10), ("unknown", 11), ("incomplete", 12)],
)
def test_a_verdict_is_data_and_an_exit_code(behaviour: str, code: int) -> None:
    assert ran(behaviour, "diagnose", "x", "--json")[0] == code
    ended, out, err = ran(behaviour, "diagnose", "x", "--json", "--exit-zero")
    assert ended == 0
    assert orjson.loads(out)["schema"] == "rootrank.case/1"
    assert err == ""


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        ("UsageError", ExitCode.USAGE),
        ("NothingFound", ExitCode.INPUT),
        ("NotALog", ExitCode.INPUT),
        ("SeveralJobs", ExitCode.INPUT),
        ("ConfigError", ExitCode.CONFIG),
        ("UnknownBaseline", ExitCode.CONFIG),
        ("KnowledgeError", ExitCode.CONFIG),
    ],
)
def test_a_refusal_is_two_lines_on_standard_error(behaviour: str, code: int) -> None:
    ended, out, err = ran(behaviour, "diagnose", "x", "--exit-zero")
    assert (ended, out) == (code, "")
    assert err == "error: cannot do it\nhint: do something else\n"


def test_a_fault_of_ours_shows_no_traceback_unless_asked_for() -> None:
    ended, out, err = ran("crash", "diagnose", "x")
    assert (ended, out) == (70, "")
    first, second = err.splitlines()
    assert first.startswith("error: internal error: RuntimeError: a line and \\x1b[2J another (stub.py:")
    assert "ROOTRANK_DEBUG=1" in second
    assert "Traceback" in ran("crash", "diagnose", "x", environment={"ROOTRANK_DEBUG": "1"})[2]


@pytest.mark.parametrize(
    "arguments", [["diagnose"], ["diagnose", "--nope", "x"], ["nope"], ["diagnose", "x", "--threads", "0"]]
)
def test_a_wrong_command_line_is_two_lines_too(arguments: list[str]) -> None:
    ended, out, err = ran("healthy", *arguments)
    assert (ended, out) == (2, "")
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"]


def test_no_command_prints_the_help() -> None:
    ended, out, err = ran("healthy")
    assert ended == 2
    assert "diagnose" in out
    assert err == ""


def test_ctrl_c_ends_with_130_and_one_word() -> None:
    process = started("wait", "diagnose", "x")
    assert process.stderr
    assert process.stderr.readline() == b"waiting\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")


@pytest.mark.parametrize("form", [[], ["--json"], ["--markdown"]])
def test_a_reader_that_leaves_early_is_no_error(form: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = started("failed", "diagnose", "x", *form, stdout=write_end)
    os.close(write_end)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (10, b"")


def test_a_terminal_that_knows_only_ascii_gets_everything_spelled_out() -> None:
    ended, out, err = ran("failed", "diagnose", "x", environment={"PYTHONIOENCODING": "ascii"})
    assert (ended, err) == (10, "")
    assert "FAILED \\xb7 memory.gpu_oom" in out


def on_terminal(behaviour: str, *arguments: str, columns: int = 80, rows: int = 24, **environment: str) -> str:
    """What a person sees on a terminal of that size: standard output and standard error together."""
    parent, child = pty.openpty()
    ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    given = {**os.environ, "TERM": "xterm", **environment}
    process = started(behaviour, *arguments, stdin=child, stdout=child, stderr=child, env=given)
    os.close(child)
    seen = b""
    while select.select([parent], [], [], 60)[0]:
        try:
            block = os.read(parent, 65_536)
        except OSError:
            break
        if not block:
            break
        seen += block
    process.wait(timeout=60)
    os.close(parent)
    return seen.decode()


def test_the_report_fits_a_terminal_of_80x24() -> None:
    seen = on_terminal("failed", "diagnose", "x", NO_COLOR="1")
    lines = seen.replace("\r\n", "\n").rstrip("\n").split("\n")
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("FAILED · memory.gpu_oom")
    assert lines[-1] == "kept as c-0123456789; all of it: rootrank cases show c-0123456789 -v"
    assert "\x1b" not in seen


def test_a_terminal_gets_colours() -> None:
    assert "\x1b[" in on_terminal("failed", "diagnose", "x", "--no-save")
    assert "\x1b[" not in on_terminal("failed", "diagnose", "x", "--no-save", ROOTRANK_OUTPUT__COLOR="never")


def test_the_documented_exit_codes_are_those_of_the_program() -> None:
    rows = (CHECKOUT / "docs/exit-codes.md").read_text().splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    documented = {int(code): name for code, name, _ in cells if code.isdecimal()}
    assert documented == {int(code): code.name for code in ExitCode}
