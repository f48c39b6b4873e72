"""The real command against hostile logs, names, streams and folders: a verdict or two lines, never a traceback."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
STEPS = "".join(f"2026-03-04 05:00:{i:02} [rank0] iteration {i}/ 1000 | loss: 2.1\n" for i in range(60))
FAILURE = """Traceback (most recent call last):
  File "/app/train.py", line 12, in main
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.15 GiB
"""
ACTS = "\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07 \x1b]0;t\x07 \x1b[2J \x9b31m \u202e [bold]x[/bold] [/] [rank0] :smile:"
ENDLESS = "9" * 5000
ACTED_ON = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
COMMAND = [sys.executable, "-m", "assistant.cli"]


def environment(folder: Path, **more: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("ROOTRANK_")}
    return {**own, "ROOTRANK_DATA_DIR": str(folder / "store"), "ROOTRANK_HOME": str(folder / "home"), **more}


def ran(
    folder: Path, *arguments: str | bytes | Path, given: bytes | None = None, **more: str
) -> tuple[int, str, list[str]]:
    """Exit code, standard output, and the lines of standard error."""
    process = subprocess.run(
        [*COMMAND, "diagnose", *arguments],
        input=given or b"",
        capture_output=True,
        env=environment(folder, **more),
        cwd=CHECKOUT,
        timeout=300,
    )
    out, err = process.stdout.decode(), process.stderr.decode()
    assert process.returncode != 70, err
    assert "Traceback" not in err
    assert not ACTED_ON.search(err)
    return process.returncode, out, err.splitlines()


def shell(folder: Path, line: str) -> tuple[int, str, str]:
    process = subprocess.run(
        ["sh", "-c", line.replace("ROOTRANK", " ".join(COMMAND))],
        capture_output=True,
        env=environment(folder),
        cwd=CHECKOUT,
        timeout=120,
    )
    return process.returncode, process.stdout.decode(), process.stderr.decode()


def log(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("form", ["--json", "--markdown", "-v"])
def test_nothing_in_lines_or_names_reaches_the_terminal_as_a_command(tmp_path: Path, form: str) -> None:
    logs = tmp_path / "logs"
    for name in ("\x1b]52;c;aGk=\x07.log", "a\nb.log", "[bold]x[/bold].log", "\u202egol.txt", "-dash.log"):
        log(logs, name, STEPS + FAILURE.replace("CUDA", f"{ACTS} CUDA"))
    (logs / os.fsdecode(b"bad\xff.log")).write_text(STEPS + FAILURE)
    code, out, _ = ran(tmp_path, logs, form)
    assert code == 10
    assert not ACTED_ON.search(out)
    assert "memory.gpu_oom" in out.replace("\\", "")


def test_a_log_whose_name_is_no_unicode_is_diagnosed_and_kept(tmp_path: Path) -> None:
    path = os.fsencode(log(tmp_path, "x.log", STEPS + FAILURE).rename(tmp_path / os.fsdecode(b"bad\xff.log")))
    code, out, err = ran(tmp_path, path, "--json")
    assert (code, err) == (10, [])
    assert orjson.loads(out)["evidence"][0]["source"] == "bad\\xff.log"
    assert list((tmp_path / "store" / "cases").glob("c-*/1.json"))


@pytest.mark.parametrize("number", [ENDLESS, "9" * 25, "²"])
def test_numbers_beyond_reason_change_no_verdict(tmp_path: Path, number: str) -> None:
    lines = [
        f"[rank{number}]: iteration {number}/ {number} | loss: {number}",
        f"using world size: {number}, data-parallel size: {number}, tensor-model-parallel size: {number}",
        f"srun: error: n[0-{number}]: tasks 0-{number}: Killed",
        f"  rank      : {number} (local_rank: {number})",
        f"  exitcode  : {number} (pid: {number})",
        f"n1:{number}:{number} [{number}] NCCL INFO comm 0x1 rank {number} nranks {number} cudaDev {number} busId 1",
        f'{{"log": "x", "time": {number if number.isdecimal() and number.isascii() else 1}}}',
    ]
    log(tmp_path, f"logs/attempt_{number[:200]}/0/stderr.log", "\n".join(lines) + "\n")
    log(tmp_path, "logs/rank-0.log", STEPS + "\n".join(lines) + "\n" + FAILURE)
    code, out, _ = ran(tmp_path, tmp_path / "logs", "--json")
    assert code == 10
    assert orjson.loads(out)["status"] == "failed"


def test_absurd_lists_of_tasks_cost_nothing(tmp_path: Path) -> None:
    lines = "".join(f"srun: error: n[0-99999999]: tasks {i}-99999999: Killed\n" for i in range(2000))
    assert ran(tmp_path, log(tmp_path, "a.log", STEPS + lines))[0] in (10, 11, 12)


def test_lines_that_share_no_word_are_read(tmp_path: Path) -> None:
    chosen = random.Random(1)
    words = ["".join(chosen.choices("abcdefghij", k=7)) for _ in range(5000)]
    lines = "".join("ERROR: " + " ".join(chosen.choices(words, k=8)) + " failed\n" for _ in range(30_000))
    assert ran(tmp_path, log(tmp_path, "a.log", lines + FAILURE), "--no-save")[0] == 10


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([""], 2),
        (["LOG", "--baseline", ""], 2),
        (["LOG", "--baseline", "nope"], 4),
        (["LOG", "--since", "nonsense"], 2),
        (["LOG", "--since", "2099-01-01"], 3),
        (["LOG", "--since", "2026-03-04T06:00", "--until", "2026-03-04T05:00"], 3),
        (["LOG", "--job", "nope"], 2),
        (["LOG", "--topology", f"tp={ENDLESS}"], 2),
        (["LOG", "--without", "nope"], 2),
        (["/proc/self/mem"], 3),
        (["/dev/zero"], 3),
    ],
)
def test_what_cannot_be_done_is_refused_in_two_lines(tmp_path: Path, arguments: list[str], code: int) -> None:
    path = str(log(tmp_path, "a.log", STEPS + FAILURE))
    ended, out, err = ran(tmp_path, *(path if one == "LOG" else one for one in arguments))
    assert (ended, out) == (code, "")
    assert [line.split(":")[0] for line in err] == ["error", "hint"]


@pytest.mark.parametrize(
    "text", ["[cases\n", f"[limits]\nline_bytes={ENDLESS}", f"[cases]\nsave={'[' * 3000}", "[cases]\nsave='maybe'"]
)
def test_a_broken_settings_file_is_refused_in_two_lines(tmp_path: Path, text: str) -> None:
    path = log(tmp_path, "rootrank.toml", text)
    code, _, err = ran(tmp_path, log(tmp_path, "a.log", FAILURE), ROOTRANK_CONFIG=str(path))
    assert (code, len(err)) == (4, 2)


def test_a_width_beyond_reason_is_no_width(tmp_path: Path) -> None:
    path = log(tmp_path, "a.log", STEPS + FAILURE)
    for columns in ("1000000000", ENDLESS, "²", "1"):
        code, out, _ = ran(tmp_path, path, "--no-save", COLUMNS=columns)
        assert code == 10
        assert len(out) < 100_000


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, as Linux has it")
@pytest.mark.parametrize(
    ("line", "code", "out", "err"),
    [
        ("ROOTRANK diagnose LOG >/dev/full", 2, "", "error: cannot write to standard output"),
        ("ROOTRANK diagnose LOG >&-", 10, "", ""),
        ("ROOTRANK diagnose LOG 2>&-", 10, "FAILED", ""),
        ("ROOTRANK diagnose /nope 2>/dev/full", 3, "", ""),
        ("ROOTRANK diagnose - <&-", 3, "", "error: no log in -: closed"),
        ("ROOTRANK --help >/dev/full", 2, "", "error: cannot write"),
    ],
)
def test_closed_and_full_streams_end_in_words(tmp_path: Path, line: str, code: int, out: str, err: str) -> None:
    path = log(tmp_path, "a.log", STEPS + FAILURE)
    ended, shown, told = shell(tmp_path, line.replace("LOG", f"'{path}'"))
    assert ended == code
    assert shown.startswith(out)
    assert told.startswith(err)
    assert "internal error" not in shown + told


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="files without a name are a thing of Linux here")
def test_nothing_of_standard_input_is_left_when_the_command_is_killed(tmp_path: Path) -> None:
    spool = tmp_path / "tmp"
    spool.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "diagnose", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment(tmp_path, TMPDIR=str(spool)),
        cwd=CHECKOUT,
    )
    assert process.stdin
    process.stdin.write(STEPS.encode() * 1000)
    process.stdin.flush()
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    process.stdin.close()
    assert list(spool.iterdir()) == []
    assert not (tmp_path / "store").exists()


def test_eight_runs_at_once_leave_one_whole_case(tmp_path: Path) -> None:
    path = log(tmp_path, "a.log", STEPS + FAILURE)
    runs = [
        subprocess.Popen(
            [*COMMAND, "diagnose", str(path), "--json"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(tmp_path),
            cwd=CHECKOUT,
        )
        for _ in range(8)
    ]
    assert {(run.communicate(timeout=300)[1], run.returncode) for run in runs} == {(b"", 10)}
    (kept,) = (file for file in (tmp_path / "store").rglob("*") if file.is_file())
    assert orjson.loads(kept.read_bytes())["case"]["status"] == "failed"


def test_the_same_input_gives_the_same_bytes_whatever_the_threads_and_hashes(tmp_path: Path) -> None:
    for rank in range(4):
        log(tmp_path, f"logs/rank-{rank}.log", STEPS.replace("rank0", f"rank{rank}") + FAILURE * (rank == 2))
    seen = set()
    for threads, seed in (("1", "1"), ("2", "2"), ("8", "3")):
        _, out, _ = ran(tmp_path, tmp_path / "logs", "--json", "--threads", threads, PYTHONHASHSEED=seed)
        case = orjson.loads(out)
        del case["timing"]
        seen.add(orjson.dumps(case))
    assert len(seen) == 1
