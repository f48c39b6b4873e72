"""How one pretend node is started: host name, mounts, permissions, environment, and torchrun's command line."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evals.lab.job import Job, Mount


@dataclass(frozen=True, slots=True)
class Place:
    """Where one node of one run lives."""

    node: int
    logs: Path
    """Its folder within the job's folder."""
    workplace: Path
    master: str
    port: int
    interface: str = "lo"
    prefix: tuple[str, ...] = ()
    """Words before the command: those that enter a network namespace."""
    address: str = "127.0.0.1"


@cache
def can_unshare() -> bool:
    """Whether private host names and mounts can be had: that needs root and `unshare`."""
    return os.geteuid() == 0 and shutil.which("unshare") is not None


def command(job: Job, place: Place) -> list[str]:
    """The whole command of a node's launcher."""
    words = [*_torchrun(job, place), str(place.workplace / "train.py"), "--config", "config.json"]
    mounts = [mount for mount in job.mounts if mount.node == place.node]
    if any(mount.how == "closed" for mount in mounts) and os.geteuid() == 0:
        lost = "-dac_override,-dac_read_search,-sys_admin"  # so that root heeds permissions too
        words = ["setpriv", "--bounding-set", lost, "--inh-caps", lost, *words]
    if can_unshare():
        script = " && ".join(['hostname "$0"', *(_mounting(mount, place) for mount in mounts), 'exec "$@"'])
        words = ["unshare", "--uts", "--mount", "sh", "-c", script, job.hosts[place.node], *words]
    return [*place.prefix, *words]


def _mounting(mount: Mount, place: Place) -> str:
    path = shlex.quote(str(place.workplace / mount.path))
    how = {
        "full": f"mount -t tmpfs -o size=8k tmpfs {path}",
        "read_only": f"mount --bind {path} {path} && mount -o remount,bind,ro {path}",
        "closed": f"chmod 0555 {path}",
    }[mount.how]
    return f"mkdir -p {path} && {how}"


def _torchrun(job: Job, place: Place) -> list[str]:
    words = [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(job.nodes)]
    words += ["--nproc-per-node", str(job.per_node), "--max-restarts", str(job.restarts)]
    words += ["--log-dir", str(place.logs / "torchrun")]
    if job.streams != "console":
        words += [f"--{job.streams}", "3"]
    if job.rendezvous == "c10d":
        patience = 12 if job.late or job.absent else 25
        words += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"{place.master}:{place.port}", "--rdzv-id", "1177"]
        return [*words, "--local-addr", place.address, "--rdzv-conf", f"join_timeout={patience}"]
    words += ["--node-rank", str(place.node), "--master-addr", place.master, "--master-port", str(place.port)]
    return [*words, "--local-addr", place.address, "--rdzv-conf", "timeout=12"]


def environment(job: Job, place: Place) -> dict[str, str]:
    """The variables of a launcher and its ranks."""
    own = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")}
    own |= {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC"}
    own |= {"GLOO_SOCKET_IFNAME": place.interface, "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "4"}
    own |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    if job.restarts:
        own["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"  # else gloo finds the addresses of the dead attempt
    if job.verbose:
        own["LOGLEVEL"] = "INFO"
    return own
