"""Does a folder hold one job or several? Only clear names split: job ids, numbered runs, torchrun's run folders.

Folders per node, rank, worker, attempt or host never split, nor do several launchers of one torchrun run id.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assistant.errors import SeveralJobs, UsageError
from assistant.intake.models import Discovery, Source
from assistant.intake.names import natural_key

ONLY_JOB = "job"
"""The name of the job where nothing splits."""
LISTED = 20
_JOB_ID = re.compile(
    r"(?:.*[-_.](?=[a-z]+[-_=.]?\d{4}))?(?P<kind>slurm|job(?:[-_]?id)?|pbs)[-_=.]?(?P<id>[1-9]\d*|0)(?:[-_.].*)?$", re.I
)
"""Behind another word only long numbers are job ids: `train-job-0` may be the first pod of one job."""
_PBS_OUTPUT = re.compile(r".+\.[oe](?P<id>\d{3,})$")
_RUN = re.compile(r"(?P<id>(?:run|exp|experiment|trial)[-_]?\d{1,6})(?:\.[A-Za-z0-9.]+)?$", re.I)
_TORCHRUN = re.compile(r"(?P<id>.+)_[a-z0-9_]{8}$")
_ATTEMPT = re.compile(r"attempt_\d+$")
_BASELINE = re.compile(r"(?:baselines?|healthy|reference)(?:[-_.](?:runs?|jobs?|logs?|[0-9]+))*$", re.I)
_SEPARATOR = re.compile(r"[/!]")


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a path component says about the job it belongs to."""

    job: str
    weak: bool = False
    """Counts only where every neighbour has such a mark too."""


Folder = tuple[str, ...]


def find_jobs(discovery: Discovery) -> dict[str, tuple[Source, ...]]:
    """The sources of each job. Those that belong to none in particular (a node's kernel log) are given to every one."""
    paths = {source: tuple(_SEPARATOR.split(source.group)) for source in discovery.sources}
    if (apart := _baseline_apart(paths)) is not None:
        return apart
    marks = _marks(paths.values())
    splitting = _splitting(paths.values(), marks)
    owners = {source: _owner(path, marks, splitting) for source, path in paths.items()}
    names = sorted({owner for owner in owners.values() if owner}, key=natural_key)
    if len(names) < 2:
        return {ONLY_JOB: discovery.sources}
    return {name: tuple(one for one in discovery.sources if owners[one] in (name, None)) for name in names}


def select_job(discovery: Discovery, name: str | None = None) -> Discovery:
    """The part of a discovery that belongs to one job, numbered anew; `8812` stands for `job-8812` too.

    Raises SeveralJobs where one must be chosen and UsageError where there is none of that name.
    """
    jobs = find_jobs(discovery)
    listed = ", ".join(list(jobs)[:LISTED]) + (f" and {len(jobs) - LISTED} more" if len(jobs) > LISTED else "")
    if name is None and len(jobs) == 1:
        return discovery
    if name is None:
        hint = f"choose one, as in --job {next(iter(jobs))}"
        raise SeveralJobs(f"{discovery.root} holds {len(jobs)} jobs: {listed}", hint=hint)
    chosen = [job for job in jobs if name in (job, job.partition("-")[2])]
    if len(chosen) != 1:
        raise UsageError(f"no job {name!r} in {discovery.root}", hint=f"there is: {listed}")
    return replace(discovery, sources=tuple(replace(one, id=index) for index, one in enumerate(jobs[chosen[0]])))


def _baseline_apart(paths: dict[Source, Folder]) -> dict[str, tuple[Source, ...]] | None:
    """A top folder called baseline holds other, healthy runs and is no part of the job beside it."""
    healthy = {source for source, path in paths.items() if len(path) > 1 and _BASELINE.match(path[0])}
    if not healthy or len(healthy) == len(paths):
        return None
    return {
        ONLY_JOB: tuple(source for source in paths if source not in healthy),
        "baseline": tuple(source for source in paths if source in healthy),
    }


def _marks(paths: Iterable[Folder]) -> dict[Folder, _Mark | None]:
    """The mark of every folder and file, by its full path."""
    below: dict[Folder, bool] = defaultdict(bool)
    for path in paths:
        for depth in range(1, len(path) + 1):
            below[path[:depth]] |= depth < len(path) and bool(_ATTEMPT.match(path[depth]))
    return {path: _mark(path[-1], launches) for path, launches in below.items()}


def _mark(component: str, launches: bool) -> _Mark | None:
    if launches:
        match = _TORCHRUN.match(component)
        return _Mark(match["id"]) if match else None
    if match := _JOB_ID.match(component) or _PBS_OUTPUT.match(component):
        kind = match.groupdict().get("kind") or "job"
        return _Mark(f"{'job' if kind.lower().startswith('job') else kind.lower()}-{match['id']}")
    if match := _RUN.match(component):
        return _Mark(match["id"], weak=True)
    return None


def _splitting(paths: Iterable[Folder], marks: dict[Folder, _Mark | None]) -> frozenset[str]:
    """The jobs that stand beside another in one folder."""
    children: dict[Folder, set[Folder]] = defaultdict(set)
    for path in paths:
        for depth in range(1, len(path) + 1):
            children[path[: depth - 1]].add(path[:depth])
    found: set[str] = set()
    for beside in children.values():
        found |= _beside(_counted([marks[child] for child in beside]))
    return frozenset(found)


def _counted(marks: Sequence[_Mark | None]) -> list[_Mark]:
    complete = all(mark and mark.weak for mark in marks)
    return [mark for mark in marks if mark and (complete or not mark.weak)]


def _beside(marks: Sequence[_Mark]) -> set[str]:
    jobs = {mark.job for mark in marks}
    return jobs if len(jobs) > 1 else set()


def _owner(path: Folder, marks: dict[Folder, _Mark | None], splitting: frozenset[str]) -> str | None:
    for depth in range(1, len(path) + 1):
        mark = marks[path[:depth]]
        if mark and mark.job in splitting:
            return mark.job
    return None
