"""`python -m evals.lab`: makes the fault laboratory's runs and packs them."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from evals.lab.job import Job
from evals.lab.make import make_all
from evals.lab.plan import SEED, in_order_of_need, other_recipes, planned

DESCRIPTION = """Runs real training jobs on the CPU and breaks them on purpose, each with the truth beside it.

  python -m evals.lab make FOLDER           every run of the plan (about 230; two hours on two cores), resumable
  python -m evals.lab make FOLDER --only sigkill --only nothing
  python -m evals.lab plan                  what would be made
  python -m evals.lab review FOLDER         records that look like failures and have no label
  python -m evals.lab pack FOLDER TARGET    neutral names, truth.json, compressed

Some kinds need root (host names, mounts, namespaces, control groups); they are skipped with the reason elsewhere."""


def main() -> None:
    """Reads the command line and does what it says."""
    parser = argparse.ArgumentParser(
        prog="python -m evals.lab", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _make_command(commands.add_parser("make", help="make the runs that are not there yet"))
    _pack_command(commands.add_parser("pack", help="pack finished runs under neutral names"))
    _plan_command(commands.add_parser("plan", help="print what would be made"))
    _review_command(commands.add_parser("review", help="print records that look like failures and have no label"))
    chosen = parser.parse_args()
    chosen.run(chosen)


def _make_command(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="where runs are kept while the set is made")
    _choice(parser)
    parser.add_argument("--jobs", type=int, default=3, metavar="N", help="runs at a time (3; they mostly wait)")
    parser.set_defaults(run=_make)


def _pack_command(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="what `make` filled")
    parser.add_argument("target", type=Path, help="gets job-NNN.tar.zst and truth.json")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the plan ({SEED})")
    parser.set_defaults(run=_pack)


def _plan_command(parser: argparse.ArgumentParser) -> None:
    _choice(parser)
    parser.set_defaults(run=_plan)


def _review_command(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="what `make` filled")
    _choice(parser)
    parser.set_defaults(run=_review)


def _choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only", action="append", default=[], metavar="KIND", help="only this kind, or run; repeatable"
    )
    parser.add_argument("--recipe", metavar="NAME", help="only this recipe")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the plan ({SEED})")


def chosen_jobs(chosen: argparse.Namespace) -> list[Job]:
    """Jobs of the plan that the command line names; all where it names none."""
    wanted = set(chosen.only)
    return [
        job
        for job in planned(chosen.seed)
        if (not wanted or wanted & {job.kind, job.name}) and chosen.recipe in (None, job.recipe)
    ]


def _make(chosen: argparse.Namespace) -> None:
    jobs = chosen_jobs(chosen)
    reasons = {job.name: reason for job in jobs if (reason := cannot(job))}
    for name, reason in reasons.items():
        print(f"{name:32} skipped: {reason}", flush=True)
    began = time.monotonic()
    todo = [job for job in in_order_of_need(jobs) if job.name not in reasons]
    for number, result in enumerate(make_all(todo, chosen.folder.absolute(), chosen.jobs), start=1):
        why = f" after {' | '.join(result.problems)}" if result.problems else ""
        told = f"{result.state} {result.seconds:5.1f} s, attempt {result.attempts}{why}"
        print(f"[{number}/{len(todo)} {time.monotonic() - began:5.0f} s] {result.job.name:32} {told}", flush=True)


def cannot(job: Job) -> str | None:
    """Why this machine cannot run the job; None where it can."""
    from evals.lab import kernel, network
    from evals.lab.node import can_unshare

    missing = {one.name: one.missing() for one in other_recipes()}.get(job.recipe, ())
    if missing:
        return f"not installed: {', '.join(missing)}"
    if job.mounts and not can_unshare():
        return "mounts need root and unshare"
    if job.kernel_log and (reason := kernel.can_limit()):
        return reason
    return network.available() if job.network else None


def _plan(chosen: argparse.Namespace) -> None:
    for job in chosen_jobs(chosen):
        shape = f"{job.nodes}x{job.per_node}"
        print(f"{job.name:32} {job.flavour:10} {job.recipe:10} {job.voice:10} {shape} {job.streams} {job.rendezvous}")


def _review(chosen: argparse.Namespace) -> None:
    from evals.lab.review import review

    for line in review(chosen_jobs(chosen), chosen.folder.absolute()):
        print(line)


def _pack(chosen: argparse.Namespace) -> None:
    from evals.lab.pack import pack_all

    print(pack_all(planned(chosen.seed), chosen.folder.absolute(), chosen.target.absolute()))


if __name__ == "__main__":
    main()
