"""Which files of a folder of healthy runs belong to one run."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

_PART_OF_RUN = re.compile(
    r"(?i)(^|[^a-z])(local[-_]?rank|rank|node|host|worker|master|manager|launcher|gpu|npu|device|pod|task|proc"
    r"|stdout|stderr|attempt|dmesg|kern|syslog)([^a-z]|$)"
)
_ROTATED = re.compile(r"(\.\d{1,4})?(\.(gz|bz2|xz|zst))?$")
_TWIN = re.compile(r"\.(out|err|log|stdout|stderr|txt)$")


def runs_in(folder: Path) -> list[tuple[Path, ...]]:
    """The paths of each run, sorted. Each folder and each whole-job file in it is one run.

    A folder whose own files or folders are named after ranks, nodes or launcher attempts is one run as a whole; the
    parts of a rotated file, and `x.out` beside `x.err`, are one run. A path that is a file is one run.
    """
    if not folder.is_dir():
        return [(folder,)]
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    if any(_PART_OF_RUN.search(entry.name) for entry in entries):
        return [(folder,)]
    runs: dict[str, list[Path]] = defaultdict(list)
    for entry in entries:
        runs[entry.name if entry.is_dir() else _stem(entry.name)].append(entry)
    return [tuple(paths) for _, paths in sorted(runs.items())]


def _stem(name: str) -> str:
    return _TWIN.sub("", _ROTATED.sub("", name))
