"""`rootrank chat` as it is typed: from a pipe, broken off while it reads, asked for what is not there."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path

import pexpect
import pytest

from assistant.answers.sessions import SessionStore
from assistant.case.store import CaseStore
from assistant.tui.commands import COMMANDS
from tests.tui.conftest import write_job
from tests.tui.terminal import PATIENCE, ask, started

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
    child.expect("offline")
    ask(child, "/open E1")
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
        ("nosuch", "no log in nosuch: no such file", 3),
        ("nosuch --serve", "no log in nosuch: no such file", 3),
        ("empty nosuch --attach nothere", "--attach nothere: no such file", 3),
        ("several", "holds 2 jobs", 3),
        ("several --job 9", "no job '9'", 2),
        ("last --job 9", "no stored case", 4),
        ("several --job job-1 --profile nobody", "no model profile 'nobody'", 4),
        ("empty", "the folder is empty", 3),
        ("hollow", "empty", 3),
        ("c-0123456789", "no stored case", 4),
        ("--session last", "no session is stored yet", 4),
        ("--session s-20310402-01234567", "no session is stored yet", 4),
        ("last", "case", 4),
        ("''", "nothing to open", 2),
        ("", "nothing to open", 2),
    ],
)
def test_what_is_not_there_is_said_in_two_lines(tmp_path: Path, what: str, said: str, code: int) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "hollow").mkdir()
    (tmp_path / "hollow" / "rank-0.log").touch()
    for number in (1, 2):
        write_job(tmp_path / "several" / f"job-{number}")
    child = shell(f"cd {tmp_path}; {CHAT} {what}", columns=200)
    child.expect("error: ")
    child.expect(said)
    child.expect("hint: ")
    child.expect(f"ended with {code}")


def test_one_of_several_jobs_is_chosen_by_its_name(tmp_path: Path) -> None:
    for number in (1, 2):
        write_job(tmp_path / "several" / f"job-{number}")
    child = started(str(tmp_path / "several"), "--job", "job-2")
    child.expect("memory.gpu_oom")
    child.expect("offline")
    child.send("\x11")
    child.expect(pexpect.EOF)
    stored = CaseStore(Path(os.environ["ROOTRANK_DATA_DIR"])).load("last")
    assert stored.inputs.options["job"] == "job-2"
    child = shell(f"{CHAT} last --job job-2", columns=200)
    child.expect("one job already")
    child.expect("ended with 2")


def test_a_session_whose_case_was_removed_says_what_is_left_of_it(own_home: Path) -> None:
    store = SessionStore(Path(os.environ["ROOTRANK_DATA_DIR"]))
    with store.new(case="c-0123456789", revision=1, answerer="offline", program="test") as writer:
        name = writer.header.session
    child = shell(f"{CHAT} --session last", columns=200)
    child.expect("is stored no more")
    child.expect(f"rootrank sessions show {name}")
    child.expect("ended with 4")


def test_the_help_names_every_command_of_the_workplace() -> None:
    output = pexpect.run(f"{CHAT} --help", timeout=PATIENCE, env={**os.environ, "TERM": "dumb"}).decode()
    for command in COMMANDS:
        assert f"/{command.name}" in output
    for option in ("--serve", "--port", "--job", "--session", "--attach", "--no-save"):
        assert option in output
