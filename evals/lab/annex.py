"""DeepSpeed beside the running environment rather than in it: a virtual environment that borrows what is installed.

`python -m evals.lab.annex` makes it once and prints its interpreter; the laboratory run with that one can use the
recipe. Also here: the command line of DeepSpeed's own launcher, for one node and without ssh.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

REQUIREMENT = "deepspeed==0.19.8"
LIMIT = 600.0
"""Seconds that the installation may take."""


def folder() -> Path:
    """Where it lies; `ROOTRANK_LAB` overrides the parent."""
    parent = os.environ.get("ROOTRANK_LAB")
    return (Path(parent) if parent else user_cache_path("rootrank") / "lab") / REQUIREMENT.replace("==", "-")


def python() -> Path:
    """Its interpreter."""
    return folder() / "bin" / "python"


def build() -> str | None:
    """Makes it unless it is ready; None, or the reason why it cannot be made."""
    ready = folder() / "ready"
    if ready.is_file():
        return None
    try:
        venv.create(folder(), with_pip=True, clear=True)
        _borrow()
        _run(["-m", "pip", "install", "--quiet", REQUIREMENT], DS_BUILD_OPS="0")
        _run(["-c", "import deepspeed"])
    except (subprocess.SubprocessError, OSError) as problem:
        said = getattr(problem, "stderr", None) or str(problem)
        return str(said).strip().splitlines()[-1][:300]
    ready.touch()
    return None


def _borrow() -> None:
    """Lets it import what the running environment has; its own packages come first."""
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder()), "platbase": str(folder())}))
    (own / "zz_borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")


def _run(words: Sequence[str], **variables: str) -> None:
    environment = {**os.environ, "DS_ACCELERATOR": "cpu", **variables}
    environment["PATH"] = f"{folder() / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    command = [str(python()), *words]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT, env=environment)


def launcher(interpreter: str, hosts: Sequence[str], ranks: int, node: int, master: tuple[str, int]) -> list[str]:
    """DeepSpeed's launcher on one node of several, each with so many ranks; the script and its options follow.

    A file per rank, as torchrun keeps them, is an option of it: `--enable_each_rank_log=FOLDER`.
    """
    world = {host: list(range(ranks)) for host in hosts}
    told = base64.urlsafe_b64encode(json.dumps(world).encode()).decode()
    words = [interpreter, "-u", "-m", "deepspeed.launcher.launch", f"--world_info={told}", f"--node_rank={node}"]
    return [*words, f"--master_addr={master[0]}", f"--master_port={master[1]}", "--log_level=info", "--no_local_rank"]


if __name__ == "__main__":
    reason = build()
    print(reason or python(), file=sys.stderr if reason else sys.stdout)
    sys.exit(1 if reason else 0)
