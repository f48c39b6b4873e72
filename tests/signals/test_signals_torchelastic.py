"""How ranks ended, from what torchrun leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.events.models import Scan
from assistant.signals.models import Signal, SignalKind
from assistant.signals.torchelastic import read

ScanOf = Callable[..., Scan]
PEER = "RuntimeError: Connection closed by peer [10.0.0.7]:4711"


def entry(index: int, rank: int, local: int, code: str, error_file: str = "<N/A>", text: str = "") -> str:
    """One entry of a failure block."""
    return (
        f"[{index}]:\n  time      : 2026-01-31_12:00:0{index}\n  host      : n01\n"
        f"  rank      : {rank} (local_rank: {local})\n"
        f"  exitcode  : {code}\n  error_file: {error_file}\n  traceback : {text}\n"
    )


def block(root: str, *others: str) -> str:
    """A failure block as torchrun frames it."""
    line = "=" * 60
    rule = "-" * 60
    rest = "".join(others) or "  <NO_OTHER_FAILURES>\n"
    head = f"{line}\ntrain.py FAILED\n{rule}\nFailures:\n"
    return f"{head}{rest}{rule}\nRoot Cause (first observed failure):\n{root}{line}\n"


def closing(pid: int) -> str:
    """The agent stops a worker."""
    return f"W0131 12:00:01.000000 77 torch/api.py:1028] Sending process {pid} closing signal SIGTERM\n"


def write(root: Path, name: str, text: str) -> None:
    """A file below the job's folder."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def report(message: str, stamp: int = 1769860800) -> str:
    """An error file as `@record` writes it."""
    extra = {"py_callstack": "Traceback ...", "timestamp": str(stamp)}
    return json.dumps({"message": {"message": message, "extraInfo": extra}})


def by_kind(signals: tuple[Signal, ...], kind: SignalKind) -> dict[int | None, Signal]:
    """The signals of one kind by rank."""
    return {signal.rank: signal for signal in signals if signal.kind is kind}


def test_a_killed_rank_ends_by_itself_and_its_peers_are_closed(tmp_path: Path, scan_of: ScanOf) -> None:
    victim = entry(1, 0, 0, "-15 (pid: 101)  (SIGTERM)", text="Signal 15 (SIGTERM) received by PID 101")
    killed = entry(0, 1, 1, "-9 (pid: 102)  (SIGKILL)", text="Signal 9 (SIGKILL) received by PID 102")
    write(tmp_path, "launcher.log", closing(101) + block(killed, victim))
    signals = read(scan_of(tmp_path))
    assert by_kind(signals, SignalKind.EXIT)[1].exitcode == -9
    assert list(by_kind(signals, SignalKind.CLOSED)) == [0]
    assert list(by_kind(signals, SignalKind.FIRST_FAILURE)) == [1]


def test_a_process_terminated_by_somebody_else_is_no_victim_of_the_launcher(tmp_path: Path, scan_of: ScanOf) -> None:
    write(tmp_path, "launcher.log", block(entry(0, 3, 3, "-15 (pid: 104)  (SIGTERM)")))
    assert by_kind(read(scan_of(tmp_path)), SignalKind.EXIT)[3].exitcode == -15


def test_a_worker_that_does_not_obey_is_still_closed_by_the_launcher(tmp_path: Path, scan_of: ScanOf) -> None:
    forced = (
        "W0131 12:00:31.000000 77 torch/api.py:1047] Unable to shutdown process 101 via Signals.SIGTERM, "
        "forcefully exiting via Signals.SIGKILL\n"
    )
    deaf = entry(1, 0, 0, "-9 (pid: 101)  (SIGKILL)")
    write(tmp_path, "launcher.log", closing(101) + forced + block(entry(0, 1, 1, "1 (pid: 102) "), deaf))
    assert by_kind(read(scan_of(tmp_path)), SignalKind.CLOSED)[0].exitcode == -9


def test_the_evidence_is_the_exact_line_at_its_offset(tmp_path: Path, scan_of: ScanOf) -> None:
    write(tmp_path, "launcher.log", "début\n" + block(entry(0, 1, 1, "-9 (pid: 102)  (SIGKILL)")))
    place = by_kind(read(scan_of(tmp_path)), SignalKind.EXIT)[1].evidence[0]
    data = (tmp_path / "launcher.log").read_bytes()
    assert data[place.offset :].split(b"\n")[0].decode() == place.text == "  exitcode  : -9 (pid: 102)  (SIGKILL)"
    assert data[: place.offset].count(b"\n") + 1 == place.line


def test_the_rank_without_an_error_file_is_named_with_its_global_rank(tmp_path: Path, scan_of: ScanOf) -> None:
    for local in range(4):
        write(tmp_path, f"run_a1/attempt_0/{local}/stderr.log", "")
        if local != 2:
            write(tmp_path, f"run_a1/attempt_0/{local}/error.json", report(PEER))
    missing = by_kind(read(scan_of(tmp_path)), SignalKind.NO_ERROR_FILE)
    assert list(missing) == [2]


def test_nobody_is_silent_where_no_rank_writes_error_files(tmp_path: Path, scan_of: ScanOf) -> None:
    for local in range(4):
        write(tmp_path, f"run_a1/attempt_0/{local}/stderr.log", "")
    assert read(scan_of(tmp_path)) == ()


def test_local_ranks_of_several_launchers_become_global_by_their_blocks(tmp_path: Path, scan_of: ScanOf) -> None:
    for node in range(3):
        path = f"/job/n{node}/run_{node}x/attempt_0/0/error.json"
        write(tmp_path, f"n{node}/run_{node}x/attempt_0/0/error.json", report(PEER))
        write(tmp_path, f"n{node}/launcher.log", block(entry(0, 7 - node, 0, "1 (pid: 9) ", path)))
    assert set(by_kind(read(scan_of(tmp_path)), SignalKind.ERROR_FILE)) == {5, 6, 7}


def test_the_last_unknown_launcher_has_the_ranks_that_are_left(tmp_path: Path, scan_of: ScanOf) -> None:
    for node in range(4):
        write(tmp_path, f"n{node}/run_{node}x/attempt_0/0/stderr.log", "")
        if node != 2:
            write(tmp_path, f"n{node}/run_{node}x/attempt_0/0/error.json", report(PEER))
    ranks = {f"n{node}/run_{node}x/attempt_0/0/stderr.log": node for node in (0, 1, 3)}
    assert list(by_kind(read(scan_of(tmp_path, ranks)), SignalKind.NO_ERROR_FILE)) == [2]


def test_error_times_are_brought_to_the_launchers_clock(tmp_path: Path, scan_of: ScanOf) -> None:
    path = "/job/run_a1/attempt_0/1/error.json"
    utc_noon = 1769860800
    write(tmp_path, "run_a1/attempt_0/1/error.json", report(PEER, utc_noon - 2 * 3600))
    write(tmp_path, "launcher.log", block(entry(0, 1, 1, "1 (pid: 9) ", path)))
    assert by_kind(read(scan_of(tmp_path)), SignalKind.ERROR_FILE)[1].time == utc_noon


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"message": 7}', '{"other": "x"}', '{"message": {"message": "x", "extraInfo": ', "\x00\x01"],
)
def test_what_is_no_error_report_is_passed_over(tmp_path: Path, scan_of: ScanOf, text: str) -> None:
    write(tmp_path, "run_a1/attempt_0/0/error.json", text)
    assert not by_kind(read(scan_of(tmp_path)), SignalKind.ERROR_FILE)


def test_a_plain_string_message_and_an_error_code_are_read(tmp_path: Path, scan_of: ScanOf) -> None:
    text = json.dumps({"message": "worker died", "errorCode": 137, "timestamp": 1769860800})
    write(tmp_path, "run_a1/attempt_0/0/error.json", text)
    signal = by_kind(read(scan_of(tmp_path)), SignalKind.ERROR_FILE)[0]
    assert (signal.value, signal.exitcode, signal.time) == ("worker died", 137, 1769860800.0)


def test_the_rendezvous_result_maps_local_to_global_ranks(tmp_path: Path, scan_of: ScanOf) -> None:
    head = "I0131 11:59:00.000000 77 torch/distributed/elastic/agent/server/api.py:553]   "
    write(tmp_path, "n01/launcher.log", f"{head}local_ranks=[0, 1]\n{head}global_ranks=[6, 7]\n")
    mapped = by_kind(read(scan_of(tmp_path)), SignalKind.RANK_MAP)
    assert {rank: signal.local_rank for rank, signal in mapped.items()} == {6: 0, 7: 1}


def test_a_launcher_that_was_told_to_stop_says_so(tmp_path: Path, scan_of: ScanOf) -> None:
    line = "W0131 12:00:00.000000 77 torch/api.py:753] Received 15 death signal, shutting down workers\n"
    write(tmp_path, "launcher.log", line + closing(101))
    kinds = [(signal.kind, signal.value) for signal in read(scan_of(tmp_path))]
    assert kinds == [(SignalKind.CLOSED, "SIGTERM"), (SignalKind.STOPPED, "SIGTERM")]


def test_failures_of_earlier_attempts_are_told_apart_by_the_attempt_folders(tmp_path: Path, scan_of: ScanOf) -> None:
    failed = "E0131 12:00:0{n}.000000 77 torch/api.py:1002] failed (exitcode: 1) local_rank: {n} (pid: 20{n}) of x\n"
    for attempt in range(2):
        for local in range(2):
            write(tmp_path, f"n01/run_a1/attempt_{attempt}/{local}/stderr.log", "")
    last = block(entry(0, 1, 1, "1 (pid: 201) "))
    write(tmp_path, "n01/launcher.log", failed.format(n=0) + failed.format(n=1) + last)
    exits = by_kind(read(scan_of(tmp_path)), SignalKind.EXIT)
    assert {rank: signal.attempt for rank, signal in exits.items()} == {0: 0, 1: 1}


def test_blocks_of_several_launchers_in_one_labelled_file_are_kept_apart(tmp_path: Path, scan_of: ScanOf) -> None:
    first = block(entry(0, 0, 0, "1 (pid: 11) ")).splitlines()
    second = block(entry(0, 4, 0, "-9 (pid: 22)  (SIGKILL)")).splitlines()
    woven = "".join(f"0: {a}\n1: {b}\n" for a, b in zip(first, second, strict=True))
    write(tmp_path, "slurm.out", woven)
    exits = by_kind(read(scan_of(tmp_path)), SignalKind.EXIT)
    assert {rank: signal.exitcode for rank, signal in exits.items()} == {0: 1, 4: -9}


def test_a_block_larger_than_a_record_is_read_whole(tmp_path: Path, scan_of: ScanOf) -> None:
    stack = "Traceback (most recent call last):\n" + '    File "train.py", line 1, in f\n' * 400 + "  KeyError: 'x'"
    others = [entry(n, n, n, f"1 (pid: {100 + n}) ", text=stack) for n in range(1, 8)]
    write(tmp_path, "launcher.log", block(entry(0, 0, 0, "1 (pid: 100) ", text=stack), *others))
    exits = by_kind(read(scan_of(tmp_path)), SignalKind.EXIT)
    assert sorted(rank for rank in exits if rank is not None) == list(range(8))
    assert exits[5].value == "KeyError: 'x'"


def test_a_cut_block_gives_what_is_there(tmp_path: Path, scan_of: ScanOf) -> None:
    whole = block(entry(0, 1, 1, "-9 (pid: 102)  (SIGKILL)"))
    write(tmp_path, "launcher.log", whole[: whole.index("  error_file")])
    assert by_kind(read(scan_of(tmp_path)), SignalKind.EXIT)[1].exitcode == -9


def test_the_block_of_torch_1_9_is_read(tmp_path: Path, scan_of: ScanOf) -> None:
    head = f"{'*' * 40}\n         train.py FAILED\n{'=' * 40}\nRoot Cause:\n[0]:\n  time: 2021-08-31_09:50:37\n"
    rest = '  rank: 3 (local_rank: 3)\n  exitcode: -9 (pid: 18)\n  error_file: <N/A>\n  msg: "Signal 9 (SIGKILL)"\n'
    write(tmp_path, "launcher.log", f"{head}{rest}{'=' * 40}\nOther Failures:\n  <NO_OTHER_FAILURES>\n{'*' * 40}\n")
    first = by_kind(read(scan_of(tmp_path)), SignalKind.FIRST_FAILURE)[3]
    assert (first.exitcode, first.value) == (-9, '"Signal 9 (SIGKILL)"')


@pytest.mark.parametrize("filler", ["=" * 5000 + "x", " " * 5000, "[0]:" * 1200, "rank : " * 700, "\x00\x1b[31m" * 500])
def test_hostile_lines_inside_a_block_do_no_harm(tmp_path: Path, scan_of: ScanOf, filler: str) -> None:
    whole = block(entry(0, 1, 1, "-9 (pid: 102)  (SIGKILL)"))
    cut = whole.index("  exitcode")
    write(tmp_path, "launcher.log", whole[:cut] + f"{filler}\n" * 50 + whole[cut:])
    assert by_kind(read(scan_of(tmp_path)), SignalKind.EXIT)[1].exitcode == -9
