"""Asks tools about jobs, in a few processes, and keeps what they answered so that nobody is asked twice.

The cache is keyed by tool, its fingerprint, and the bytes of the job and of its healthy twins.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import zstandard
from pydantic import TypeAdapter, ValidationError

from assistant.events import miner
from evals.jobset import Job, digest_of, digest_of_files, unpacked
from evals.memory import fresh_peak
from evals.prediction import Context, Prediction, Tool
from evals.scorers import grouping, labelled, records
from evals.scorers.grouping import Events, events_of

CACHE = Path(__file__).parent / ".cache"
PROCESSES = 2
SECONDS = 600.0

T = TypeVar("T")
_PREDICTION = TypeAdapter(Prediction)
_EVENTS = TypeAdapter(Events)


@dataclass(frozen=True, slots=True)
class Answers:
    """What all tools said about one job, in the order of the tools, and the events that they are scored on."""

    job: Job
    events: Events
    answers: tuple[Prediction, ...]


def answers_of(
    jobs: Sequence[Job],
    tools: Sequence[Tool],
    *,
    cache: Path = CACHE,
    processes: int = PROCESSES,
    told: Callable[[int, int], None] | None = None,
) -> list[Answers]:
    """The answers to all jobs, in the order of the jobs. `told` hears how many of how many are done."""
    ordered = sorted(range(len(jobs)), key=lambda at: (jobs[at].twins, at))
    done: dict[int, Answers] = {}
    for at, answers in _worked(jobs, ordered, tools, cache, processes):
        done[at] = answers
        if told is not None:
            told(len(done), len(jobs))
    return [done[at] for at in range(len(jobs))]


def _worked(
    jobs: Sequence[Job], ordered: Sequence[int], tools: Sequence[Tool], cache: Path, processes: int
) -> Iterator[tuple[int, Answers]]:
    with TemporaryDirectory(prefix="twins-") as twins:
        asking = partial(ask, tools=tuple(tools), cache=cache, twins=Path(twins))
        if processes <= 1 or len(jobs) <= 1:
            yield from ((at, asking(jobs[at])) for at in ordered)
        else:
            yield from _in_processes(asking, {at: jobs[at] for at in ordered}, processes)


def _in_processes(
    asking: Callable[[Job], Answers], jobs: Mapping[int, Job], processes: int
) -> Iterator[tuple[int, Answers]]:
    # Spawned, not forked: Polars has threads of its own, whose locks a fork would leave taken.
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(asking, job): at for at, job in jobs.items()}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def ask(job: Job, *, tools: tuple[Tool, ...], cache: Path, twins: Path) -> Answers:
    """Ask every tool about one job, those asked before from the cache. Below `twins` healthy runs are unpacked once
    for all jobs, so that a tool may keep what it made of them by their paths."""
    known = _Known(cache, job)
    with ExitStack() as stack:
        folders = _Folders(job, stack, twins)
        events = known.get(_EVENTS, "events", known.of_events) or known.put(
            _EVENTS, "events", known.of_events, events_of(folders.job, job.truth)
        )
        answers = [
            known.get(_PREDICTION, tool.name, tool.fingerprint)
            or known.put(_PREDICTION, tool.name, tool.fingerprint, _asked(tool, folders))
            for tool in tools
        ]
    return Answers(job, events, tuple(answers))


class _Folders:
    """The unpacked job and its twins, unpacked when first needed."""

    def __init__(self, job: Job, stack: ExitStack, shared: Path) -> None:
        self._job, self._stack, self._shared = job, stack, shared

    @cached_property
    def job(self) -> Path:
        return self._stack.enter_context(unpacked(self._job.path))

    @cached_property
    def twins(self) -> tuple[Path, ...]:
        return tuple(path if path.is_dir() else shared_copy(path, self._shared) for path in self._job.twins)


def shared_copy(archive: Path, shared: Path) -> Path:
    """The archive's job folder below `shared`; of several processes that unpack it at once the first one wins."""
    target = shared / f"{archive.name}-{hashlib.sha256(str(archive).encode()).hexdigest()[:12]}"
    if not target.exists():
        with unpacked(archive) as folder, TemporaryDirectory(dir=shared) as part:
            whole = shutil.copytree(folder, Path(part) / "job")
            with suppress(OSError):
                whole.rename(target)
    return target


def _asked(tool: Tool, folders: _Folders) -> Prediction:
    with TemporaryDirectory(prefix="asked-") as scratch:
        fresh_peak()
        try:
            return tool.predict(folders.job, folders.twins, Context(Path(scratch), SECONDS))
        except Exception as error:
            return Prediction(error=f"{type(error).__name__}: {error}"[:500])


class _Known:
    """The part of the cache that is about one job."""

    def __init__(self, folder: Path, job: Job) -> None:
        self._folder = folder
        self._bytes = ",".join([digest_of(job.path), *map(digest_of, job.twins)])
        labels = job.truth.model_dump_json(include={"labels"})
        self.of_events = f"{_grouping_code()}:{labels}"

    def _file(self, name: str, key: str) -> Path:
        digest = hashlib.sha256(f"{name}\0{key}\0{self._bytes}\0{sys.version}".encode()).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:40]}.json.zst"

    def get(self, kind: TypeAdapter[T], name: str, key: str) -> T | None:
        """What was kept, None where nothing was, or what was kept is broken."""
        try:
            return kind.validate_json(zstandard.decompress(self._file(name, key).read_bytes()))
        except (OSError, zstandard.ZstdError, ValidationError):
            return None

    def put(self, kind: TypeAdapter[T], name: str, key: str, value: T) -> T:
        """Keep a value; a reader never sees half of one. Errors are not kept: the next run asks again."""
        if isinstance(value, Prediction) and value.error is not None:
            return value
        file = self._file(name, key)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(zstandard.compress(kind.dump_json(value)))
        part.replace(file)
        return value


@lru_cache(maxsize=1)
def _grouping_code() -> str:
    modules = [Path(module.__file__ or "") for module in (grouping, labelled, records)]
    events = Path(miner.__file__ or "").parent
    return digest_of_files([*modules, *(events / f"{name}.py" for name in ("records", "kinds", "masks", "miner"))])
