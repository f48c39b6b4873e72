"""Whom a launcher's or a kernel's line speaks of."""

from __future__ import annotations

import pytest

from assistant.faults.library import load_library
from assistant.faults.subjects import Subject, subjects

LIBRARY = load_library()


@pytest.mark.parametrize(
    ("entry", "text", "subject"),
    [
        (
            "sigkill-exit",
            "failed (exitcode: -9) local_rank: 3 (pid: 812) of binary: /usr/bin/python",
            Subject(local_rank=3, pid=812, exitcode=-9, signal=9),
        ),
        (
            "sigkill-exit",
            "srun: error: gpu-a17: task 21: Exited with exit code 137",
            Subject(node="gpu-a17", task=21, exitcode=137, signal=9),
        ),
        ("sigkill-exit", "srun: error: gpu-a17: tasks 0-3: Killed", Subject(node="gpu-a17")),
        (
            "segfault-exit",
            "  rank      : 6 (local_rank: 2)\n  exitcode  : -11 (pid: 5011)\n",
            Subject(rank=6, local_rank=2, pid=5011, exitcode=-11, signal=11),
        ),
        (
            "sigkill-exit",
            "ProcessExitedException: process 2 terminated with signal SIGKILL",
            Subject(local_rank=2, signal=9),
        ),
        (
            "nonzero-exit",
            "srun: error: node-17: task 10: Exited with exit code 1",
            Subject(node="node-17", task=10, exitcode=1),
        ),
        (
            "nan-on-rank",
            "Rank 13: found NaN in local grad norm for bucket #0. Device: 5, node: gpu-b07",
            Subject(rank=13, device="5", node="gpu-b07"),
        ),
        (
            "nan-on-rank",
            "Unexpected result nan on rank 21 at iteration #4400 invocation #1 (message='found NaN in local loss')",
            Subject(rank=21, iteration=4400),
        ),
        (
            "nonzero-exit",
            "[rank: 2] Child process with PID 4021 terminated with code 1. Forcefully terminating all other processes",
            Subject(local_rank=2, pid=4021, exitcode=1),
        ),
        ("gpu-out-of-memory", "CUDA out of memory. Tried to allocate 1 GiB. GPU 3 has a total capacity of 80 GiB",
         Subject(device="3")),
        ("host-oom-kernel", "Out of memory: Killed process 40112 (python)", Subject(pid=40112)),
        ("disk-full", "No space left on device", Subject()),
        ("disk-full", "all is well", Subject()),
    ],
)  # fmt: skip
def test_a_record_names_its_subject(entry: str, text: str, subject: Subject) -> None:
    assert subjects(LIBRARY[entry], text) == subject


def test_a_number_too_long_to_read_is_no_number() -> None:
    text = f"failed (exitcode: -9) local_rank: {'9' * 5000} (pid: 1) of binary: x"
    assert subjects(LIBRARY["sigkill-exit"], text).local_rank is None


def test_deepspeed_names_its_last_rank_only_so_nobody_is_named() -> None:
    text = "['/usr/bin/python3', '-u', 't.py', '--local_rank=7'] exits with return code = -9"
    assert subjects(LIBRARY["sigkill-exit"], text) == Subject(exitcode=-9, signal=9)
