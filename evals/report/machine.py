"""What a measurement was made with: versions, and the kind of machine (never its name)."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from datetime import UTC, datetime

PACKAGES = ("polars", "numpy", "google-re2", "drain3", "pydantic", "scikit-learn", "zstandard")


def lines(command: str, tools: dict[str, str], made_with: dict[str, str]) -> list[str]:
    """The lines that stand at the head of a report."""
    asked = ", ".join(f"{name} {version}".strip() for name, version in tools.items())
    made = ", ".join(f"{name} {version}" for name, version in sorted(made_with.items()))
    return [
        f"- Written on {datetime.now(UTC):%Y-%m-%d} by `{command}`; the figures are computed; those at first sight "
        "are kept from then, and the reasons are written by hand.",
        f"- Tools: {asked}.",
        f"- Ran with Python {platform.python_version()}, {', '.join(map(_version, PACKAGES))}.",
        *([f"- The jobs ran with {made}."] if made else []),
        f"- Machine: {os.cpu_count()} cores, {_memory()} memory, {platform.system()} on {platform.machine()}, no GPU.",
        "",
    ]


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} (none)"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB"
    except (ValueError, OSError):
        return "unknown"
