"""Starts one job under real torchrun and keeps what it leaves behind.

The result folder then holds `job/` (what a user would hand over: a folder a node with the launcher's console and
torchrun's log tree, or that of the single node). What the laboratory alone may know comes back as an `Outcome`.
"""

from __future__ import annotations

import json
import shutil
import socket
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

from evals.lab import network
from evals.lab.checkpoints import prepare
from evals.lab.job import Job
from evals.lab.kernel import kernel_messages, memory_group
from evals.lab.node import Place
from evals.lab.outcome import Outcome
from evals.lab.running import Running
from evals.lab.workplace import add_package, furnish

PACKAGE_VERSION = "1.4.0"


def perform(job: Job, folder: Path) -> Outcome:
    """Runs the job; anything older in the folder is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "job").mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="run-") as scratch, ExitStack() as stack:
        lan = stack.enter_context(network.lan(job.hosts, job.name)) if job.network else None
        holder = stack.enter_context(socket.socket())
        places = places_of(job, folder / "job", Path(scratch), _port(holder, keep=job.occupied), lan)
        group = str(stack.enter_context(memory_group(number_of(job.name)))) if job.kernel_log else ""
        marks = Path(scratch) / "mark"
        _furnish(job, Path(scratch), places, marks, group)
        run = Running(job, places, marks, lan)
        run.watch()
        outcome = run.outcome()
        _keep_kernel_log(job, places, outcome, group)
        shown = {str(place.workplace): "/srv/train" for place in places} | {sys.prefix: "/opt/venv"}
        return replace(outcome, paths={**shown, str(folder / "job"): "/srv/runs/current"})


def places_of(job: Job, logs: Path, scratch: Path, port: int, lan: network.Lan | None) -> list[Place]:
    """Where each node lives, in network namespaces where there are some."""
    places = []
    for node, host in enumerate(job.hosts[: job.nodes]):
        own = logs / host if job.nodes > 1 else logs
        place = Place(node, own, scratch / f"node-{node}", job.masters.get(node, "127.0.0.1"), port)
        if lan:
            place = replace(place, interface=lan.interface, prefix=tuple(lan.wrap(node)), address=lan.address(node))
            place = replace(place, master=lan.address(0))
        places.append(place)
    return places


def number_of(name: str) -> int:
    """A number that follows from a name, as a scheduler's number of a job."""
    return 40000 + sum(ord(letter) * (position + 7) for position, letter in enumerate(name)) % 9973


def _port(holder: socket.socket, *, keep: bool) -> int:
    holder.bind(("", 0))
    port = int(holder.getsockname()[1])
    if keep:
        holder.listen()
    else:
        holder.close()
    return port


def _furnish(job: Job, scratch: Path, places: list[Place], marks: Path, group: str) -> None:
    """Fills every node's workplace: scripts, settings, packages, checkpoints."""
    for place in places:
        furnish(job.recipe, place.workplace)
        told = {**job.settings, **job.node_settings.get(place.node, {}), "marker": str(marks)}
        told["callbacks"] = [_with_group(asdict(planned), group) for planned in job.callbacks]
        (place.workplace / "config.json").write_text(json.dumps(told), encoding="utf-8")
        _add_packages(job, place)
    prepare(job, scratch, [place.workplace for place in places])


def _with_group(planned: dict[str, object], group: str) -> dict[str, object]:
    return {**planned, "detail": {**dict(planned["detail"]), "group": group}}  # type: ignore[call-overload]


def _add_packages(job: Job, place: Place) -> None:
    names = job.settings.get("packages", ())
    how = job.packages.get(place.node, PACKAGE_VERSION)
    if how != "removed":
        for name in names:  # type: ignore[attr-defined]
            version = "1.3.2" if how == "older" else how
            add_package(place.workplace, name, version, complete=how != "older")


def _keep_kernel_log(job: Job, places: list[Place], outcome: Outcome, group: str) -> None:
    """What the kernel wrote, as `kernel.log` of the nodes that keep it."""
    pids = {int(mark["pid"]) for mark in outcome.marks}
    for node in job.kernel_log:
        lines = kernel_messages(outcome.began, pids, group.removeprefix("/sys/fs/cgroup/memory"))
        text = "".join(f"{line}\n" for line in lines)
        (places[node].logs / "kernel.log").write_text(text, encoding="utf-8")
