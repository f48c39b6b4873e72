"""How soon the real command shows something: `python -m evals.chat_start [--mb 300] [--times 5]`. Prints a table.

In a real pseudo-terminal, from the start of the process: the verdict on the screen beside `rootrank diagnose` of the
same logs in the same run, turn by turn; how soon escape ends a reading; how soon a long conversation stands again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pexpect

from assistant.answers.models import Done, Question, Standing, Text, ToolFinished, ToolStarted
from assistant.answers.sessions import SessionStore
from assistant.tools.models import ResultStatus

PATIENCE = 300
LINE = "2031-04-02 10:00:00 [INFO] train: step {step:09d} of an ordinary run, loss 2.5, with words enough for a line\n"
CRASH = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
CAUSE = "memory.gpu_oom"
EVENTS, EACH = 5_000, 50
"""Of the long conversation: all its events, and those of one turn."""
LAST = "the last words of it"


def environment(home: Path) -> dict[str, str]:
    """A home and a data folder of its own, so that nothing is found there that was kept before."""
    return {
        **os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config"),
        "TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORTERM": "truecolor",
    }  # fmt: skip


def job(folder: Path, megabytes: int) -> Path:
    """The log of one rank that ran out of memory in the end."""
    folder.mkdir()
    with (folder / "rank-0.log").open("w") as file:
        step = 0
        while file.tell() < megabytes * 1_000_000:
            file.write("".join(LINE.format(step=n) for n in range(step, step + 10_000)))
            step += 10_000
        file.write(CRASH)
    return folder


def diagnosed(logs: Path, env: Mapping[str, str]) -> float:
    """Seconds that `rootrank diagnose` takes, its report included."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "assistant.cli", "diagnose", str(logs)]
    ended = subprocess.run(command, env=dict(env), capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert CAUSE in ended.stdout, ended.stderr
    return time.monotonic() - begun


def started(env: Mapping[str, str], *arguments: str) -> pexpect.spawn:
    """`rootrank chat` in a pseudo-terminal of 140 by 40."""
    command = ["-m", "assistant.cli", "chat", *arguments]
    return pexpect.spawn(
        sys.executable, command, dimensions=(40, 140), env=dict(env), encoding="utf-8", codec_errors="replace",
        timeout=PATIENCE,
    )  # fmt: skip


def shown(env: Mapping[str, str], words: str, *arguments: str) -> float:
    """Seconds from the start of the command until words stand on the screen."""
    begun = time.monotonic()
    child = started(env, *arguments)
    child.expect_exact(words)
    seconds = time.monotonic() - begun
    ended(child)
    return seconds


def ended(child: pexpect.spawn) -> None:
    """Quits."""
    child.send("\x11")
    child.expect(pexpect.EOF)
    child.close()


def cancelled(logs: Path, env: Mapping[str, str]) -> tuple[float, float]:
    """Seconds from escape until the screen is left, and until the process has ended."""
    child = started(env, str(logs))
    child.expect(r"[1-9][0-9.]* MB of")
    begun = time.monotonic()
    child.send("\x1b")
    child.expect_exact("\x1b[?1049l")
    left = time.monotonic() - begun
    child.expect(pexpect.EOF)
    ended = time.monotonic() - begun
    child.close()
    return left, ended


def long_session(data: Path, case: str) -> str:
    """A stored conversation of many events about a stored case; its id."""
    with SessionStore(data).new(case=case, revision=1, answerer="offline", program="eval") as writer:
        for turn in range(EVENTS // EACH):
            writer.ask(Question(text=f"Question {turn}?"))
            for event in _turn(turn, last=turn == EVENTS // EACH - 1):
                writer.add(event)
        return writer.header.session


def _turn(turn: int, *, last: bool) -> Iterator[ToolStarted | ToolFinished | Text | Done]:
    for row in range(10):
        name = f"T{10 * turn + row + 1}"
        yield ToolStarted(call=name, tool="grep_log", arguments={"pattern": "x"})
        yield ToolFinished(call=name, tool="grep_log", status=ResultStatus.FOUND, text="a row of a result\n" * 30)
    for number in range(1, EACH - 20):
        text = LAST if last and number == EACH - 21 else f"Sentence {number} says that **rank {number}** was slow."
        yield Text(number=number, text=f"{text}\n\n", standing=Standing.PLAIN)
    yield Done(answerer="offline")


def measure(folder: Path, megabytes: int, times: int) -> Iterator[tuple[str, list[float]]]:
    """The rows of the table, in seconds."""
    env = environment(folder)
    for words, size in (("a small log", 1), (f"a log of {megabytes} MB", megabytes)):
        logs = job(folder / f"job-{size}", size)
        pairs = [(diagnosed(logs, env), shown(env, CAUSE, str(logs))) for _ in range(times)]
        yield f"`rootrank diagnose` of {words}", [one for one, _ in pairs]
        yield "the verdict on the screen of `rootrank chat`, same log", [other for _, other in pairs]
        yield "the second less the first", [other - one for one, other in pairs]
    ends = [cancelled(folder / f"job-{megabytes}", env) for _ in range(times)]
    yield "escape while it reads, until the screen is left", [left for left, _ in ends]
    yield "the same, until the process has ended", [ended for _, ended in ends]
    data = folder / "data/rootrank"
    case = next(path.name for path in (data / "cases").iterdir() if path.name.startswith("c-"))
    session = long_session(data, case)
    yield (
        f"a conversation of {EVENTS:,} events taken up again, until its end is on the screen",
        [shown(env, LAST, "--session", session) for _ in range(times)],
    )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=300)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    print("| what | median, s | shortest, s | longest, s |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        for what, values in measure(Path(name), given.mb, given.times):
            cells = (statistics.median(values), min(values), max(values))
            print(f"| {what} | {' | '.join(f'{value:.2f}' for value in cells)} |", flush=True)


if __name__ == "__main__":
    main()
