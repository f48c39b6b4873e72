"""For the agent's tests: real HTTP to a scripted server on loopback, and no way anywhere else."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import Any

import pytest

_CONNECT = socket.socket.connect
_RESOLVE = socket.getaddrinfo


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other address cannot be resolved and cannot be reached."""

    def connect(self: socket.socket, address: Any) -> None:  # noqa: ANN401 - any address
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
            raise OSError(f"not loopback: {address}")
        _CONNECT(self, address)

    def resolve(host: Any, *rest: Any, **more: Any) -> Any:  # noqa: ANN401 - as the library's
        name = host.decode() if isinstance(host, bytes) else host
        if name and not is_loopback(name):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return _RESOLVE(host, *rest, **more)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("LANG")]:
        monkeypatch.delenv(name)
