"""A small laboratory job written by hand: two nodes with two ranks each; rank 3 was killed."""

from __future__ import annotations

import json
from pathlib import Path

from evals.truth import Truth, TruthFile

HOSTS = ("gpu-11", "gpu-27")
FOLDERS = ("none_aaaabbbb", "none_ccccdddd")
PIDS = ((700, 701), (800, 801))
STEPS = 6
KILLED = 3
LOST = "RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:{port}. Check the logs of the remote worker."


def rank_lines(rank: int) -> list[str]:
    """What a rank writes; the killed one stops in silence."""
    host = HOSTS[rank // 2]
    lines = [f"2026-03-01 10:00:00,10{rank} INFO starting on {host}: rank {rank} of 4, pid {PIDS[rank // 2][rank % 2]}"]
    lines.append(f"2026-03-01 10:00:00,40{rank} INFO process group ready, world size 4")
    for step in range(1, STEPS + 1):
        lines.append(
            f"2026-03-01 10:00:0{step},50{rank} INFO step {step}/20 loss: 2.{rank}{step}17 step time: 20{step}.5 ms"
        )
    return lines


def error_lines(rank: int) -> list[str]:
    """The traceback of a rank that lost its peer."""
    label = f"[rank{rank}]: "
    return [
        f"{label}Traceback (most recent call last):",
        f'{label}  File "train.py", line 9, in step',
        label + LOST.format(port=4000 + rank),
    ]


def entry(node: int, local: int, code: str, why: str, number: int) -> list[str]:
    """An entry of a failure block."""
    rank = 2 * node + local
    file = f"/logs/{HOSTS[node]}/torchrun/{FOLDERS[node]}/attempt_0/{local}/error.json" if rank != KILLED else "<N/A>"
    return [
        f"[{number}]:",
        "  time      : 2026-03-01_10:00:08",
        f"  host      : {HOSTS[node]}",
        f"  rank      : {rank} (local_rank: {local})",
        f"  exitcode  : {code} (pid: {PIDS[node][local]})",
        f"  error_file: {file}",
        f"  traceback : {why}",
    ]


def console(node: int) -> list[str]:
    """A launcher's console: on the second node rank 3 was killed first, on the first one rank 0 gave up first."""
    root, other = (0, 1) if node == 0 else (1, 0)
    code = "1" if node == 0 else "-9"
    pid, rule = 600 + node, "-" * 60
    address = "torch/elastic/api.py:9]"
    return [
        f"I0301 09:59:59.100000 {pid} {address}   min_nodes                : 2",
        f"I0301 09:59:59.100000 {pid} {address}   nproc_per_node           : 2",
        f"I0301 09:59:59.100000 {pid} {address}   rdzv_endpoint            : 127.0.0.1:29500",
        f"I0301 09:59:59.100000 {pid} {address}   rdzv_configs             : {{'timeout': '12', 'rank': {node}}}",
        f"I0301 09:59:59.200000 {pid} {address}   master_addr=127.0.0.1",
        f"I0301 09:59:59.200000 {pid} {address}   group_world_size=2",
        f"I0301 09:59:59.200000 {pid} {address}   global_ranks=[{2 * node}, {2 * node + 1}]",
        f"I0301 09:59:59.200000 {pid} {address}   global_world_sizes=[4, 4]",
        f"W0301 10:00:09.000000 {pid} {address} Sending process {PIDS[node][other]} closing signal SIGTERM",
        f"E0301 10:00:09.500000 {pid} {address} failed (exitcode: {code}) local_rank: {root} (pid: {PIDS[node][root]})",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
        "=" * 60,
        "train.py FAILED",
        rule,
        "Failures:",
        *entry(node, other, "-15", "Signal 15 (SIGTERM) received", 1),
        rule,
        "Root Cause (first observed failure):",
        *entry(node, root, code, f"Signal 9 (SIGKILL) received by PID {PIDS[node][root]}" if node else "see above", 0),
        "=" * 60,
    ]


def job_files() -> dict[str, str]:
    """Every file of the job."""
    files = {f"{HOSTS[node]}/launcher.log": "\n".join(console(node)) + "\n" for node in range(2)}
    for rank in range(4):
        node, local = divmod(rank, 2)
        folder = f"{HOSTS[node]}/torchrun/{FOLDERS[node]}/attempt_0/{local}"
        files[f"{folder}/stdout.log"] = "\n".join(rank_lines(rank)) + "\n"
        if rank != KILLED:
            files[f"{folder}/stderr.log"] = "\n".join(error_lines(rank)) + "\n"
            report = {"message": LOST.format(port=4000 + rank), "timestamp": "1772359208"}
            files[f"{folder}/error.json"] = json.dumps({"message": report})
    return files


TRUTH = Truth.model_validate(
    {
        "job": "job-001",
        "kind": "sigkill",
        "recipe": "ddp",
        "dialect": "timed",
        "world_size": 4,
        "nodes": HOSTS,
        "seed": 1,
        "injected": [
            {"kind": "sigkill", "rank": 3, "node": "gpu-27", "iteration": 7, "time": "2026-03-01T10:00:07+00:00"}
        ],
        "provable": {
            "status": "failed",
            "causes": ["process.killed"],
            "ranks": [3],
            "nodes": ["gpu-27"],
            "iteration": 7,
        },
        "labels": [
            {"role": "initiating", "pattern": "failed .exitcode: -9. local_rank: 1 ", "source": "gpu-27/launcher.log"},
            {
                "role": "initiating",
                "pattern": "SIGKILL",
                "source": "gpu-27/launcher.log",
                "first_line": 10,
                "last_line": 32,
            },
            {
                "role": "cascade",
                "pattern": "Connection closed",
                "source": "gpu-11/torchrun/none_aaaabbbb/attempt_0/0/stderr.log",
            },
        ],
        "settings": {"streams": "redirects"},
    }
)


def write_set(folder: Path) -> Path:
    """A set of this one job, as a folder."""
    for path, text in job_files().items():
        file = folder / TRUTH.job / "job" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    told = TruthFile.model_validate({"schema": "rootrank.truth/1", "jobs": [TRUTH]})
    (folder / "truth.json").write_text(told.model_dump_json(by_alias=True))
    return folder
