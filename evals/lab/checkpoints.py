"""The first phase of a job that goes on: a short run that writes a checkpoint, which is then spoiled or left intact."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from evals.lab.job import Checkpoint, Job
from evals.lab.workplace import furnish

LIMIT = 150.0
"""Seconds the first phase may take."""


def prepare(job: Job, scratch: Path, workplaces: list[Path]) -> None:
    """Writes the checkpoint of the job into the workplace of every node."""
    wanted = job.checkpoint
    if wanted is None:
        return
    good = _first_phase(job, scratch / "first", wanted.step, 64)
    bad = _first_phase(job, scratch / "wide", wanted.step, 96) if wanted.how == "wide" else good
    for workplace in workplaces:
        _lay_out(job, wanted, workplace, good, bad)


def _first_phase(job: Job, folder: Path, step: int, hidden: int) -> Path:
    """One rank trains to the step; the file it wrote."""
    furnish(job.recipe, folder)
    settings = {"voice": "plain", "steps": step, "save_every": step, "pace": 0.0, "hidden": hidden}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
    alone = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "train.py", "--config", "config.json"]
    environment = {**os.environ, **alone, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=LIMIT)
    return folder / "checkpoints" / f"step-{step}" / "model.pt"


def _lay_out(job: Job, wanted: Checkpoint, workplace: Path, good: Path, bad: Path) -> None:
    folder = workplace / "checkpoints" / f"step-{wanted.step}"
    sharded = bool(job.settings.get("sharded"))
    struck = wanted.how != "intact"
    for rank in range(job.world) if sharded else (None,):
        target = folder / ("model.pt" if rank is None else f"rank-{rank:02}/model.pt")
        target.parent.mkdir(parents=True, exist_ok=True)
        hit = struck and (rank is None or rank in wanted.ranks)
        shutil.copy(bad if hit else good, target)
        if hit:
            spoil(target, wanted.how)


def spoil(file: Path, how: str) -> None:
    """Cuts, garbles, empties or removes a file; `wide` files are spoiled by what they hold."""
    data = file.read_bytes()
    if how == "cut":
        file.write_bytes(data[: len(data) * 6 // 10])
    elif how == "garbled":
        garbled = bytes(255 - byte for byte in data[128:640])  # where the structure stands: numbers have no checksum
        file.write_bytes(data[:128] + garbled + data[640:])
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "removed":
        file.unlink()
