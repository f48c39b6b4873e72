"""Cause classes for exception names, for rivals that name an exception and no cause of ours: the kindest reading."""

from __future__ import annotations

BY_NAME = {
    "ImportError": "code.import",
    "ModuleNotFoundError": "code.import",
    "OutOfMemoryError": "memory.gpu_oom",
    "MemoryError": "memory.host_oom",
    "FileNotFoundError": "storage.missing_path",
    "PermissionError": "storage.permission",
    "DistNetworkError": "launch.port_in_use",
    "DistStoreError": "launch.rendezvous",
    "RendezvousTimeoutError": "launch.rendezvous",
    "gaierror": "network.name_resolution",
    "ConnectionRefusedError": "network.unreachable",
    "ConnectionResetError": "network.unreachable",
    "UnpicklingError": "checkpoint.corrupt",
}


def cause_of_exception(name: str) -> str:
    """The cause class of an exception, spelled with or without its module."""
    return BY_NAME.get(name.strip(": ").rpartition(".")[2], "code.exception")
