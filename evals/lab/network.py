"""Pretend nodes on one machine: a network namespace each, joined by a bridge, so that a link can really be cut.

Every node has its own address and `/etc/hosts`; the bridge lives in a namespace of its own, so nothing is
ever added to the machine's own network. Names carry the process that made them: what a killed run left behind is told
from what is in use, and removed by the next one. Needs root and iproute2; `available` says what is missing.
"""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

PREFIX = "pretend"
SUBNET = "10.31.7"
NAMESPACES = Path("/run/netns")
HOSTS = Path("/etc/netns")
LIMIT = 20.0
"""Seconds that one `ip` or `tc` command may take."""

Cut = Literal["silent", "carrier", "interface"]
"""What breaks: the switch forwards nothing (the node's interface stays up); the cable (the interface loses its
carrier); the node's own interface (its address is unreachable at once)."""

_counter = itertools.count()


@dataclass(frozen=True, slots=True)
class Node:
    """One pretend node."""

    host: str
    address: str
    namespace: str
    port: str
    """Name of the bridge's end of its cable."""


@functools.cache
def available() -> str | None:
    """Why pretend nodes cannot be had here; None where they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [tool for tool in ("ip", "unshare") if not shutil.which(tool)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    try:
        with lan(("a", "b")) as trial:
            subprocess.run([*trial.wrap(0), "true"], check=True, capture_output=True, timeout=LIMIT)
    except (subprocess.SubprocessError, OSError) as problem:
        return f"the kernel refuses: {_said(problem)}"
    return None


@functools.cache
def shaping() -> tuple[str, ...]:
    """Which of `tbf` (a rate) and `netem` (delay and loss) this kernel has; empty where `tc` is absent."""
    if available() or not shutil.which("tc"):
        return ()
    trials = {"tbf": _rate(1000), "netem": ["netem", "delay", "1ms"]}
    with lan(("a", "b")) as trial:
        return tuple(kind for kind, words in trials.items() if trial.shape(0, words))


class Lan:
    """A bridge and its nodes, for the time of a `with` block; whatever still runs on the nodes at its end is killed.

    Nodes are numbered in the order of the given host names; those must differ, and be 1 to 200, else ValueError.
    """

    interface = "eth0"
    """What each node calls its end of its cable."""

    def __init__(self, hosts: Sequence[str]) -> None:
        if len(set(hosts)) != len(hosts) or not 1 <= len(hosts) <= 200:
            raise ValueError("host names must differ, and be 1 to 200")
        self._mark = f"{PREFIX}-{os.getpid()}-{_started(os.getpid())}-{next(_counter)}"
        self._bridge = f"{self._mark}-x"
        self.nodes = tuple(self._node(number, host) for number, host in enumerate(hosts))

    def _node(self, number: int, host: str) -> Node:
        return Node(host, f"{SUBNET}.{number + 11}", f"{self._mark}-{number}", f"port{number}")

    def __enter__(self) -> Self:
        sweep()
        try:
            self._build()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def wrap(self, number: int) -> list[str]:
        """The words to put before a command that shall run on that node; its host name stays the machine's."""
        return ["ip", "netns", "exec", self.nodes[number].namespace]

    def address(self, number: int) -> str:
        """Its IPv4 address; all nodes find it under the host name too."""
        return self.nodes[number].address

    def cut(self, number: int, how: Cut = "silent") -> None:
        """Separates the node from all others; its own processes still reach each other."""
        node = self.nodes[number]
        if how == "interface":
            _ip(node.namespace, "link", "set", self.interface, "down")
        elif how == "carrier":
            _ip(self._bridge, "link", "set", node.port, "down")
        else:
            _ip(self._bridge, "link", "set", node.port, "nomaster")

    def mend(self, number: int) -> None:
        """Undoes any cut."""
        node = self.nodes[number]
        _ip(self._bridge, "link", "set", node.port, "master", "br0", "up")
        _ip(node.namespace, "link", "set", self.interface, "up")

    def slow(self, number: int, *, kbit: int) -> bool:
        """Narrows the node's link, both ways, to that many kilobits a second; False where the kernel cannot."""
        return self.shape(number, _rate(kbit))

    def delay(self, number: int, *, milliseconds: int, loss: float = 0.0) -> bool:
        """Delays what the node sends and receives, and loses that percentage of it; False where the kernel cannot."""
        return self.shape(number, ["netem", "delay", f"{milliseconds}ms", "loss", f"{loss}%"])

    def shape(self, number: int, words: Sequence[str]) -> bool:
        """Sets a queueing discipline at both ends of the node's cable."""
        node = self.nodes[number]
        ends = ((node.namespace, self.interface), (self._bridge, node.port))
        return all(_tc(namespace, device, words) for namespace, device in ends)

    def _build(self) -> None:
        _ip(None, "netns", "add", self._bridge)
        _ip(self._bridge, "link", "add", "br0", "type", "bridge")
        _ip(self._bridge, "link", "set", "br0", "up")
        for node in self.nodes:
            self._join(node)

    def _join(self, node: Node) -> None:
        names = HOSTS / node.namespace
        names.mkdir(parents=True)
        (names / "hosts").write_text(self._hosts(), encoding="ascii")
        _ip(None, "netns", "add", node.namespace)
        ends = ("netns", self._bridge, "type", "veth", "peer", "name", self.interface, "netns", node.namespace)
        _ip(None, "link", "add", node.port, *ends)
        _ip(self._bridge, "link", "set", node.port, "master", "br0", "up")
        _ip(node.namespace, "address", "add", f"{node.address}/24", "dev", self.interface)
        for device in ("lo", self.interface):
            _ip(node.namespace, "link", "set", device, "up")

    def _hosts(self) -> str:
        lines = ["127.0.0.1 localhost", *(f"{node.address} {node.host}" for node in self.nodes)]
        return "\n".join(lines) + "\n"

    def _remove(self) -> None:
        for name in (self._bridge, *(node.namespace for node in self.nodes)):
            _discard(name)


def lan(hosts: Sequence[str], name: str = "") -> Lan:
    """Nodes of these host names, to be used in a `with` block; namespaces are unique whatever the name of the run."""
    del name
    return Lan(hosts)


def sweep() -> list[str]:
    """Removes the namespaces of runs whose process is gone, with whatever still runs in them; returns their names."""
    found = {path.name for folder in (NAMESPACES, HOSTS) for path in folder.glob(f"{PREFIX}-*-*-*")}
    stale = sorted(name for name in found if not _alive(name))
    for name in stale:
        _discard(name)
    return stale


def _alive(name: str) -> bool:
    pid, started = name.split("-")[1:3]
    return pid.isdigit() and started != "0" and _started(int(pid)) == started


def _started(pid: int) -> str:
    """When a process began, in clock ticks since boot: with its id, unique until the next boot; "0" if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
    except (OSError, IndexError, UnicodeDecodeError):
        return "0"


def _discard(namespace: str) -> None:
    """Kills what runs in it and removes it, so far as it exists."""
    if (NAMESPACES / namespace).exists():
        inside = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False)
        for pid in inside.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)
    shutil.rmtree(HOSTS / namespace, ignore_errors=True)


def _ip(namespace: str | None, *words: str) -> None:
    where = ["-n", namespace] if namespace else []
    subprocess.run(["ip", *where, *words], check=True, capture_output=True, timeout=LIMIT)


def _tc(namespace: str, device: str, words: Sequence[str]) -> bool:
    command = ["tc", "-n", namespace, "qdisc", "replace", "dev", device, "root", *words]
    return subprocess.run(command, capture_output=True, timeout=LIMIT, check=False).returncode == 0


def _rate(kbit: int) -> list[str]:
    return ["tbf", "rate", f"{kbit}kbit", "burst", "16kb", "latency", "2s"]


def _said(problem: Exception) -> str:
    written = getattr(problem, "stderr", None)
    return written.decode(errors="replace").strip() if isinstance(written, bytes) and written else str(problem)
