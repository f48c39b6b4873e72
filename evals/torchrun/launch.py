"""Starts one run of the catalogue under real torchrun and keeps what it leaves behind.

A result folder holds `job/` (what a user would hand over: a folder per node with the launcher's console and torchrun's
log tree, or that of the single node) and `truth.json`. Times are seconds.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path

from evals.torchrun.cases import Run

SCRIPT = Path(__file__).with_name("train.py")
LIMIT = 60.0
"""Longest a run may take before its launchers are stopped."""
GRACE = 6.0
"""How long launchers may outlive the first that failed."""


def have_torch() -> bool:
    """Whether this interpreter can run torchrun."""
    from importlib.util import find_spec

    return find_spec("torch") is not None


def perform(run: Run, folder: Path, *, timeout: float = 15.0) -> Path:
    """Runs it and returns the folder with `job/` and `truth.json`; anything older there is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    job = folder / "job"
    job.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="run-") as scratch:
        workplace = Path(scratch)
        shutil.copy(SCRIPT, workplace / "train.py")
        with closing(socket.socket()) as holder:
            port = _free_port(holder, keep=run.occupied)
            launchers = [
                _start(run, node, job, workplace, port, timeout) for node in range(run.nodes) if node not in run.absent
            ]
            _watch(run, launchers)
    truth = asdict(run)
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")
    return folder


def _free_port(holder: socket.socket, *, keep: bool) -> int:
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("", 0))
    port = int(holder.getsockname()[1])
    if keep:
        holder.listen()
    else:
        holder.close()
    return port


def _node_folder(run: Run, node: int, job: Path) -> Path:
    folder = job / run.hosts[node] if run.nodes > 1 else job
    folder.mkdir(exist_ok=True)
    return folder


def _start(run: Run, node: int, job: Path, workplace: Path, port: int, timeout: float) -> subprocess.Popen[bytes]:
    folder = _node_folder(run, node, job)
    command = _pretend_host(run.hosts[node]) + _torchrun(run, node, folder, port) + _script(run, workplace, timeout)
    with (folder / "launcher.log").open("wb") as console:
        return subprocess.Popen(
            command,
            cwd=workplace,
            env=_environment(run),
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _pretend_host(name: str) -> list[str]:
    """A private host name, where the kernel lets us have one; torchrun prints it in its failure block."""
    if not shutil.which("unshare"):
        return []
    trial = subprocess.run(["unshare", "--uts", "hostname", name], capture_output=True, check=False)
    if trial.returncode != 0:
        return []
    return ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name]


def _torchrun(run: Run, node: int, folder: Path, port: int) -> list[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(run.nodes)]
    command += ["--nproc-per-node", str(run.per_node)]
    command += ["--max-restarts", str(run.restarts), "--log-dir", str(folder / "torchrun")]
    if run.streams != "console":
        command += [f"--{run.streams}", "3"]
    if run.rendezvous == "c10d":
        command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-id", "1177"]
        return [*command, "--local-addr", "127.0.0.1", "--rdzv-conf", "join_timeout=25"]
    command += ["--node-rank", str(node), "--master-addr", "127.0.0.1", "--master-port", str(port)]
    return [*command, "--rdzv-conf", "timeout=12"]


def _script(run: Run, workplace: Path, timeout: float) -> list[str]:
    rank = -1 if run.rank is None else run.rank
    words = [str(workplace / "train.py"), "--voice", run.voice, "--who-logs", run.who_logs, "--steps", str(run.steps)]
    words += ["--timeout", str(timeout), "--callback", run.mishap, "--rank", str(rank), "--step", str(run.step)]
    words += ["--when", run.when, "--attempt", str(run.attempt)]
    return words if run.record else [*words, "--plain-main"]


def _environment(run: Run) -> dict[str, str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    environment |= {"GLOO_SOCKET_IFNAME": "lo", "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "4"}
    if run.restarts:
        environment["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"  # else gloo finds the addresses of the dead attempt
    if run.verbose:
        environment["LOGLEVEL"] = "INFO"
    if run.debug:
        environment["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
    return environment


def _watch(run: Run, launchers: list[subprocess.Popen[bytes]]) -> None:
    """Waits for all launchers. Once one has failed the others get GRACE seconds and are then stopped, as srun does."""
    began = time.monotonic()
    deadline = began + LIMIT
    told = False
    while any(launcher.poll() is None for launcher in launchers):
        now = time.monotonic()
        if any(launcher.returncode for launcher in launchers if launcher.returncode is not None):
            deadline = min(deadline, now + GRACE)
        if now >= deadline or _due(run, now - began, told):
            _stop(launchers, hard=(told and now >= deadline) or run.reaper == "kill")
            told, deadline = True, now + LIMIT
        time.sleep(0.2)


def _due(run: Run, elapsed: float, told: bool) -> bool:
    return not told and run.terminate_after is not None and elapsed >= run.terminate_after


def _stop(launchers: list[subprocess.Popen[bytes]], *, hard: bool) -> None:
    for launcher in launchers:
        if launcher.poll() is not None:
            continue
        if hard:
            for worker in _children(launcher.pid):
                os.kill(worker, signal.SIGKILL)
            launcher.kill()
        else:
            launcher.send_signal(signal.SIGTERM)


def _children(parent: int) -> list[int]:
    """Direct children; workers have sessions of their own, so the launcher's group does not reach them."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found
