"""One small failed job, written down in the many ways in which jobs leave their lines: the verdict stays the same.

Four ranks on two nodes, two launchers. Rank 2 is killed or raises in its fifth step; the others lose the connection.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard

from assistant.pipeline import diagnose

START = datetime(2026, 11, 29, 17, 30, tzinfo=UTC).timestamp()
GUILTY, WORLD, EACH = 2, 4, 2
PEER = "RuntimeError: [/src/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:4711."


@dataclass(frozen=True, slots=True)
class Line:
    """One line without any label; `raw` ones went to standard error, launchers have no rank."""

    time: float
    rank: int | None
    node: str
    text: str
    raw: bool = False

    @property
    def inner(self) -> str:
        """As `torchrun --tee` shows it."""
        return self.text if self.rank is None else f"[default{self.rank % EACH}]:{self.text}"

    @property
    def ranked(self) -> str:
        return self.text if self.rank is None or self.text.startswith("[rank") else f"[rank{self.rank}]: {self.text}"

    @property
    def zulu(self) -> str:
        return datetime.fromtimestamp(self.time, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


def node_of(rank: int) -> str:
    return f"n0{rank // EACH + 1}"


Say = Callable[[float, int], str]


def say_plain(time: float, step: int) -> str:
    return f"step {step} loss 2.31 lr 1.0e-03"


def say_iso(time: float, step: int) -> str:
    return f"{_clock(time, '%Y-%m-%d %H:%M:%S,000')} [INFO] train: {say_plain(time, step)}"


def say_noon(time: float, step: int) -> str:
    return f"{_clock(time, '%Y-%m-%d %I:%M:%S %p')} INFO {say_plain(time, step)}"


def say_glog(time: float, step: int) -> str:
    return f"I{_clock(time, '%m%d %H:%M:%S')}.000000 4711 train.py:88] {say_plain(time, step)}"


def say_megatron(time: float, step: int) -> str:
    return (
        f" [{_clock(time, '%Y-%m-%d %H:%M:%S')}] iteration {step:8d}/      20 | consumed samples: {32 * step:12d} | "
        "elapsed time per iteration (ms): 2000.0 | learning rate: 1.0E-03 | lm loss: 2.3E+00 |"
    )


def _clock(time: float, form: str) -> str:
    return datetime.fromtimestamp(time, UTC).strftime(form)


def worker_lines(rank: int, fault: str, say: Say) -> Iterator[Line]:
    """What one rank writes."""
    now, node = START + rank * 0.01, node_of(rank)
    for step in range(1, 5):
        now += 2
        yield Line(now, rank, node, say(now, step))
    now += 0.5 if rank == GUILTY else 1
    if rank == GUILTY and fault == "kill":
        return
    error = "KeyError: 'labels'" if rank == GUILTY else PEER
    place = '  File "/job/train.py", line 12, in step'
    for text in ("Traceback (most recent call last):", place, error):
        yield Line(now, rank, node, f"[rank{rank}]: {text}", raw=True)


def launcher_lines(node: str, fault: str) -> Iterator[Line]:
    """The end of one launcher, as torchrun reports it."""
    ranks = [rank for rank in range(WORLD) if node_of(rank) == node]
    root = GUILTY if GUILTY in ranks else ranks[0]
    now = START + (9.5 if root == GUILTY else 10.5)
    code = -9 if root == GUILTY and fault == "kill" else 1
    head, pid = f"E{_clock(now, '%m%d %H:%M:%S.%f')} 400 torch/distributed/elastic/multiprocessing/api.py:1002]", 500
    block = [
        f"{head} failed (exitcode: {code}) local_rank: {root % EACH} (pid: {pid + root}) of binary: /usr/bin/python3"
    ]
    block += ["=" * 40, "train.py FAILED", "-" * 40, "Failures:"]
    for rank in [*(r for r in ranks if r != root), root]:
        block += ["-" * 40, "Root Cause (first observed failure):", "[0]:"] if rank == root else ["[1]:"]
        block += [
            f"  time      : {_clock(now, '%Y-%m-%d_%H:%M:%S')}",
            f"  host      : {node}",
            f"  rank      : {rank} (local_rank: {rank % EACH})",
            f"  exitcode  : {code if rank == root else 1} (pid: {pid + rank})",
            "  error_file: <N/A>",
            "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
        ]
    for text in [*block, "=" * 40]:
        yield Line(now, None, node, text)


def job(fault: str, say: Say) -> list[Line]:
    """All lines in the order of their times."""
    lines = [line for rank in range(WORLD) for line in worker_lines(rank, fault, say)]
    lines += [line for node in ("n01", "n02") for line in launcher_lines(node, fault)]
    return sorted(lines, key=lambda line: line.time)


Layout = Callable[[Line], tuple[str, str]]
"""The file a line goes to, and the line as it stands there."""


def node_folders(line: Line) -> tuple[str, str]:
    name = "launcher.log" if line.rank is None else f"rank-{line.rank}.{'err' if line.raw else 'out'}"
    return f"{line.node}/{name}", line.text


def local_files(line: Line) -> tuple[str, str]:
    name = "launcher.log" if line.rank is None else f"local_rank_{line.rank % EACH}.log"
    return f"{line.node}/{name}", line.text


def rank_console(line: Line) -> tuple[str, str]:
    return "train.log", line.ranked


def node_console(line: Line) -> tuple[str, str]:
    return f"{line.node}.log", line.inner


def srun_console(line: Line) -> tuple[str, str]:
    return "slurm-8812.out", f"{int(line.node[1:]) - 1}: {line.inner}"


def pod_files(line: Line) -> tuple[str, str]:
    return f"job-worker-{line.node[-1]}.log", line.inner


def pod_prefix(line: Line) -> tuple[str, str]:
    return "pods.log", f"[pod/job-worker-{line.node[-1]}/pytorch] {line.zulu} {line.inner}"


def stamped(line: Line) -> tuple[str, str]:
    return f"{line.node}.log", f"{line.zulu} {line.inner}"


def docker(line: Line) -> tuple[str, str]:
    return f"{line.node}/4f1c-json.log", json.dumps({"log": f"{line.inner}\n", "stream": "stdout", "time": line.zulu})


def cri(line: Line) -> tuple[str, str]:
    cut = 30
    parts = [line.inner[at : at + cut] for at in range(0, len(line.inner), cut)]
    wrapped = [f"{line.zulu} stdout {'F' if part is parts[-1] else 'P'} {part}" for part in parts]
    return f"{line.node}/0.log", "\n".join(wrapped)


def loki(line: Line) -> tuple[str, str]:
    labels = {"pod": f"job-worker-{line.node[-1]}", "node": line.node}
    return "loki.jsonl", json.dumps({"labels": labels, "line": line.inner, "timestamp": line.zulu})


def fluent(line: Line) -> tuple[str, str]:
    place = {"pod_name": f"job-worker-{line.node[-1]}", "host": line.node}
    return "fluent.json", json.dumps({"date": line.time, "log": line.inner, "kubernetes": place})


def json_logger(line: Line) -> tuple[str, str]:
    if line.rank is None or line.raw:
        return node_folders(line) if line.rank is None else (f"{line.node}/rank{line.rank}.jsonl", line.text)
    entry = {"timestamp": line.zulu, "level": "info", "msg": line.text, "rank": line.rank}
    return f"{line.node}/rank{line.rank}.jsonl", json.dumps(entry)


def coloured(line: Line) -> tuple[str, str]:
    return node_console(line)[0], line.inner.replace("[default", "\x1b[36m[default").replace("]:", "]\x1b[0m:", 1)


def files_of(lines: list[Line], layout: Layout) -> dict[str, bytes]:
    """The files' bytes by name."""
    found: dict[str, list[str]] = {}
    for line in lines:
        name, text = layout(line)
        found.setdefault(name, []).append(text)
    return {name: ("\n".join(texts) + "\n").encode() for name, texts in found.items()}


Packing = Callable[[dict[str, bytes]], dict[str, bytes]]


def plain(files: dict[str, bytes]) -> dict[str, bytes]:
    return files


def crlf(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data.replace(b"\n", b"\r\n") for name, data in files.items()}


def zst(files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{name}.zst": zstandard.ZstdCompressor().compress(data) for name, data in files.items()}


def rotated(files: dict[str, bytes]) -> dict[str, bytes]:
    found = {}
    for name, data in files.items():
        lines = data.splitlines(keepends=True)
        third = len(lines) // 3
        found[f"{name}.2.gz"] = gzip.compress(b"".join(lines[:third]))
        found[f"{name}.1"] = b"".join(lines[third : 2 * third])
        found[name] = b"".join(lines[2 * third :])
    return found


def tarred(files: dict[str, bytes]) -> dict[str, bytes]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"job/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return {"logs.tar.gz": buffer.getvalue()}


def zipped(files: dict[str, bytes]) -> dict[str, bytes]:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return {"logs.zip": buffer.getvalue()}


CASES: list[tuple[Layout, Say, Packing]] = [
    (node_folders, say_iso, plain),
    (node_folders, say_glog, plain),
    (node_folders, say_noon, plain),
    (node_folders, say_plain, tarred),
    (local_files, say_plain, plain),
    (rank_console, say_iso, plain),
    (rank_console, say_megatron, plain),
    (node_console, say_plain, rotated),
    (node_console, say_iso, crlf),
    (coloured, say_iso, plain),
    (srun_console, say_plain, zst),
    (srun_console, say_megatron, zipped),
    (pod_files, say_plain, plain),
    (pod_prefix, say_plain, plain),
    (stamped, say_plain, plain),
    (docker, say_plain, plain),
    (cri, say_plain, plain),
    (loki, say_plain, plain),
    (fluent, say_plain, plain),
    (json_logger, say_plain, plain),
]


def _written(folder: Path, files: dict[str, bytes]) -> str:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return str(folder)


def _names(case: tuple[Layout, Say, Packing]) -> str:
    return "-".join(part.__name__ for part in case)


@pytest.mark.parametrize("case", CASES, ids=_names)
def test_a_killed_rank_is_named_however_the_lines_are_kept(tmp_path: Path, case: tuple[Layout, Say, Packing]) -> None:
    layout, say, packing = case
    found = diagnose([_written(tmp_path, packing(files_of(job("kill", say), layout)))])
    assert (found.status, found.verdict.cause) == ("failed", "process.killed")
    assert [suspect.rank for suspect in found.suspects] == [GUILTY]
    assert (found.verdict.stage, found.verdict.iteration) == ("training", 4)


@pytest.mark.parametrize("ahead", [-30.0, 30.0, 8 * 3600.0])
@pytest.mark.parametrize("node", ["n01", "n02"])
def test_a_clock_that_differs_moves_no_blame(tmp_path: Path, node: str, ahead: float) -> None:
    lines = [
        replace(line, text=say_iso(line.time + ahead, int(line.text.split("step ")[1].split()[0])))
        if line.node == node and "step " in line.text and not line.raw
        else line
        for line in job("exception", say_iso)
    ]
    found = diagnose([_written(tmp_path, files_of(lines, node_folders))])
    assert [suspect.rank for suspect in found.suspects] == [GUILTY]
    assert found.verdict.cause == "code.exception"


def test_unlabelled_lines_of_a_shared_console_are_not_those_of_the_rank_that_announced_itself(tmp_path: Path) -> None:
    lines = [line for line in job("exception", say_plain) if line.rank == 0 or line.raw or line.rank is None]
    crash = [Line(START + 9.2, 3, "n02", text) for text in ("Fatal Python error: Segmentation fault", "")]
    first = Line(START, 0, "n01", "starting on n01: rank 0 of 4")
    data = files_of(sorted([first, *lines, *crash], key=lambda line: line.time), lambda line: ("job.out", line.text))
    found = diagnose([_written(tmp_path, data)])
    assert [suspect.rank for suspect in found.suspects] == [GUILTY]
    assert found.verdict.cause == "code.exception"
