"""`python -m evals.torchrun.pack RUNS TARGET`: packs finished runs into small archives under names that tell nothing.

Paths of the machine are neutralised; everything else stays as torchrun left it. What is true of each archive goes into
`truth.json` beside them. The same runs give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

import zstandard

from evals.torchrun.cases import CORE, RUNS

OLD_ENOUGH = 1_700_000_000
"""Time stamp of all members: epoch seconds."""


def pack(run: Path, target: Path) -> None:
    """Writes one run's `job/` folder; the compression follows from the target's name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted((run / "job").rglob("*")):
            if path.is_file():
                data = _neutral(path.read_bytes(), run)
                member = tarfile.TarInfo(str(path.relative_to(run)))
                member.size, member.mtime, member.mode = len(data), OLD_ENOUGH, 0o644
                tar.addfile(member, io.BytesIO(data))
    raw = buffer.getvalue()
    if target.suffix == ".gz":
        target.write_bytes(gzip.compress(raw, 9, mtime=0))
    else:
        target.write_bytes(zstandard.ZstdCompressor(level=19).compress(raw))


def _neutral(data: bytes, run: Path) -> bytes:
    data = data.replace(str(run.absolute()).encode() + b"/job", b"/scratch/logs")
    return data.replace(sys.prefix.encode(), b"/opt/venv")


def names(runs: list[str]) -> dict[str, str]:
    """Archive names in an order that has nothing to do with the runs' names; every third is a gzip."""
    shuffled = sorted(runs, key=lambda name: hashlib.sha256(f"rootrank {name}".encode()).digest())
    return {
        name: f"job-{number:02}.tar.{'gz' if number % 3 == 0 else 'zst'}"
        for number, name in enumerate(shuffled, start=1)
    }


def main() -> None:
    """Packs every run of the catalogue that is there."""
    parser = argparse.ArgumentParser(prog="python -m evals.torchrun.pack", description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("target", type=Path)
    chosen = parser.parse_args()
    chosen.target.mkdir(parents=True, exist_ok=True)
    truths = {}
    core = {run.name for run in CORE}
    for name, archive in names(list(RUNS)).items():
        if (chosen.runs / name / "job").is_dir():
            pack(chosen.runs / name, chosen.target / archive)
            truth = json.loads((chosen.runs / name / "truth.json").read_text(encoding="utf-8"))
            truths[archive] = {"core": name in core, **truth}
    text = json.dumps(dict(sorted(truths.items())), indent=1)
    (chosen.target / "truth.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
