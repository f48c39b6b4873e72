"""The real command in a pseudo-terminal, offline: from logs to an answer, and a terminal that vanishes."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pexpect
import pytest

from assistant.answers.sessions import SessionStore
from tests.tui.terminal import PATIENCE, started


@pytest.fixture
def data(own_home: Path) -> Path:
    return Path(os.environ["ROOTRANK_DATA_DIR"])


def state_of(process: int) -> str:
    """`T` for a process that is stopped."""
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]


def stopped(child: pexpect.spawn) -> bool:
    """Asks it to suspend until it is stopped; a key that comes while a screen changes may be lost."""
    for _ in range(5):
        child.send("\x1a")
        begun = time.monotonic()
        while time.monotonic() - begun < 5:
            if state_of(child.pid) == "T":
                return True
            time.sleep(0.05)
    return False


def awake(child: pexpect.spawn, wanted: object) -> None:
    """Wakes it until something comes: keys sent to suspend it may still have been waiting, and suspend it again."""
    for _ in range(PATIENCE):
        if state_of(child.pid) == "T":
            os.kill(child.pid, signal.SIGCONT)
        if child.expect([wanted, pexpect.TIMEOUT], timeout=1) == 0:
            return
    raise AssertionError(f"{wanted} did not come")


def test_from_logs_to_an_answer_that_is_kept(job: Path, data: Path) -> None:
    child = started(str(job))
    child.expect("memory.gpu_oom")
    child.expect("offline")
    child.send("What failed?")
    child.expect("What failed")
    child.send("\r")
    child.expect("Next:")
    child.setwinsize(12, 50)
    child.send("\x11")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    session = SessionStore(data).load("last")
    assert session.turns[0].question.text == "What failed?"
    assert "Rank 5" in session.turns[0].answer


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc whether a process is stopped")
def test_suspending_and_coming_back_keeps_what_is_typed(job: Path) -> None:
    child = started(str(job))
    child.expect("offline")
    child.send("half typed")
    child.expect("half typed")
    assert stopped(child)
    os.kill(child.pid, signal.SIGCONT)
    child.send(" and more")
    awake(child, "half typed and more")
    os.kill(child.pid, signal.SIGTERM)
    awake(child, pexpect.EOF)
    child.close()
    assert child.exitstatus is not None or child.signalstatus is not None


def test_a_lost_terminal_ends_the_process_and_keeps_the_session(job: Path, data: Path) -> None:
    child = started(str(job))
    child.expect("offline")
    child.send("What failed?")
    child.expect("What failed")
    child.send("\r")
    child.expect("Next:")
    os.close(child.child_fd)
    child.closed = True
    _, status = os.waitpid(child.pid, 0)
    child.terminated = True
    assert os.waitstatus_to_exitcode(status) in (0, 129, -1)
    assert "Rank 5" in SessionStore(data).load("last").turns[0].answer


def test_a_pipe_is_refused_with_the_command_that_does_it(job: Path) -> None:
    output, code = pexpect.run(
        f"sh -c '{sys.executable} -m assistant.cli chat {job} < /dev/null'", withexitstatus=True, timeout=PATIENCE
    )
    assert code == 2
    assert b"rootrank explain" in output
