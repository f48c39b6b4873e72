"""A laboratory job taken apart: whose each file is, which pids and ports it shows, where its nodes stand in rank order.

Only jobs of several nodes can be multiplied: on a single node nothing shows what a launcher without a guilty worker
writes.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import zstandard

from evals.truth import Truth

LARGEST = 256 << 20
"""Bytes of one job that are read."""

_OF_RANK = re.compile(r"torchrun/([^/]+)/attempt_(\d+)/(\d+)/(.+)$")
_GLOBAL = re.compile(r"global_ranks=\[(\d+)")
_GREETING = re.compile(r"\brank (\d+) of \d+")
_LABELLED = re.compile(r"^\[default(\d+)\]:.*?(?:\[rank|\brank )(\d+)(?:\]| of)", re.MULTILINE)
_ENTRY = re.compile(r"rank\s+: (\d+) \(local_rank: (\d+)\)")
_KNOWN_PID = re.compile(r"local_rank: (\d+) \(pid: (\d+)\)|\(local_rank: (\d+)\)\s+exitcode\s+: -?\d+ \(pid: (\d+)\)")
_ANY_PID = re.compile(r"[Ss]ending process (\d+) |shutdown process (\d+) ")
_LAUNCHER_PID = re.compile(r"^[IWEF]\d{4} [\d:.]+ +(\d+) ", re.MULTILINE)
_MASTER = re.compile(r"(?:rdzv_endpoint\s*: \S+:|master_port=)(\d+)")


@dataclass(frozen=True, slots=True)
class RankFile:
    """One file of one rank."""

    attempt: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the real job."""

    name: str
    first_rank: int
    run_folder: str
    """torchrun's folder of the run (`none_k2j4h5g6`); empty where it wrote none."""
    consoles: dict[str, str]
    """Files of the node itself by name: the launcher's console, the kernel's messages."""
    ranks: dict[int, tuple[RankFile, ...]]
    """Files of each local rank."""
    pids: dict[int, int] = field(default_factory=dict)
    """Local rank by pid."""
    launcher_pid: int | None = None


@dataclass(frozen=True, slots=True)
class Original:
    """One real job, nodes in the order of their ranks."""

    truth: Truth
    nodes: tuple[Node, ...]
    per_node: int
    master_port: str | None = None

    def node_of(self, rank: int) -> int:
        """Index of the node that a global rank runs on."""
        return rank // self.per_node


def fits(truth: Truth) -> bool:
    """Whether a job can be multiplied, as far as its truth tells."""
    nodes = len(truth.nodes)
    return nodes >= 2 and truth.world_size % nodes == 0


def read_original(archive: Path, truth: Truth) -> Original:
    """Unpacks a job in memory and takes it apart.

    Raises ValueError where it is no job of the laboratory's layout, OSError where it cannot be read.
    """
    per_node = truth.world_size // len(truth.nodes)
    files = dict(_members(archive))
    nodes = [_node(name, index, files, per_node) for index, name in enumerate(truth.nodes)]
    if not any(node.consoles for node in nodes):
        raise ValueError(f"{archive.name} holds no folder of {', '.join(truth.nodes)}")
    nodes.sort(key=lambda node: node.first_rank)
    master = next((found[1] for node in nodes for text in _texts(node) if (found := _MASTER.search(text))), None)
    return Original(truth, tuple(nodes), per_node, master)


def _members(archive: Path) -> Iterator[tuple[str, str]]:
    """Files by their path inside the job, decoded so that every byte survives."""
    if archive.is_dir():
        for path in sorted(archive.rglob("*")):
            if path.is_file():
                yield str(path.relative_to(archive)), _decoded(path.read_bytes())
        return
    data = archive.read_bytes()
    if archive.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read(LARGEST)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name.removeprefix("./").removeprefix("job/"), _decoded(file.read())


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes that a text was read from."""
    return text.encode("utf-8", "surrogateescape")


def whole_lines(text: str) -> list[str]:
    """The lines of a text, each with its newline; only newlines separate."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _node(name: str, index: int, files: dict[str, str], per_node: int) -> Node:
    consoles: dict[str, str] = {}
    ranks: dict[int, list[RankFile]] = {local: [] for local in range(per_node)}
    run_folder = ""
    for path, text in files.items():
        if not path.startswith(f"{name}/"):
            continue
        found = _OF_RANK.search(path)
        if found is None:
            consoles[path.partition("/")[2]] = text
        elif int(found[3]) in ranks:
            run_folder = found[1]
            ranks[int(found[3])].append(RankFile(int(found[2]), found[4], text))
    kept = {local: tuple(each) for local, each in ranks.items()}
    node = Node(name, index * per_node, run_folder, consoles, kept)
    launcher = consoles.get("launcher.log", "")
    pid = _LAUNCHER_PID.search(launcher)
    first = _first_rank(node, per_node)
    return Node(name, first, run_folder, consoles, kept, _pids(launcher, per_node), int(pid[1]) if pid else None)


def _texts(node: Node) -> Iterator[str]:
    yield from node.consoles.values()
    for files in node.ranks.values():
        yield from (file.text for file in files)


def _first_rank(node: Node, per_node: int) -> int:
    """The lowest global rank of a node, as its own logs say; with a dynamic rendezvous it is not the node's number."""
    for text in node.consoles.values():
        if found := _GLOBAL.search(text):
            return int(found[1])
        if found := _LABELLED.search(text):
            return int(found[2]) - int(found[1])
        if found := _ENTRY.search(text):
            return int(found[1]) - int(found[2])
    for local, files in node.ranks.items():
        for file in files:
            if found := _GREETING.search(file.text):
                return int(found[1]) - local
    return node.first_rank // per_node * per_node


def _pids(launcher: str, per_node: int) -> dict[int, int]:
    """Local rank by pid: where the console says so, else in the order in which workers are started."""
    known: dict[int, int] = {}
    for a, pid_a, b, pid_b in _KNOWN_PID.findall(launcher):
        known[int(pid_a or pid_b)] = int(a or b)
    others = {int(a or b) for a, b in _ANY_PID.findall(launcher)} - set(known)
    free = [local for local in range(per_node) if local not in known.values()]
    return {**known, **dict(zip(sorted(others), free, strict=False))}
