"""`rootrank chat` as it is typed: from a pipe, broken off while it reads, asked for what is not there."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path

import pexpect
import pytest

from tests.tui.terminal import PATIENCE, started

CHAT = f"{shlex.quote(sys.executable)} -m assistant.cli chat"


def shell(command: str, rows: int = 24, columns: int = 80) -> pexpect.spawn:
    """A command line in a terminal; its last line tells the exit code of `chat`."""
    environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    return pexpect.spawn(
        "bash", ["-c", f"set -o pipefail; {command}; echo ended with $?"], dimensions=(rows, columns), env=environment,
        encoding="utf-8", codec_errors="replace", timeout=PATIENCE,
    )  # fmt: skip


def test_logs_from_a_pipe_are_talked_about_with_the_keys_of_the_terminal(job: Path) -> None:
    child = shell(f"cat {job}/node-02/rank-5.log | {CHAT} -")
    child.expect("memory.gpu_oom")
    child.send("/open E1\r")
    child.expect("of 85")
    child.send("q")
    child.expect("offline")
    child.send("\x11")
    child.expect("ended with 0")


def test_nothing_piped_in_is_a_refusal_not_a_wait() -> None:
    child = shell(f"{CHAT} -")
    child.expect("nothing is piped in")
    child.expect("ended with 2")


@pytest.mark.parametrize("keys", ["\x03", "\x1b", "\x11"], ids=["ctrl-c", "escape", "ctrl-q"])
def test_a_read_that_never_ends_is_broken_off_at_once(tmp_path: Path, keys: str) -> None:
    pipe = tmp_path / "endless"
    os.mkfifo(pipe)
    child = shell(f"{CHAT} - < {pipe}")
    writing = os.open(pipe, os.O_WRONLY)
    try:
        os.write(writing, b"2031-04-02 10:00:00 [INFO] train: Step: 1/90\n")
        child.expect("Reading the logs")
        child.expect("Cancel")
        child.send(keys)
        child.expect("ended with 0")
    finally:
        os.close(writing)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_good_order(job: Path, number: signal.Signals) -> None:
    child = started(str(job))
    child.expect("offline")
    child.send("half typed")
    child.expect("half typed")
    child.kill(number)
    child.expect(r"\x1b\[\?1049l")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    data = Path(os.environ["ROOTRANK_DATA_DIR"])
    assert (data / "chat" / "history.jsonl").read_text().splitlines()[-1] == '"half typed"'


@pytest.mark.parametrize(
    ("what", "said", "code"),
    [
        ("nosuch", "no such file", 3),
        ("empty", "the folder is empty", 3),
        ("hollow", "empty", 3),
        ("c-0123456789", "no stored case", 4),
        ("--session last", "session", 4),
        ("--session s-20310402-01234567", "no stored session", 4),
        ("last", "case", 4),
        ("''", "nothing to open", 2),
        ("", "nothing to open", 2),
    ],
)
def test_what_is_not_there_is_said_in_two_lines(tmp_path: Path, what: str, said: str, code: int) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "hollow").mkdir()
    (tmp_path / "hollow" / "rank-0.log").touch()
    child = shell(f"cd {tmp_path}; {CHAT} {what}", columns=200)
    child.expect("error: ")
    child.expect(said)
    child.expect("hint: ")
    child.expect(f"ended with {code}")
