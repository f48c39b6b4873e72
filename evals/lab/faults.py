"""What can happen inside a laboratory job: one function a kind or a flavour of it, keyed in `CALLBACKS`.

Each takes the run, the value at hand and details, and returns the value (changed or not) if it returns at all. What it
does is the real thing wherever the CPU allows it. Launched, this file is called `callbacks.py`, and its functions bear
names of ordinary training code, since tracebacks print both. Times are seconds.
"""

from __future__ import annotations

import ctypes
import logging
import mmap
import os
import resource
import signal
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist

Detail = Mapping[str, Any]


class Run(Protocol):
    """What a callback may use of the harness."""

    rank: int
    world: int

    def say(self, text: str, level: int = ...) -> None:
        """A line of the job."""


def nothing(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """Only tells that the place was reached."""
    return value


def check_sample(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """An ordinary exception of user code: a key that a sample lacks."""
    sample = {"input_ids": list(range(5)), "index": 4711}
    return sample["labels"]


def parse_record(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """An exception with a cause: a record that is no number."""
    try:
        return int("0x1f9q")
    except ValueError as error:
        raise RuntimeError("cannot parse record 8841 of shard-00017") from error


def clip_gradients(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """An assertion of user code."""
    norm = -1.0
    assert norm >= 0.0, f"gradient norm is {norm}"


def look_up(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """An index that the embedding table does not have."""
    return torch.nn.Embedding(100, 8)(torch.tensor([3, 17, 4096]))


def project(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A matrix product of shapes that do not fit."""
    return torch.randn(8, 64) @ torch.randn(32, 64)


def end_process(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """The signal that leaves no word; also that of a Python-less crash."""
    os.kill(os.getpid(), int(detail.get("signal", signal.SIGKILL)))
    time.sleep(5)


def read_buffer(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A real segmentation fault in native code."""
    return ctypes.string_at(0)


def read_page(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A real bus error: touches a page of a file that was cut meanwhile."""
    with tempfile.TemporaryFile() as file:
        file.truncate(1 << 16)
        pages = mmap.mmap(file.fileno(), 1 << 16)
        file.truncate(0)
        return ctypes.string_at(ctypes.addressof(ctypes.c_char.from_buffer(pages, 40000)), 8)


def free_twice(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A real abort by the C library, which says why."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    block = ctypes.c_void_p(libc.malloc(24))
    libc.free(block)
    libc.free(block)


def check_state(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """An abort without a word."""
    os.abort()


def leave(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """The end without a word."""
    os._exit(int(detail.get("code", 3)))


def wait_for_data(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A rank that no longer takes part and says nothing."""
    time.sleep(3600)


def wait_for_device(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """The same, and deaf to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


def spin(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A loop that never ends, with the processor busy now and then."""
    number = 1
    while True:
        number = (number * 48271) % 2147483647
        if number % 1000 == 0:
            time.sleep(0.5)


def fetch_peer(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """Waits for a message that nobody sends."""
    dist.recv(torch.zeros(4), src=(run.rank + 1) % run.world)


def sum_metrics(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """One collective more than the others do."""
    dist.all_reduce(torch.ones(int(detail.get("size", 7))))
    return value


def pad_metrics(run: Run, value: torch.Tensor, detail: Detail) -> torch.Tensor:
    """A tensor longer than that of the others."""
    return torch.cat([value, torch.zeros(int(detail.get("more", 3)))])


def widen_metrics(run: Run, value: torch.Tensor, detail: Detail) -> torch.Tensor:
    """A tensor of another type than that of the others."""
    return value.to(torch.float64)


def slow_down(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A step that takes longer."""
    time.sleep(float(detail.get("seconds", 0.6)))
    return value


class Growth:
    """A step that takes a little longer each time."""

    calls = 0


def collect_cache(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """Takes longer each time it is called."""
    Growth.calls += 1
    time.sleep(float(detail.get("seconds", 0.08)) * Growth.calls ** float(detail.get("power", 1.0)))
    return value


def scale_inputs(run: Run, value: torch.Tensor, detail: Detail) -> torch.Tensor:
    """Inputs multiplied by something; a missing factor makes them no numbers."""
    return value * float(detail.get("factor", "nan"))


def read_sample(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A record that the data set's index promises and its shard lacks."""
    offsets = list(range(0, 4096, 512))
    return offsets[9]


def write_shard(run: Run, value: Path, detail: Detail) -> Path:
    """A storage that has no room: the file leads to a device that is always full."""
    value.unlink(missing_ok=True)
    value.symlink_to("/dev/full")
    return value


def build_cache(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """More address space than the process may have: Python's own report."""
    _lower(resource.RLIMIT_AS, _address_space() + (64 << 20))
    rows = []
    while True:
        rows.append(bytearray(8 << 20))


def grow_buffer(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """The same, reported by torch's allocator."""
    _lower(resource.RLIMIT_AS, _address_space() + (64 << 20))
    return torch.ones(1 << 30)


def stage_samples(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """More memory than the control group allows: the kernel ends the process and writes its report."""
    Path(str(detail["group"]), "cgroup.procs").write_text(str(os.getpid()), encoding="utf-8")
    rows = []
    while True:
        rows.append(bytearray(os.urandom(1 << 20)))


def open_shards(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """Files opened and never closed."""
    _lower(resource.RLIMIT_NOFILE, len(os.listdir("/proc/self/fd")) + 24)
    folder = Path(tempfile.mkdtemp(prefix="shards-"))
    return [(folder / f"shard-{number:05}.bin").open("wb") for number in range(200)]


def push_metrics(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """Loud and harmless: a collector of metrics that is not there."""
    try:
        urllib.request.urlopen("http://127.0.0.1:9/metrics", timeout=2)
    except OSError:
        run.say("failed to push metrics to http://127.0.0.1:9, will try again later", logging.ERROR)
        if detail.get("trace", True):
            logging.getLogger("metrics").exception("could not push metrics")
    return value


def warn_cache(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """Loud and harmless: a cache that has to be built anew."""
    run.say("ERROR: checksum of kernel cache does not match, fatal for the cache entry; rebuilding it", logging.ERROR)
    run.say("kernel cache rebuilt, going on")
    return value


def retry_read(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A failure that a retry heals."""
    for attempt in range(1, 4):
        try:
            if attempt < 3:
                raise OSError(5, "Input/output error", "/data/shard-00012.bin")
            break
        except OSError as error:
            run.say(f"reading failed: {error}; attempt {attempt} of 3, trying again", logging.ERROR)
            time.sleep(0.3)
    run.say("reading succeeded after 3 attempts")
    return value


def skip_sample(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A bad record that is caught, told with its traceback, and left out."""
    try:
        check_sample(run, value, detail)
    except KeyError:
        logging.getLogger("data").exception("bad record 4711, skipping it")
    return value


def reconnect(run: Run, value: Any, detail: Detail) -> Any:  # noqa: ANN401
    """A service that refuses once and is there the second time."""
    run.say("connection to the parameter store failed: Connection refused (errno 111); reconnecting", logging.WARNING)
    time.sleep(0.5)
    run.say("connection to the parameter store re-established")
    return value


def _lower(limit: int, value: int) -> None:
    resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


CALLBACKS: dict[str, Callable[[Any, Any, Detail], Any]] = {
    "mark": nothing,
    "exception/key": check_sample,
    "exception/chained": parse_record,
    "exception/assertion": clip_gradients,
    "exception/index": look_up,
    "exception/matmul": project,
    "sigkill": end_process,
    "sigsegv": read_buffer,
    "sigbus": read_page,
    "sigabrt/quiet": check_state,
    "sigabrt/libc": free_twice,
    "silent_exit": leave,
    "hang_compute/sleep": wait_for_data,
    "hang_compute/deaf": wait_for_device,
    "hang_compute/spin": spin,
    "hang_collective/absent": wait_for_data,
    "hang_collective/receive": fetch_peer,
    "extra_collective": sum_metrics,
    "wrong_shape": pad_metrics,
    "wrong_dtype": widen_metrics,
    "slow": slow_down,
    "growing_step": collect_cache,
    "scale": scale_inputs,
    "loader_exception": read_sample,
    "loader_killed": end_process,
    "loader_hang": wait_for_data,
    "device_full": write_shard,
    "memory_limit/python": build_cache,
    "memory_limit/torch": grow_buffer,
    "memory_limit/kernel": stage_samples,
    "fd_limit": open_shards,
    "benign/metrics": push_metrics,
    "benign/cache": warn_cache,
    "heals/read": retry_read,
    "heals/sample": skip_sample,
    "heals/service": reconnect,
}
"""By kind, or kind and flavour."""
