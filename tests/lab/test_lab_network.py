"""Pretend nodes: they find each other by name, a cut really cuts, and nothing of them stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evals.lab.network import HOSTS, NAMESPACES, PREFIX, Cut, Lan, available, lan, shaping, sweep

needs_namespaces = pytest.mark.skipif(available() is not None, reason=available() or "")
KNOCK = """
import socket, sys
with socket.create_connection((sys.argv[1], 4711), timeout=2) as link:
    print(link.recv(16).decode())
"""
ANSWER = """
import socket, sys
with socket.create_server(("", 4711)) as door:
    print("open", flush=True)
    while True:
        door.accept()[0].sendall(sys.argv[1].encode())
"""


def knock(net: Lan, number: int, host: str) -> str:
    """What the node hears from the host's door; empty where it cannot be reached."""
    command = [*net.wrap(number), sys.executable, "-c", KNOCK, host]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.strip()


def open_door(net: Lan, number: int) -> subprocess.Popen[str]:
    """A server on the node, once it listens."""
    command = [*net.wrap(number), sys.executable, "-c", ANSWER, f"node {number}"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdout.readline() == "open\n"
    return server


def left_behind() -> set[str]:
    """Namespaces and hosts files of this process."""
    mine = f"{PREFIX}-{os.getpid()}-*"
    return {path.name for folder in (NAMESPACES, HOSTS) for path in folder.glob(mine)}


@needs_namespaces
@pytest.mark.parametrize("how", ["silent", "carrier", "interface"])
def test_a_cut_node_is_out_of_reach_for_others_and_back_once_mended(how: Cut) -> None:
    with lan(("alpha", "beta")) as net:
        server = open_door(net, 1)
        heard = [knock(net, 0, "beta")]
        net.cut(1, how)
        heard.append(knock(net, 0, "beta"))
        net.mend(1)
        heard.append(knock(net, 0, "beta"))
    assert heard == ["node 1", "", "node 1"]
    with server:
        assert server.wait(10) != 0  # the end of the block ended it


@needs_namespaces
def test_a_cut_node_still_reaches_itself() -> None:
    with lan(("alpha", "beta")) as net:
        server = open_door(net, 1)
        net.cut(1, "silent")
        heard = knock(net, 1, "beta")
    server.communicate()
    assert heard == "node 1"


@needs_namespaces
def test_two_networks_at_once_do_not_meet() -> None:
    with lan(("alpha", "beta")) as one, lan(("alpha", "beta")) as other:
        server = open_door(one, 1)
        assert (knock(one, 0, "beta"), knock(other, 0, "beta")) == ("node 1", "")
    server.communicate()


@needs_namespaces
def test_nothing_stays_behind_after_an_error() -> None:
    seen: set[str] = set()

    def fail() -> None:
        with lan(("alpha",)):
            seen.update(left_behind())
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        fail()
    assert seen
    assert not left_behind()


@needs_namespaces
def test_the_next_run_removes_what_a_killed_one_left() -> None:
    code = "import os; from evals.lab.network import lan; net = lan(('alpha',)).__enter__(); os._exit(9)"
    killed = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    assert killed.wait(60) == 9
    assert any(f"-{killed.pid}-" in name for name in sweep())
    assert not list(NAMESPACES.glob(f"{PREFIX}-{killed.pid}-*"))


@needs_namespaces
def test_sweeping_spares_networks_in_use() -> None:
    with lan(("alpha",)) as net:
        assert not set(sweep()) & left_behind()
        assert subprocess.run([*net.wrap(0), "true"], check=False).returncode == 0


@needs_namespaces
def test_a_slow_link_says_whether_it_is_slow() -> None:
    with lan(("alpha",)) as net:
        assert net.slow(0, kbit=512) is ("tbf" in shaping())
        assert net.delay(0, milliseconds=20, loss=1.0) is ("netem" in shaping())


@pytest.mark.parametrize("hosts", [(), ("alpha", "alpha")])
def test_impossible_networks_are_refused(hosts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="host names"):
        lan(hosts)
