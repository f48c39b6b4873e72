"""`python -m evals.torchrun FOLDER [NAME ...]`: runs the catalogue (or the named runs) one at a time into FOLDER."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from evals.torchrun.cases import RUNS
from evals.torchrun.launch import perform


def main() -> None:
    """Performs each run and says how long it took."""
    parser = argparse.ArgumentParser(prog="python -m evals.torchrun", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RUNS)}")
    chosen = parser.parse_args()
    for name in chosen.names or RUNS:
        began = time.monotonic()
        perform(RUNS[name], (chosen.folder / name).absolute())
        print(f"{name:26} {time.monotonic() - began:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
