"""`python -m evals.scale SET OUT --ranks 4096 --seed 1`: replicas of the jobs of a set, as folders to be diagnosed.

`--job` makes one replica of that job; otherwise `--count` of them, a kind of fault at a time.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from evals.scale.replicas import make_replica, make_replicas
from evals.truth import Truth, TruthFile


def main() -> int:
    """Makes them and says how long it took; 2 where a job cannot be multiplied."""
    parser = argparse.ArgumentParser(prog="python -m evals.scale", description=__doc__)
    parser.add_argument("set", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--job", help="name of one job of the set")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--archive", action="store_true", help="write .tar.zst files instead of folders")
    chosen = parser.parse_args()
    began = time.monotonic()
    try:
        made = _make(chosen)
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    for truth in made:
        print(f"{truth.job} of {truth.replica_of}: {truth.kind}, ranks {truth.provable.ranks}")
    print(f"{time.monotonic() - began:.1f} s", file=sys.stderr)
    return 0


def _make(chosen: argparse.Namespace) -> list[Truth]:
    form = "archive" if chosen.archive else "folder"
    if not chosen.job:
        made = make_replicas(chosen.set, chosen.out, chosen.ranks, chosen.count, chosen.seed, form=form)  # type: ignore[arg-type]
        return [truth for truth in made.jobs if truth.replica_of]
    told = TruthFile.model_validate_json((chosen.set / "truth.json").read_bytes())
    known = {truth.job: truth for truth in told.jobs}
    if chosen.job not in known:
        raise ValueError(f"{chosen.set} holds no job {chosen.job}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    truth = make_replica(
        chosen.set,
        known[chosen.job],
        known,
        chosen.out,
        chosen.ranks,
        chosen.seed,
        chosen.job,
        form,  # type: ignore[arg-type]
    )
    document = told.model_copy(update={"jobs": (truth.model_copy(update={"twins": ()}),)})
    (chosen.out / "truth.json").write_text(document.model_dump_json(indent=1, by_alias=True) + "\n", encoding="utf-8")
    return [truth]


if __name__ == "__main__":
    sys.exit(main())
