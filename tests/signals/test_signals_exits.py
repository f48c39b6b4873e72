"""How processes ended, in the words of srun, MPI and DeepSpeed launchers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.events.models import Scan
from assistant.intake.nodelists import expand_hosts as hosts
from assistant.intake.nodelists import expand_numbers as numbers
from assistant.signals.exits import read
from assistant.signals.models import SignalKind

ScanOf = Callable[..., Scan]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("7", (7,)), ("0-3,9", (0, 1, 2, 3, 9)), ("2,4", (2, 4)), ("x,5", (5,)), ("3-1", ()), ("", ())],
)
def test_task_lists_are_expanded(text: str, expected: tuple[int, ...]) -> None:
    assert numbers(text) == expected


def test_absurd_task_lists_stay_bounded() -> None:
    assert len(numbers("0-999999999")) <= 100_000
    assert len(hosts("n[0-999999999]")) <= 100_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [("n07", ("n07",)), ("n[07-09,12]", ("n07", "n08", "n09", "n12")), ("a1,b[2-3]", ("a1", "b2", "b3"))],
)
def test_host_lists_are_expanded(text: str, expected: tuple[str, ...]) -> None:
    assert hosts(text) == expected


def found(root: Path, scan_of: ScanOf, text: str) -> list[tuple[str, str | None, int | None, int | None]]:
    """Kind, node, rank and exit code of each signal in a file of this text."""
    (root / "job.out").write_text(text, encoding="utf-8")
    return [(signal.kind.value, signal.node, signal.rank, signal.exitcode) for signal in read(scan_of(root))]


def test_srun_names_node_task_and_code(tmp_path: Path, scan_of: ScanOf) -> None:
    assert found(tmp_path, scan_of, "srun: error: n07: task 12: Exited with exit code 1\n") == [("exit", "n07", 12, 1)]


def test_srun_lists_of_terminated_tasks_are_victims(tmp_path: Path, scan_of: ScanOf) -> None:
    text = "srun: error: n07: task 3: Segmentation fault (core dumped)\nsrun: error: n08: tasks 4-5: Terminated\n"
    assert found(tmp_path, scan_of, text) == [
        ("exit", "n07", 3, -11),
        ("closed", "n08", 4, -15),
        ("closed", "n08", 5, -15),
    ]


def test_what_srun_kills_after_it_ended_the_step_is_closed(tmp_path: Path, scan_of: ScanOf) -> None:
    first = "srun: error: n01: task 0: Killed\n"
    ends = "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
    last = "srun: error: n02: task 1: Killed\n"
    assert [kind for kind, *_ in found(tmp_path, scan_of, first + ends + last)] == ["exit", "closed"]


def test_a_thousand_tasks_of_one_template_are_all_seen(tmp_path: Path, scan_of: ScanOf) -> None:
    text = "".join(f"srun: error: n{task // 8:03}: task {task}: Exited with exit code 1\n" for task in range(1000))
    assert len(found(tmp_path, scan_of, text)) == 1000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "mpirun noticed that process rank 3 with PID 4711 on node n07 exited on signal 9 (Killed).",
            ("exit", "n07", 3, -9),
        ),
        ("  Process name: [[12345,1],3]\n  Exit code:    1", ("exit", None, 3, 1)),
        ("  Process name: [prterun-n01-99@1,5]\n  Exit code:    2", ("exit", None, 5, 2)),
        ("=   RANK 2 PID 99 RUNNING AT n04\n=   KILLED BY SIGNAL: 9 (Killed)", ("exit", "n04", 2, -9)),
        ("=   PID 99 RUNNING AT n04\n=   EXIT CODE: 255", ("exit", "n04", None, 255)),
        (
            "[2026-01-31 12:00:00,000] [ERROR] [launch.py:321:sigkill_handler] ['python', 'x.py', '--local_rank=3'] "
            "exits with return code = -9",
            ("exit", None, None, -9),
        ),
        (
            "CalledProcessError: Command '['python', 'x.py', '--local_rank=1']' died with <Signals.SIGSEGV: 11>.",
            ("exit", None, None, -11),
        ),
    ],
)
def test_other_launchers(
    tmp_path: Path, scan_of: ScanOf, text: str, expected: tuple[str, str | None, int | None, int | None]
) -> None:
    assert found(tmp_path, scan_of, f"before\n{text}\nafter\n") == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "srun: error: Unable to allocate resources: Requested node configuration is not available",
        "srun: error: n07: task 12: Exited with a smile",
        "exits with return code = 0",
        "Process name: worker",
        "CalledProcessError: Command 'nvidia-smi' returned non-zero exit status 9.",
    ],
)
def test_what_only_looks_like_an_end_is_none(tmp_path: Path, scan_of: ScanOf, text: str) -> None:
    assert found(tmp_path, scan_of, f"{text}\n") == []


def test_only_ends_are_read(tmp_path: Path, scan_of: ScanOf) -> None:
    (tmp_path / "job.out").write_text("MPI_ABORT was invoked on rank 6 in communicator MPI_COMM_WORLD\n")
    signal = read(scan_of(tmp_path))[0]
    assert (signal.kind, signal.rank, signal.value) == (SignalKind.EXIT, 6, "MPI_ABORT")
