"""`python -m evals.torchrun FOLDER [NAME ...]`: runs the catalogue (or the named runs) one at a time into FOLDER.

`--random COUNT --seed SEED` draws runs instead.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from evals.torchrun.cases import RUNS
from evals.torchrun.launch import perform
from evals.torchrun.variants import varied


def main() -> None:
    """Performs each run and says how long it took."""
    parser = argparse.ArgumentParser(prog="python -m evals.torchrun", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RUNS)}")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT", help="draw so many runs instead")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    named = [RUNS[name] for name in chosen.names or RUNS]
    for run in varied(chosen.seed, chosen.random) if chosen.random else named:
        began = time.monotonic()
        perform(run, (chosen.folder / run.name).absolute())
        print(f"{run.name:26} {time.monotonic() - began:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
