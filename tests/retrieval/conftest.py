"""A small knowledge folder, settings that need no model, and a real Chroma server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from assistant.config import Retrieval, Settings, Storage
from assistant.retrieval.tuning import tuning

CHECKOUT = Path(__file__).resolve().parents[2]

FAULTS = """
- id: gpu-gone
  title: The GPU fell off the bus (Xid 79)
  cause: hardware.gpu_lost
  role: root
  signatures: [{regex: 'Xid.{0,40}: 79\\b'}]
  explanation: The driver cannot reach the device any more.
  action: {kind: replace_node, text: Drain the node and power it off and on.}
  examples: {match: ['NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.']}
- id: gpu-oom
  title: A rank ran out of accelerator memory
  cause: memory.gpu_oom
  role: root
  signatures: [{regex: 'CUDA out of memory'}]
  explanation: An allocation did not fit on the device.
  action: {kind: free_resource, text: Lower the micro batch.}
  examples: {match: ['RuntimeError: CUDA out of memory. Tried to allocate 2 GiB']}
"""

INCIDENTS = """
- id: flood-of-79
  title: A rack lost its GPUs after a firmware update
  date: 2024-03-01
  source: https://example.org/rack
  checked: read
  cause: hardware.gpu_lost
  symptom: One node after another lost a device within an hour.
  log_lines: [GPU has fallen off the bus]
  root_cause: Power supply firmware
  fix: Rolled the firmware back
  action: replace_node
  faults: [gpu-gone]
  codes: [Xid 79]
"""

PAGES = {
    "network/gid.md": """---
id: gid
title: Choosing the RoCE address index
product: NCCL
vendor: nvidia
layer: network
versions: ">=2.10,<2.21"
codes: [NCCL_IB_GID_INDEX]
source: https://example.org/gid
checked: read
---

# The index

Which entry of the port's address table is used. A wrong one makes queue pairs fail to connect.

## Traps

Routed fabrics need the version 2 entry.
""",
    "process/kill.md": """---
id: kill
title: A process that was killed from outside
product: Linux
vendor: linux
layer: process
codes: [exit 137]
source: https://example.org/kill
checked: secondary
---

## What it means

Somebody sent the kill signal: the out-of-memory killer, the scheduler, or a person.
""",
    "storage/full.md": """---
id: full
title: The checkpoint volume ran full
product: Slurm
vendor: schedmd
layer: storage
source: https://example.org/full
checked: unverified
---

## What it looks like

Writing the optimizer state stops half-way because there is no room left on the volume.
""",
}


@pytest.fixture(autouse=True)
def _fresh_tuning() -> Iterator[None]:
    tuning.cache_clear()
    yield
    tuning.cache_clear()


@pytest.fixture
def knowledge(tmp_path: Path) -> Path:
    """A folder with two library entries, three pages and an incident."""
    folder = tmp_path / "knowledge"
    for name, text in {"faults/gpu.yaml": FAULTS, "incidents/public.yaml": INCIDENTS}.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
    for name, text in PAGES.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def settings_of(tmp_path: Path, **retrieval: object) -> Settings:
    """Settings with the embedder that needs nothing, unless another one is named."""
    return Settings(
        storage=Storage(data_dir=tmp_path / "data"),
        retrieval=Retrieval.model_validate({"embedder": "hashing", "timeout_seconds": 20.0, **retrieval}),
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Those, with vectors in the data folder."""
    return settings_of(tmp_path)


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real server on loopback, stopped by its own process id."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("chroma")
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder), "--host", "127.0.0.1"]
    environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, "--port", str(port)], stdout=log, stderr=log, env=environment)
    try:
        yield _ready(f"http://127.0.0.1:{port}", server)
    finally:
        server.terminate()
        server.wait(timeout=30)


def _ready(url: str, server: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + 120
    while time.monotonic() < until and server.poll() is None:
        try:
            if httpx.get(f"{url}/api/v2/heartbeat", timeout=2).is_success:
                return url
        except httpx.HTTPError:
            time.sleep(0.1)
    raise AssertionError("the Chroma server did not come up")
