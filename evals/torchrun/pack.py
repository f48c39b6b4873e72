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
import re
import shutil
import sys
import tarfile
from pathlib import Path

import zstandard

from evals.torchrun.cases import CORE, EXAMPLES, MORE

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


def unfold(run: Path, target: Path) -> None:
    """Writes one run's `job/` as plain files; older ones go."""
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted((run / "job").rglob("*")):
        if path.is_file():
            copy = target / path.relative_to(run / "job")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(_neutral(path.read_bytes(), run))


def _neutral(data: bytes, run: Path) -> bytes:
    data = re.sub(rb"/\S{1,200}/%s/job(?=/)" % re.escape(run.name.encode()), b"/scratch/logs", data)
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
    parser.add_argument("--examples", type=Path, help="where to put the demonstration's runs as plain files")
    chosen = parser.parse_args()
    chosen.target.mkdir(parents=True, exist_ok=True)
    for run in EXAMPLES if chosen.examples else ():
        unfold(chosen.runs / run.name, chosen.examples / run.name)
    truths = {}
    core = {run.name for run in CORE}
    for name, archive in names([run.name for run in (*CORE, *MORE)]).items():
        if (chosen.runs / name / "job").is_dir():
            pack(chosen.runs / name, chosen.target / archive)
            truth = json.loads((chosen.runs / name / "truth.json").read_text(encoding="utf-8"))
            truths[archive] = {"core": name in core, **truth}
    text = json.dumps(dict(sorted(truths.items())), indent=1)
    (chosen.target / "truth.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
